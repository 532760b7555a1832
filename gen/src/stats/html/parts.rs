//! Pieces that the page is put together from.

use pages::{Axes, Hue, PlotError, decimals, figure, plot};

use crate::stats::counts::Results;
use crate::stats::histogram::Histogram;
use crate::stats::text::percent;

/// The bins of a histogram as bars in percent, from the first to the last that is not empty.
pub(super) fn bars_of(histogram: &Histogram) -> Vec<(f64, f64, f64)> {
    let all = histogram.count().max(1) as f64;
    let bins: Vec<(i64, u64)> = histogram.bins().collect();
    let first = bins.iter().position(|bin| bin.1 > 0).unwrap_or(0);
    let last = bins.iter().rposition(|bin| bin.1 > 0).map_or(0, |last| last + 1);
    // Bins of one number are centred on it.
    let shift = if histogram.width() == 1 { 0.5 } else { 0.0 };
    bins.get(first..last)
        .unwrap_or_default()
        .iter()
        .map(|&(low, count)| {
            let from = low as f64 - shift;
            (from, from + histogram.width() as f64, 100.0 * count as f64 / all)
        })
        .collect()
}

pub(super) fn histogram_figure(
    heading: &str,
    x: &str,
    of: &str,
    histogram: &Histogram,
    hue: Hue,
) -> Result<String, PlotError> {
    let y = format!("share of {of} (%)");
    let svg = plot(Axes { title: heading, x, y: &y }, &bars_of(histogram), hue, &[], None)?;
    let (min, max) = histogram.range().unwrap_or_default();
    let median = histogram.quantile(0.5).unwrap_or_default();
    let mut note = format!("mean {}, median {median}, {min} to {max}", decimals(histogram.mean(), 1));
    let (below, above) = histogram.outside();
    if below + above > 0 {
        note += &format!("; outside the plot {}", percent(below + above, histogram.count()));
    }
    Ok(figure(heading, &note, &[], &svg))
}

/// Shares of wins, draws and losses as points; only where there are enough to mean something.
pub(super) fn result_points(rows: &[(f64, Results)], fewest: u64) -> [Vec<(f64, f64)>; 3] {
    [0, 1, 2].map(|i| {
        let enough = rows.iter().filter(|(_, found)| found.iter().sum::<u64>() >= fewest);
        enough.map(|(x, found)| (*x, 100.0 * found[i] as f64 / found.iter().sum::<u64>() as f64)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_bars_of_histograms() {
        let mut histogram = Histogram::new(0, 1, 10);
        [2, 2, 5, 50].iter().for_each(|&value| histogram.add(value));
        let bars = bars_of(&histogram);
        assert_eq!(bars, [(1.5, 2.5, 50.0), (2.5, 3.5, 0.0), (3.5, 4.5, 0.0), (4.5, 5.5, 25.0)]);
    }
}
