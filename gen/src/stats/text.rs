//! A survey for people, on a terminal.

use std::fmt::Write;

use nnue_format::record::{Outcome, Reason};
use xiangqi::judge::RuleSet;
use xiangqi::{Color, PieceKind};

use super::columns::PARTS;
use super::counts::{Counts, Results};
use super::distinct::Distinct;
use super::histogram::Histogram;
use super::json::ratio;
use super::openings::DEPTHS;
use super::wdl::{Estimate, WdlFit, by_score};
use super::{Keep, Survey};

/// Rows of results by score, in centipawns.
const ROW: i32 = 200;
/// … as far as this.
const ROWS_TO: i32 = 1000;

/// The summary.
pub fn text(survey: &Survey, fit: &WdlFit) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    _ = write(&mut out, survey, fit);
    out
}

fn write(out: &mut String, survey: &Survey, fit: &WdlFit) -> std::fmt::Result {
    let counts = &survey.counts;
    for file in &survey.files {
        let state = if file.finished { "" } else { ", not finished: there is no footer" };
        writeln!(out, "{}: {} games{state}", file.path.display(), file.games)?;
    }
    if counts.games == 0 {
        writeln!(out, "no whole game")?;
        return faults(out, survey);
    }
    let mean = |histogram: &Histogram| histogram.mean().map_or("-".to_owned(), |mean| format!("{mean:.1}"));
    writeln!(
        out,
        "{} games, {} plies, {} scored, {} of them marked as left out{}",
        counts.games,
        counts.plies,
        counts.scored,
        counts.skips,
        if survey.keep == Keep::All { " (and counted all the same)" } else { "" }
    )?;
    let rules: Vec<String> = RuleSet::ALL
        .iter()
        .zip(counts.rules)
        .filter(|(_, n)| *n > 0)
        .map(|(rules, n)| format!("{} {n}", rules.name()))
        .collect();
    writeln!(out, "rules: {}", rules.join(", "))?;
    size(out, survey)?;
    ends(out, counts)?;
    writeln!(out, "\nlengths, in plies         mean   least  median greatest")?;
    for (name, histogram) in [("games", &counts.lengths), ("openings", &counts.openings)] {
        let (min, max) = histogram.range().unwrap_or_default();
        let median = histogram.quantile(0.5).unwrap_or_default();
        writeln!(out, "  {name:<20}{:>8}{min:>8}{median:>8}{max:>9}", mean(histogram))?;
    }
    scores(out, counts)?;
    win_model(out, counts, fit)?;
    board(out, counts)?;
    diversity(out, survey)?;
    faults(out, survey)
}

fn faults(out: &mut String, survey: &Survey) -> std::fmt::Result {
    for fault in &survey.faults {
        let file = survey.files.get(fault.file).map(|file| file.path.display().to_string());
        writeln!(out, "fault: {}, byte {}: {}", file.unwrap_or_default(), fault.offset, fault.what)?;
    }
    if survey.fault_count > survey.faults.len() as u64 {
        writeln!(out, "… {} faults in all", survey.fault_count)?;
    }
    Ok(())
}

pub(super) fn percent(part: u64, whole: u64) -> String {
    ratio(part as f64 * 100.0, whole).map_or("-".to_owned(), |share| format!("{share:.2} %"))
}

fn size(out: &mut String, survey: &Survey) -> std::fmt::Result {
    let scored = survey.counts.scored;
    let per = |bits: f64| ratio(bits, scored).map_or("-".to_owned(), |bits| format!("{bits:.3}"));
    writeln!(
        out,
        "{} bytes in {} blocks: {} bytes a scored ply\n",
        survey.bytes(),
        survey.columns.blocks,
        per(survey.bytes() as f64)
    )?;
    writeln!(out, "bits a scored ply           file  entropy")?;
    let mut columns = 0;
    for (name, part) in PARTS.iter().zip(survey.columns.parts()) {
        columns += part.packed;
        writeln!(out, "  {name:<22}{:>8}{:>9}", per(part.packed as f64 * 8.0), per(part.entropy_bits))?;
    }
    let rest = survey.bytes().saturating_sub(columns);
    writeln!(out, "  {:<22}{:>8}", "heads, plan, footer", per(rest as f64 * 8.0))
}

fn ends(out: &mut String, counts: &Counts) -> std::fmt::Result {
    writeln!(out, "\ngames end by            draw  Red loses  Black loses")?;
    let cells = |reason: usize| [0, 1, 2].map(|outcome: usize| counts.ends[outcome][reason]);
    for (i, reason) in Reason::ALL.iter().enumerate() {
        let [draw, red, black] = cells(i);
        if draw + red + black > 0 {
            writeln!(out, "  {:<18}{draw:>8}{red:>11}{black:>13}", reason.word())?;
        }
    }
    let sums = Outcome::ALL.iter().map(|outcome| counts.ends[usize::from(outcome.code())].iter().sum());
    let sums: Vec<u64> = sums.collect();
    let shares: Vec<String> = sums.iter().map(|&n| percent(n, counts.games)).collect();
    writeln!(out, "  {:<18}{:>8}{:>11}{:>13}", "all", sums[0], sums[1], sums[2])?;
    writeln!(out, "  {:<18}{:>8}{:>11}{:>13}", "", shares[0], shares[1], shares[2])
}

fn scores(out: &mut String, counts: &Counts) -> std::fmt::Result {
    let positions = counts.positions();
    let sum = |results: &[Results; 2]| results.as_flattened().iter().sum::<u64>();
    writeln!(out, "\n{positions} positions; scores are of the side to move, in centipawns")?;
    let quantile = |share| counts.scores.quantile(share).map_or("-".to_owned(), |score| score.to_string());
    writeln!(
        out,
        "  undecided scores: a tenth below {}, half below {}, a tenth above {}",
        quantile(0.1),
        quantile(0.5),
        quantile(0.9)
    )?;
    let (mates, rule) = (sum(&counts.mates), sum(&counts.rule_wins));
    writeln!(
        out,
        "  mates {mates} ({}), wins by rule {rule} ({})",
        percent(mates, positions),
        percent(rule, positions)
    )
}

/// `95.0 ± 1.2`
pub(super) fn estimate_text(estimate: Option<Estimate>) -> String {
    match estimate {
        None => "not to be had".to_owned(),
        Some(Estimate { value, error: None }) => format!("{value:.1} ± ? (too few games)"),
        Some(Estimate { value, error: Some(error) }) => format!("{value:.1} ± {error:.1}"),
    }
}

fn win_model(out: &mut String, counts: &Counts, fit: &WdlFit) -> std::fmt::Result {
    writeln!(out, "\nscore              positions      win     draw     loss   result")?;
    for (from, to, found) in by_score(counts, ROW) {
        let all: u64 = found.iter().sum();
        if all == 0 || from < -ROWS_TO || to > ROWS_TO {
            continue;
        }
        let share = |n: u64| percent(n, all);
        let result = (found[0] as f64 + found[1] as f64 / 2.0) / all as f64;
        let range = format!("{from} to {to}");
        let [win, draw, loss] = found.map(share);
        writeln!(out, "  {range:<16}{all:>10}{win:>9}{draw:>9}{loss:>9}{result:>9.3}")?;
    }
    writeln!(
        out,
        "  P(win) = 1 / (1 + exp((a - score) / b)): a = {}, b = {}",
        estimate_text(fit.half_won),
        estimate_text(fit.spread)
    )?;
    writeln!(out, "  result = 1 / (1 + exp(-score / scale)): scale = {}", estimate_text(fit.scale))?;
    if let Some(scale) = fit.scale {
        writeln!(out, "  for chuhe-train:  [loss]  score_scale = {:.0}", scale.value)?;
    }
    Ok(())
}

fn board(out: &mut String, counts: &Counts) -> std::fmt::Result {
    let positions = counts.positions();
    let [[_, captures], [checks, both]] = counts.checks_captures;
    writeln!(
        out,
        "\npositions in check {}, moves that capture {}, moves other than the search's best {}, Red to move {}",
        percent(checks + both, positions),
        percent(captures + both, positions),
        percent(counts.not_best, positions),
        percent(counts.red_to_move, positions),
    )?;
    writeln!(
        out,
        "pieces on the board: {}; pseudo-legal moves: {}; rank of the move played: {} (means)",
        mean_text(&counts.pieces),
        mean_text(&counts.choices),
        mean_text(&counts.ranks)
    )?;
    let mean = |color: Color, kind: PieceKind| {
        let by_count = &counts.kinds[color.index()][kind.index()];
        let sum: u64 = by_count.iter().zip(0u64..).map(|(&positions, pieces)| positions * pieces).sum();
        ratio(sum as f64, positions).map_or("-".to_owned(), |mean| format!("{mean:.2}"))
    };
    for color in Color::ALL {
        let cells: Vec<String> =
            PieceKind::ALL.iter().map(|&kind| format!("{} {}", kind.letter(), mean(color, kind))).collect();
        writeln!(out, "  {color:?}: {}", cells.join("  "))?;
    }
    Ok(())
}

fn mean_text(histogram: &Histogram) -> String {
    histogram.mean().map_or("-".to_owned(), |mean| format!("{mean:.2}"))
}

/// `1234` or `1234567 ± 0.1 %`
fn distinct_text(distinct: &Distinct) -> String {
    let found = distinct.distinct();
    if distinct.is_exact() {
        return found.to_string();
    }
    format!("{found} ± {:.1} % (estimated)", distinct.relative_error() * 100.0)
}

fn diversity(out: &mut String, survey: &Survey) -> std::fmt::Result {
    let found = &survey.diversity;
    writeln!(out, "\n{:<24}{:>13} {:>30} {:>11}", "different", "of", "different", "come again")?;
    let named =
        [("games", &found.games), ("first scored positions", &found.starts), ("positions", &found.positions)];
    for (name, distinct) in named {
        line(out, name, distinct)?;
    }
    for (plies, distinct) in DEPTHS.iter().zip(&found.depths) {
        line(out, &format!("after {plies} plies"), distinct)?;
    }
    Ok(())
}

fn line(out: &mut String, name: &str, distinct: &Distinct) -> std::fmt::Result {
    let again = distinct.repeated_share().map_or("-".to_owned(), |share| format!("{:.2} %", share * 100.0));
    writeln!(out, "  {name:<22}{:>13} {:>30} {again:>11}", distinct.total(), distinct_text(distinct))
}
