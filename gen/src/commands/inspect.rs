//! `chuhe-gen inspect`: what a record file holds.

use std::collections::{BTreeMap, HashSet};
use std::process::ExitCode;

use anyhow::Context;
use nnue_format::record::{COLUMN_NAMES, Header, RawBlock, ReadError, Reader};
use serde_json::{Value, json};

use crate::cli::FileArgs;
use crate::derived::{plan_json, plan_lines};
use crate::plan::{hex, net_text};

/// Figures of a file.
#[derive(Debug, Default)]
struct Figures {
    games: u64,
    plies: u64,
    positions: u64,
    blocks: u64,
    not_best: u64,
    outcomes: BTreeMap<&'static str, u64>,
    reasons: BTreeMap<&'static str, u64>,
    /// Per column: bytes before and after compression.
    columns: [(u64, u64); COLUMN_NAMES.len()],
    /// Keys of the positions where searching began.
    openings: HashSet<u64>,
    longest: u64,
    damage: Vec<String>,
}

impl Figures {
    fn take(&mut self, block: &RawBlock) -> Result<(), ReadError> {
        let games = block.games()?;
        self.blocks += 1;
        for (sum, (raw, packed)) in self.columns.iter_mut().zip(block.head.columns) {
            sum.0 += u64::from(raw);
            sum.1 += u64::from(packed);
        }
        for game in games {
            self.games += 1;
            self.plies += game.len() as u64;
            self.positions += game.plies.len() as u64;
            self.longest = self.longest.max(game.len() as u64);
            self.not_best += game.plies.iter().filter(|ply| ply.flags.is_not_best()).count() as u64;
            *self.outcomes.entry(game.outcome.word()).or_default() += 1;
            *self.reasons.entry(game.reason.word()).or_default() += 1;
            if let Ok(mut position) = game.start.position() {
                game.opening.iter().for_each(|&mv| _ = position.make(mv));
                self.openings.insert(position.key());
            }
        }
        Ok(())
    }
}

/// Runs the verb.
pub fn run(args: &FileArgs) -> anyhow::Result<ExitCode> {
    let mut reader = Reader::open(&args.file).with_context(|| args.file.display().to_string())?;
    let mut figures = Figures::default();
    while let Some(block) = reader.next_block() {
        if let Err(error) = block.and_then(|block| figures.take(&block)) {
            figures.damage.push(error.to_string());
        }
    }
    let text = if args.json {
        format!("{}\n", json_of(&reader, &figures))
    } else {
        text_of(args, &reader, &figures)
    };
    super::print(&text)?;
    Ok(if figures.damage.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn ratio(bytes: u64, positions: u64) -> Option<f64> {
    (positions > 0).then(|| bytes as f64 / positions as f64)
}

fn json_of(reader: &Reader<std::fs::File>, figures: &Figures) -> Value {
    let columns: serde_json::Map<String, Value> = COLUMN_NAMES
        .iter()
        .zip(figures.columns)
        .map(|(&name, (raw, packed))| (name.to_owned(), json!({ "raw": raw, "packed": packed })))
        .collect();
    let header = reader.header();
    json!({
        "games": figures.games,
        "positions": figures.positions,
        "plies": figures.plies,
        "bytes": reader.file_len(),
        "bytes_per_position": ratio(reader.file_len(), figures.positions),
        "outcomes": figures.outcomes,
        "reasons": figures.reasons,
        "openings": figures.openings.len(),
        "longest_game": figures.longest,
        "not_best": figures.not_best,
        "blocks": figures.blocks,
        "columns": columns,
        "finished": reader.footer().is_some(),
        "rules": header.map(|header| header.rules.to_string()),
        "seed": header.map(|header| header.seed),
        "engine_signature": header.map(|header| header.engine_signature),
        "net": header.map(|header| net_text(&header.net_id)),
        "run_id": header.map(|header| hex(&header.run_id)),
        "plan": plan_json(reader.plan()),
        "damage": figures.damage,
    })
}

fn text_of(args: &FileArgs, reader: &Reader<std::fs::File>, figures: &Figures) -> String {
    let mut lines = Vec::new();
    let per_position = |bytes| ratio(bytes, figures.positions).map_or("-".to_owned(), |r| format!("{r:.3}"));
    let bytes = reader.file_len();
    lines.push(args.file.display().to_string());
    lines.push(format!(
        "  {} games, {} positions (of {} plies), {} openings, longest game {} plies",
        figures.games,
        figures.positions,
        figures.plies,
        figures.openings.len(),
        figures.longest
    ));
    lines.push(format!(
        "  {bytes} bytes in {} blocks, {} bytes a position",
        figures.blocks,
        per_position(bytes)
    ));
    if let Some(Header { rules, seed, engine_signature, net_id, run_id, .. }) = reader.header() {
        lines.push(format!(
            "  rules {rules}, seed {seed}, engine {engine_signature}, net {}",
            net_text(net_id)
        ));
        lines.push(format!("  run {}", hex(run_id)));
    }
    lines.extend(plan_lines(reader.plan()).into_iter().map(|line| format!("  {line}")));
    lines.push(format!("  outcomes: {}", counts(&figures.outcomes)));
    lines.push(format!("  reasons: {}", counts(&figures.reasons)));
    lines.push(format!("  {:<16}{:>12}{:>12}{:>10}", "column", "raw", "packed", "B/pos"));
    for (name, (raw, packed)) in COLUMN_NAMES.iter().zip(figures.columns) {
        lines.push(format!("  {name:<16}{raw:>12}{packed:>12}{:>10}", per_position(packed)));
    }
    if reader.footer().is_none() {
        lines.push("  not finished: there is no footer".to_owned());
    }
    lines.extend(figures.damage.iter().map(|what| format!("  damage: {what}")));
    lines.join("\n") + "\n"
}

fn counts(counts: &BTreeMap<&'static str, u64>) -> String {
    let parts: Vec<_> = counts.iter().map(|(word, count)| format!("{word} {count}")).collect();
    parts.join(", ")
}
