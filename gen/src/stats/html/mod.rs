//! A survey as one page: nothing to fetch, readable on a phone and in the dark.

mod parts;
mod play;
mod position;

use nnue_format::record::{COLUMN_NAMES, Outcome};
use pages::parts::Section;
use pages::{Hue, PlotError, bar, decimals, escape, grouped, strings, table};
use xiangqi::judge::RuleSet;

use super::columns::{Column, PARTS};
use super::json::ratio;
use super::text::percent;
use super::wdl::WdlFit;
use super::{Keep, Survey};
use crate::derived::plan_lines;
use crate::plan::{Plan, net_text};
use play::{games, scores, win_model};
use position::{diversity, moves, pieces};

/// The parts of the page: id and heading, in their order.
pub const SECTIONS: [(&str, &str); 9] = [
    ("files", "Files"),
    ("size", "Size"),
    ("games", "Games"),
    ("scores", "Scores"),
    ("win-model", "Score and result"),
    ("board", "Board"),
    ("moves", "Moves"),
    ("diversity", "Diversity"),
    ("faults", "Faults"),
];

/// The page.
///
/// # Errors
/// A plot that could not be drawn.
pub fn page(survey: &Survey, fit: &WdlFit) -> Result<String, PlotError> {
    let counts = &survey.counts;
    let bodies = [
        files(survey),
        size(survey),
        games(counts)?,
        scores(counts)?,
        win_model(counts, fit)?,
        pieces(counts)?,
        moves(counts)?,
        diversity(survey)?,
        faults(survey),
    ];
    let parts: Vec<Section<'_>> =
        SECTIONS.iter().zip(bodies).map(|(&(id, heading), body)| Section { id, heading, body }).collect();
    let title = match survey.files.as_slice() {
        [file] => file.path.file_name().unwrap_or(file.path.as_os_str()).to_string_lossy().into_owned(),
        files => format!("{} record files", files.len()),
    };
    Ok(pages::page(&format!("{title}: statistics"), &title, &tiles(survey), &parts))
}

/// The figures that everybody asks for first.
fn tiles(survey: &Survey) -> String {
    let counts = &survey.counts;
    let draws: u64 = counts.ends[usize::from(Outcome::Draw.code())].iter().sum();
    let [_, [checks, both]] = counts.checks_captures;
    let repeated = survey.diversity.positions.repeated_share();
    let left_out = if survey.keep == Keep::All { "left out (counted)" } else { "left out" };
    let figures = [
        (grouped(counts.games), "games"),
        (grouped(counts.positions()), "positions"),
        (grouped(counts.skips), left_out),
        (decimals(ratio(survey.bytes() as f64, counts.scored), 3), "bytes a scored ply"),
        (decimals(counts.lengths.mean(), 1), "plies a game"),
        (percent(draws, counts.games), "of games drawn"),
        (percent(checks + both, counts.positions()), "of positions in check"),
        (
            repeated.map_or("–".to_owned(), |share| format!("{:.2} %", share * 100.0)),
            "of positions come again",
        ),
        (grouped(survey.fault_count), "faults"),
    ];
    pages::tiles(&figures.map(|(figure, name)| (figure, name.to_owned())))
}

fn files(survey: &Survey) -> String {
    let mut rows = vec![strings([
        "file",
        "games",
        "scored plies",
        "bytes",
        "played by",
        "nodes",
        "seed",
        "engine",
        "finished",
    ])];
    for file in &survey.files {
        let header = file.header.as_ref();
        let net = header.map_or("–".to_owned(), |header| match net_text(&header.net_id) {
            none if none == "none" => "hand-crafted evaluation".to_owned(),
            id => format!("net <code>{}</code>", &id[..12.min(id.len())]),
        });
        let plan = Plan::from_bytes(&file.plan).ok();
        let nodes = plan.and_then(|plan| plan.limit.nodes).map_or("–".to_owned(), grouped);
        rows.push(vec![
            format!("<code>{}</code>", escape(&file.path.display().to_string())),
            grouped(file.games),
            grouped(file.scored),
            grouped(file.bytes),
            net,
            nodes,
            header.map_or("–".to_owned(), |header| header.seed.to_string()),
            header.map_or("–".to_owned(), |header| header.engine_signature.to_string()),
            if file.finished { "yes" } else { "no" }.to_owned(),
        ]);
    }
    let origins: String = survey
        .files
        .iter()
        .flat_map(|file| plan_lines(&file.plan))
        .map(|line| format!("<p class=\"note\">{}</p>\n", escape(&line)))
        .collect();
    let rules: Vec<String> = RuleSet::ALL
        .iter()
        .zip(survey.counts.rules)
        .filter(|(_, n)| *n > 0)
        .map(|(rules, n)| format!("{} {}", rules.name(), grouped(n)))
        .collect();
    let kept = match survey.keep {
        Keep::All => "all scored plies, those marked as left out too",
        Keep::ForTraining => "scored plies that are not marked as left out",
    };
    let kind = format!(
        "<p class=\"note\">Games by rule set: {}. Positions here are {kept}.</p>\n",
        rules.join(", ")
    );
    table(&rows) + &origins + &kind
}

fn size(survey: &Survey) -> String {
    let scored = survey.counts.scored;
    let bits = |bits: f64| ratio(bits, scored);
    let rest_of =
        survey.bytes().saturating_sub(survey.columns.columns.iter().map(|column| column.packed).sum());
    let most = survey.columns.parts().iter().map(|part| part.packed as f64 * 8.0).fold(1.0, f64::max);
    let row = |name: &str, column: Column| {
        let packed = column.packed as f64 * 8.0;
        vec![
            name.to_owned(),
            decimals(bits(packed), 3),
            decimals(bits(column.entropy_bits), 3),
            bar(packed / most, Hue::Blue),
        ]
    };
    let headings = || strings(["bits a scored ply", "in the file", "order-0 entropy", ""]);
    let mut parts = vec![headings()];
    parts.extend(PARTS.iter().zip(survey.columns.parts()).map(|(name, part)| row(name, part)));
    let mut rest = row("heads, plan, footer", Column { packed: rest_of, ..Column::default() });
    rest[2] = "–".to_owned();
    parts.push(rest);
    let mut columns = vec![headings()];
    columns.extend(COLUMN_NAMES.iter().zip(survey.columns.columns).map(|(name, column)| row(name, column)));
    format!(
        "{}<p class=\"note\">{} bytes in {} blocks. The order-0 entropy is what a perfect coder of single bytes would \
         need that knew the frequencies in each block.</p>\n<details><summary>Every column</summary>\n{}</details>\n",
        table(&parts),
        grouped(survey.bytes()),
        grouped(survey.columns.blocks),
        table(&columns)
    )
}

fn faults(survey: &Survey) -> String {
    if survey.fault_count == 0 {
        return "<p>None: every checksum fits, every move can be made.</p>\n".to_owned();
    }
    let mut rows = vec![strings(["file", "byte", "what"])];
    for fault in &survey.faults {
        let file = survey.files.get(fault.file).map(|file| file.path.display().to_string());
        rows.push(vec![escape(&file.unwrap_or_default()), grouped(fault.offset), escape(&fault.what)]);
    }
    format!(
        "<p>{} in all; nothing of these blocks is counted above.</p>\n{}",
        grouped(survey.fault_count),
        table(&rows)
    )
}
