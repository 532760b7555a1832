//! The parts of the page that judge the net: by records, and by matches.

use crate::report::buckets::Bucket;
use crate::report::{DataView, MatchRow};
use pages::{
    Axes, Hue, PlotError, Series, Span, curves, decimals, escape, figure, grouped, plot, plots_of, strings,
    table,
};

/// Fewer positions than this make no point in a plot.
const FEWEST: u64 = 20;

pub(super) fn calibration(data: &DataView) -> Result<String, PlotError> {
    if data.positions == 0 {
        return Ok("<p>No position of these files is a validation position of this run.</p>\n".to_owned());
    }
    let buckets = &data.buckets;
    let figures = [
        chances(&buckets.by_prediction)?,
        scores(&buckets.by_score)?,
        losses("Loss by pieces", "pieces on the board, kings included", &buckets.by_pieces)?,
        losses("Loss by output stack", "stack", &buckets.by_stack)?,
    ];
    let loss = |value: Option<f64>| decimals(value, 6);
    let note = format!(
        "<p class=\"note\">{} validation positions of {}: loss {}, best fit of material alone {}; predicted chances are \
         off by {} in the mean. Only points of {FEWEST} positions or more are drawn.</p>\n",
        grouped(data.positions as u64),
        escape(&data.files.join(", ")),
        loss(data.loss),
        loss(data.material_loss),
        data.calibration_error.map_or("–".to_owned(), |error| format!("{:.2} %", 100.0 * error)),
    );
    let tables = [
        ("Predicted winning chance", &buckets.by_prediction),
        ("Score in the records", &buckets.by_score),
        ("Pieces", &buckets.by_pieces),
        ("Output stack", &buckets.by_stack),
    ];
    let tables: String = tables.iter().map(|(name, buckets)| numbers(name, buckets)).collect();
    Ok(note + &plots_of(&figures) + &format!("<details><summary>All figures</summary>\n{tables}</details>\n"))
}

fn points(buckets: &[Bucket], x: fn(&Bucket) -> f64, y: fn(&Bucket) -> f64) -> Vec<(f64, f64)> {
    buckets.iter().filter(|bucket| bucket.positions >= FEWEST).map(|bucket| (x(bucket), y(bucket))).collect()
}

/// Predicted chances against what came of them.
fn chances(buckets: &[Bucket]) -> Result<String, PlotError> {
    let diagonal = Series { hue: Hue::Grey, dots: false, points: vec![(0.0, 0.0), (1.0, 1.0)] };
    let series = |hue, y: fn(&Bucket) -> f64| Series {
        hue,
        dots: true,
        points: points(buckets, |bucket| bucket.prediction, y),
    };
    let lines =
        [diagonal, series(Hue::Blue, |bucket| bucket.outcome), series(Hue::Red, |bucket| bucket.target)];
    let axes = Axes { title: "Predicted winning chances", x: "predicted", y: "mean of what came" };
    let svg = plot(axes, &[], Hue::Blue, &lines, Some(1.0))?;
    let key = [(Hue::Blue, "outcome"), (Hue::Red, "target"), (Hue::Grey, "as predicted")];
    Ok(figure("Predicted winning chances", "the nearer to the line, the better", &key, &svg))
}

/// What the net says of positions by their score.
fn scores(buckets: &[Bucket]) -> Result<String, PlotError> {
    let at = |bucket: &Bucket| bucket.score;
    let line = |hue, dots, y: fn(&Bucket) -> f64| Series { hue, dots, points: points(buckets, at, y) };
    let lines = [line(Hue::Grey, false, |b| b.score), line(Hue::Blue, true, |b| b.evaluation)];
    let axes = Axes {
        title: "Score and evaluation",
        x: "score in the records (centipawns)",
        y: "mean evaluation (cp)",
    };
    let svg = curves(axes, &lines, Span::Fit)?;
    let key = [(Hue::Blue, "the net"), (Hue::Grey, "the score itself")];
    Ok(figure("Score and evaluation", "the net is drawn to the outcome as well, by λ", &key, &svg))
}

fn losses(heading: &str, x: &str, buckets: &[Bucket]) -> Result<String, PlotError> {
    let wide = if heading.contains("pieces") { 2.0 } else { 0.5 };
    let bars: Vec<(f64, f64, f64)> = buckets
        .iter()
        .filter(|bucket| bucket.positions >= FEWEST)
        .map(|bucket| (bucket.at - 0.9 * wide, bucket.at + 0.9 * wide, bucket.loss))
        .collect();
    let svg = plot(Axes { title: heading, x, y: "mean loss" }, &bars, Hue::Blue, &[], None)?;
    Ok(figure(heading, "λ as at the end of the run", &[], &svg))
}

fn numbers(name: &str, buckets: &[Bucket]) -> String {
    let mut rows =
        vec![strings([name, "positions", "loss", "predicted", "target", "outcome", "score", "evaluation"])];
    rows.extend(buckets.iter().map(|bucket| {
        vec![
            escape(&bucket.name),
            grouped(bucket.positions),
            format!("{:.6}", bucket.loss),
            format!("{:.4}", bucket.prediction),
            format!("{:.4}", bucket.target),
            format!("{:.4}", bucket.outcome),
            format!("{:.1}", bucket.score),
            format!("{:.1}", bucket.evaluation),
        ]
    }));
    table(&rows)
}

pub(super) fn matches(rows: &[MatchRow]) -> String {
    let mut cells =
        vec![strings(["player", "against", "games", "won", "drawn", "lost", "Elo", "±", "nElo", "LOS"])];
    cells.extend(rows.iter().map(|row| {
        let counts = row.trinomial.map(|[lost, drawn, won]| [won, drawn, lost]);
        let count = |i: usize| counts.map_or("–".to_owned(), |counts| grouped(counts[i]));
        vec![
            escape(&row.players[0]),
            escape(&row.players[1]),
            grouped(row.games),
            count(0),
            count(1),
            count(2),
            row.elo.map_or("–".to_owned(), |elo| format!("{elo:+.1}")),
            decimals(row.elo_error, 1),
            decimals(row.nelo, 1),
            row.los.map_or("–".to_owned(), |los| format!("{:.1} %", 100.0 * los)),
        ]
    }));
    let note = "Errors are half widths of 95 % intervals. Read from";
    let mut files: Vec<&str> = rows.iter().map(|row| row.file.as_str()).collect();
    files.dedup();
    table(&cells) + &format!("<p class=\"note\">{note} {}.</p>\n", escape(&files.join(", ")))
}
