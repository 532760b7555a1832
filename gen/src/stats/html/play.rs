//! Games, scores, and how they go together.

use nnue_format::record::{Outcome, Reason};
use pages::{Axes, Hue, PlotError, Series, bar, figure, grouped, plot, plots_of, strings, table};

use super::parts::{histogram_figure, result_points};
use crate::stats::counts::{Counts, FARTHEST_SCORE, Results};
use crate::stats::text::{estimate_text, percent};
use crate::stats::wdl::{WdlFit, by_score};

/// Fewer positions than this make no point in a plot of results.
pub(super) const FEWEST: u64 = 20;

/// Width of the points of results by score, in centipawns.
const POINT: i32 = 50;

/// Plots of results by score end here.
const PLOT_TO: i32 = 1000;

pub(super) fn games(counts: &Counts) -> Result<String, PlotError> {
    let most = counts.ends.as_flattened().iter().copied().max().unwrap_or(0).max(1) as f64;
    let mut rows = vec![strings(["ended by", "draw", "", "Red loses", "", "Black loses", ""])];
    let hues = [Hue::Grey, Hue::Red, Hue::Blue];
    for (i, reason) in Reason::ALL.iter().enumerate() {
        let found: [u64; 3] = [0, 1, 2].map(|outcome: usize| counts.ends[outcome][i]);
        if found.iter().any(|&n| n > 0) {
            let cells = found.iter().zip(hues).flat_map(|(&n, hue)| [grouped(n), bar(n as f64 / most, hue)]);
            rows.push([reason.word().replace('_', " ")].into_iter().chain(cells).collect());
        }
    }
    let sums =
        Outcome::ALL.iter().map(|outcome| counts.ends[usize::from(outcome.code())].iter().sum::<u64>());
    let cells = sums.flat_map(|n| [grouped(n), percent(n, counts.games)]);
    rows.push(["all".to_owned()].into_iter().chain(cells).collect());
    let figures = [
        histogram_figure("Length of games", "plies, opening included", "games", &counts.lengths, Hue::Blue)?,
        histogram_figure("Length of openings", "plies without scores", "games", &counts.openings, Hue::Blue)?,
        histogram_figure(
            "Where in the game",
            "ply of the position",
            "positions",
            &counts.position_plies,
            Hue::Blue,
        )?,
        histogram_figure(
            "Plies without capture",
            "plies, as the natural limit counts",
            "positions",
            &counts.no_capture,
            Hue::Blue,
        )?,
    ];
    Ok(table(&rows) + &plots_of(&figures))
}

pub(super) fn scores(counts: &Counts) -> Result<String, PlotError> {
    let figures = [
        histogram_figure(
            "Scores",
            "score, side to move (centipawns)",
            "undecided positions",
            &counts.scores,
            Hue::Blue,
        )?,
        histogram_figure("Mates", "plies to the mate", "mate scores", &counts.mate_plies, Hue::Blue)?,
    ];
    let mut rows = vec![strings(["score of the side to move", "positions", "won", "drawn", "lost"])];
    let named = [
        ("mates", counts.mates[0]),
        ("is mated", counts.mates[1]),
        ("wins by rule", counts.rule_wins[0]),
        ("loses by rule", counts.rule_wins[1]),
    ];
    for (name, found) in named {
        let all: u64 = found.iter().sum();
        let shares = found.map(|n| percent(n, all));
        rows.push([name.to_owned(), grouped(all)].into_iter().chain(shares).collect());
    }
    let note = "<p class=\"note\">Positions whose score decides the game, and how their games ended.</p>\n";
    Ok(plots_of(&figures) + &table(&rows) + note)
}

pub(super) fn win_model(counts: &Counts, fit: &WdlFit) -> Result<String, PlotError> {
    let rows: Vec<(f64, Results)> = by_score(counts, POINT)
        .into_iter()
        .filter(|(from, to, _)| *from >= -PLOT_TO && *to <= PLOT_TO)
        .map(|(from, to, found)| (f64::from(from + to) / 2.0, found))
        .collect();
    let hues = [Hue::Blue, Hue::Grey, Hue::Red];
    let mut series: Vec<Series> = result_points(&rows, FEWEST)
        .into_iter()
        .zip(hues)
        .map(|(points, hue)| Series { hue, dots: true, points })
        .collect();
    let grid: Vec<f64> = (-100..=100).map(|i| f64::from(i * PLOT_TO / 100)).collect();
    if let Some(model) = fit.model() {
        for (i, hue) in hues.into_iter().enumerate() {
            let points = grid.iter().map(|&score| (score, 100.0 * model.chances(score)[i])).collect();
            series.push(Series { hue, dots: false, points });
        }
    }
    let x = "score, side to move (centipawns)";
    let wdl = plot(
        Axes { title: "Results by score", x, y: "share of positions (%)" },
        &[],
        Hue::Blue,
        &series,
        Some(100.0),
    )?;
    let points =
        rows.iter().filter(|(_, found)| found.iter().sum::<u64>() >= FEWEST).map(|(score, found)| {
            let all = found.iter().sum::<u64>() as f64;
            (*score, (found[0] as f64 + found[1] as f64 / 2.0) / all)
        });
    let mut expected = vec![Series { hue: Hue::Green, dots: true, points: points.collect() }];
    if let Some(scale) = fit.scale {
        let points = grid.iter().map(|&score| (score, 1.0 / (1.0 + (-score / scale.value).exp()))).collect();
        expected.push(Series { hue: Hue::Green, dots: false, points });
    }
    let result = plot(
        Axes { title: "Expected result by score", x, y: "win 1, draw ½" },
        &[],
        Hue::Blue,
        &expected,
        Some(1.0),
    )?;
    let key = [(Hue::Blue, "won"), (Hue::Grey, "drawn"), (Hue::Red, "lost")];
    let figures = [
        figure("Results by score", "points: games; lines: the fit", &key, &wdl),
        figure("Expected result by score", "points: games; line: the sigmoid", &[], &result),
    ];
    let scale = fit.scale.map_or(String::new(), |scale| {
        format!("<p>For <code>chuhe-train</code>: <code>[loss] score_scale = {:.0}</code></p>\n", scale.value)
    });
    let rows = [
        strings(["fit, centipawns", "value ± standard error"]),
        vec!["a: wins every second game".to_owned(), estimate_text(fit.half_won)],
        vec!["b: how fast chances rise".to_owned(), estimate_text(fit.spread)],
        vec!["scale of the sigmoid".to_owned(), estimate_text(fit.scale)],
    ];
    let note = format!(
        "<p class=\"note\">P(win) = 1 / (1 + exp((a − score) / b)), P(loss) = 1 / (1 + exp((a + score) / b)), the rest \
         draws; expected result = 1 / (1 + exp(−score / scale)). Maximum likelihood over {} positions within \
         ±{FARTHEST_SCORE}; errors by leaving out a sixteenth of the games at a time.</p>\n",
        grouped(fit.positions)
    );
    Ok(plots_of(&figures) + &table(&rows) + &scale + &note)
}
