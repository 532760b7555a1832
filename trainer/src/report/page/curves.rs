//! The curves of runs, laid over each other.

use crate::report::RunView;
use crate::watch::Row;
use pages::{Axes, Hue, PlotError, Series, Span, curves, escape, figure, plots_of};

/// Points of a line; more would not be seen.
const POINTS: usize = 400;

/// What one plot shows.
struct Curve {
    heading: &'static str,
    note: &'static str,
    y: &'static str,
    span: Span,
    value: fn(&Row) -> Option<f64>,
}

const CURVES: [Curve; 8] = [
    Curve {
        heading: "Training loss",
        note: "mean of the steps since the row before",
        y: "loss",
        span: Span::Fit,
        value: |row| Some(row.loss),
    },
    Curve {
        heading: "Validation loss",
        note: "λ as at the end of the run",
        y: "loss",
        span: Span::Fit,
        value: |row| row.validation_loss,
    },
    Curve {
        heading: "Learning rate",
        note: "in equal factors",
        y: "learning rate",
        span: Span::Log,
        value: |row| Some(row.learning_rate),
    },
    Curve {
        heading: "λ",
        note: "weight of the score against the outcome",
        y: "λ",
        span: Span::FromZero,
        value: |row| Some(row.lambda),
    },
    Curve {
        heading: "Speed",
        note: "loading included",
        y: "positions a second",
        span: Span::FromZero,
        value: |row| row.positions_per_second,
    },
    Curve {
        heading: "Waiting",
        note: "share of the time in which no batch was ready",
        y: "waiting (%)",
        span: Span::FromZero,
        value: |row| row.waiting.map(|share| 100.0 * share),
    },
    Curve {
        heading: "Norm of the weights",
        note: "all weights, factors added",
        y: "norm",
        span: Span::Fit,
        value: |row| row.weight_norm,
    },
    Curve {
        heading: "Norm of the gradient",
        note: "of the steps in which it was looked at",
        y: "norm",
        span: Span::Log,
        value: |row| row.gradient_norm,
    },
];

/// All curves. Several runs are drawn over positions, since their steps may be of different sizes.
pub(super) fn all(runs: &[RunView]) -> Result<String, PlotError> {
    if runs.iter().all(|run| run.rows.is_empty()) {
        return Ok("<p>No row has been written yet.</p>\n".to_owned());
    }
    let names: Vec<String> = runs.iter().map(|run| escape(&run.name)).collect();
    let several = runs.len() > 1;
    let mut key: Vec<(Hue, &str)> = Vec::new();
    if several {
        key.extend(Hue::APART.into_iter().cycle().zip(names.iter().map(String::as_str)));
    }
    let x = if several { "positions (millions)" } else { "step" };
    let mut figures = Vec::new();
    for curve in &CURVES {
        let lines: Vec<Series> = runs
            .iter()
            .zip(Hue::APART.into_iter().cycle())
            .map(|(run, hue)| Series { hue, dots: false, points: points(&run.rows, curve, several) })
            .collect();
        if lines.iter().all(|line| line.points.is_empty()) {
            continue;
        }
        let svg = curves(Axes { title: curve.heading, x, y: curve.y }, &lines, curve.span)?;
        figures.push(figure(curve.heading, curve.note, &key, &svg));
    }
    Ok(plots_of(&figures))
}

/// The points of one line: means of as many neighbours as make few enough of them.
fn points(rows: &[Row], curve: &Curve, by_positions: bool) -> Vec<(f64, f64)> {
    let x = |row: &Row| if by_positions { row.positions as f64 / 1e6 } else { row.step as f64 };
    let all: Vec<(f64, f64)> = rows
        .iter()
        .filter_map(|row| Some((x(row), (curve.value)(row)?)))
        .filter(|p| p.1.is_finite())
        .collect();
    let mean = |part: &[(f64, f64)]| {
        let count = part.len() as f64;
        (part.iter().map(|p| p.0).sum::<f64>() / count, part.iter().map(|p| p.1).sum::<f64>() / count)
    };
    all.chunks(all.len().div_ceil(POINTS).max(1)).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_few_points_and_the_same_mean() {
        let rows: Vec<Row> =
            (1..=1999).map(|step| Row { step, loss: step as f64, ..Row::default() }).collect();
        let points = points(&rows, &CURVES[0], false);
        assert!((POINTS / 2..=POINTS).contains(&points.len()), "{}", points.len());
        assert!(points.iter().all(|(x, y)| x == y));
        assert!(super::points(&rows, &CURVES[1], false).is_empty());
    }
}
