//! Examinations as a table: what was looked at, then one column for each evaluation.

use std::fmt::Write;

use super::Examination;

/// Width of the column of names, and of each evaluation.
const NAMES: usize = 46;
const COLUMN: usize = 22;

/// The table; the columns have `titles`.
pub fn table(titles: &[String], columns: &[Examination]) -> String {
    let mut out = String::new();
    let mut row = |name: &str, cells: Vec<String>| {
        let _ = write!(out, "{name:<NAMES$}");
        for cell in cells {
            let _ = write!(out, "{cell:>COLUMN$}");
        }
        out.push('\n');
    };
    let all = |cell: fn(&Examination) -> String| columns.iter().map(cell).collect::<Vec<_>>();
    row("", titles.iter().map(|title| title.chars().take(COLUMN - 1).collect()).collect());
    row("symmetry: positions", all(|c| c.symmetry.positions.to_string()));
    row("  changed by exchange of colours (0 is right)", all(|c| c.symmetry.colour_differences.to_string()));
    let mirrored = all(|c| format!("{:.1}, {}", c.symmetry.mirror_mean, c.symmetry.mirror_worst));
    row("  change by left and right: mean, worst, cp", mirrored);
    row("endgames: won, drawn", all(|c| format!("{}, {}", c.endgames.won, c.endgames.drawn)));
    row("  told apart without search (0.5 … 1)", all(|c| format!("{:.3}", c.endgames.told_apart)));
    row("  told apart by a search", all(|c| format!("{:.3}", c.endgames.told_apart_by_search)));
    row("  mean score of the won, cp", all(|c| format!("{:.0}", c.endgames.won_score)));
    row("  mean distance of the drawn from 0, cp", all(|c| format!("{:.0}", c.endgames.drawn_score)));
    row(
        "  won ones that it wins in play",
        all(|c| format!("{} of {}", c.endgames.converted, c.endgames.won)),
    );
    row(
        "  drawn ones that it loses in play",
        all(|c| format!("{} of {}", c.endgames.spoilt, c.endgames.drawn)),
    );
    row("mates: solved", all(|c| format!("{} of {}", c.mates.solved, c.mates.problems)));
    row("  nodes a problem", all(|c| c.mates.nodes.to_string()));
    row("  false claims (0 is right)", all(|c| c.mates.false_claims.to_string()));
    let stable = all(|c| format!("{}, depth {}", c.stability.positions, c.stability.depth));
    row("stability: positions, deepest search", stable);
    row("  spread of its scores, cp", all(|c| format!("{:.0}", c.stability.spread)));
    let at_depth = |at: super::stability::AtDepth| format!("{:.0}, {:.3}", at.distance, at.correlation);
    let cells = columns.iter().map(|c| at_depth(c.stability.static_evaluation)).collect();
    row("  without search: distance, correlation", cells);
    let least = columns.iter().map(|c| c.stability.depths.len()).min().unwrap_or(0);
    for depth in (1..=least).filter(|depth| depth % 2 == 1 || *depth == least) {
        let cells = columns.iter().map(|c| at_depth(c.stability.depths[depth - 1])).collect();
        row(&format!("  depth {depth}"), cells);
    }
    if columns.iter().all(|column| column.calibration.is_some()) {
        let of = |cell: fn(&super::Calibration) -> String| {
            columns.iter().map(|column| column.calibration.as_ref().map(cell).unwrap_or_default()).collect()
        };
        row("calibration: positions", of(|c| c.positions.to_string()));
        row("  scale that fits results, cp", of(|c| format!("{:.0}", c.scale)));
        row("  error of expected results", of(|c| format!("{:.4}", c.error)));
        row("  squared error (Brier)", of(|c| format!("{:.4}", c.brier)));
        row("  correlation with the records' scores", of(|c| format!("{:.3}", c.correlation)));
    }
    by_material(&mut out, titles, columns);
    out.truncate(out.trim_end().len());
    out
}

/// Endgames by material, where an evaluation does not do what is right.
fn by_material(out: &mut String, titles: &[String], columns: &[Examination]) {
    for (title, column) in titles.iter().zip(columns) {
        let failed: Vec<String> = column
            .endgames
            .by_material
            .iter()
            .filter(|(_, tally)| tally.converted < tally.won || tally.spoilt > 0)
            .map(|(material, tally)| {
                let mut words = vec![material.clone()];
                if tally.converted < tally.won {
                    words.push(format!("won {} of {}", tally.converted, tally.won));
                }
                if tally.spoilt > 0 {
                    words.push(format!("lost {} of {} drawn", tally.spoilt, tally.drawn));
                }
                words.join(" ")
            })
            .collect();
        if !failed.is_empty() {
            let _ = writeln!(out, "endgames not played right by {title}: {}", failed.join("; "));
        }
    }
}
