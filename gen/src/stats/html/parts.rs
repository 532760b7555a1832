//! Pieces that the page is put together from.

use crate::stats::counts::Results;
use crate::stats::histogram::Histogram;
use crate::stats::plots::{Axes, Hue, PlotError, plot};
use crate::stats::text::percent;

/// Text for a page.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// `1,234,567`
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub(super) fn decimals(value: Option<f64>, places: usize) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.places$}"))
}

/// A table; the first row has the headings. Cells are HTML.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let mut out = "<div class=\"table\"><table>\n".to_owned();
    for (i, row) in rows.iter().enumerate() {
        let tag = if i == 0 { "th" } else { "td" };
        let cells: String = row
            .iter()
            .map(|cell| {
                let class = if cell.starts_with("<div class=\"bar\"") { " class=\"wide\"" } else { "" };
                format!("<{tag}{class}>{cell}</{tag}>")
            })
            .collect();
        out += &format!("<tr>{cells}</tr>\n");
    }
    out + "</table></div>\n"
}

pub(super) fn strings<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// A bar for a table, of a share from 0 to 1.
pub(super) fn bar(share: f64, hue: Hue) -> String {
    let width = (share * 100.0).clamp(0.0, 100.0);
    format!("<div class=\"bar\" style=\"width:{width:.1}%;background:var({})\"></div>", hue.variable())
}

/// A plot with its heading, a note and the key to its colours.
pub(super) fn figure(heading: &str, note: &str, key: &[(Hue, &str)], svg: &str) -> String {
    let key: String = key
        .iter()
        .map(|(hue, name)| {
            format!("<span class=\"key\" style=\"background:var({})\"></span>{name}", hue.variable())
        })
        .collect();
    format!("<figure>\n<figcaption>{heading}<small>{note}{key}</small></figcaption>\n{svg}</figure>\n")
}

pub(super) fn plots(figures: &[String]) -> String {
    format!("<div class=\"plots\">\n{}</div>\n", figures.concat())
}

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
    fn numbers_and_text() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
        assert_eq!(decimals(None, 2), "–");
    }

    #[test]
    fn headings_and_bars_of_histograms() {
        let mut histogram = Histogram::new(0, 1, 10);
        [2, 2, 5, 50].iter().for_each(|&value| histogram.add(value));
        let bars = bars_of(&histogram);
        assert_eq!(bars, [(1.5, 2.5, 50.0), (2.5, 3.5, 0.0), (3.5, 4.5, 0.0), (4.5, 5.5, 25.0)]);
    }
}
