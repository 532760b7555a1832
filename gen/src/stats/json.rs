//! A survey for programs. What is there stays; new fields may come.

use std::collections::BTreeMap;

use nnue_format::record::{COLUMN_NAMES, Outcome, Reason};
use serde_json::{Map, Value, json};
use xiangqi::judge::RuleSet;
use xiangqi::{Color, PieceKind};

use super::columns::{Column, PARTS};
use super::counts::{Counts, MOST_BALANCE, Results};
use super::wdl::{WdlFit, by_score};
use super::{FileInfo, Keep, Survey};
use crate::derived::plan_json;
use crate::plan::{hex, net_text};

/// Raised when a field goes or changes its meaning.
pub const SCHEMA: u32 = 1;
/// Width of the rows of `results_by_score`, in centipawns.
const ROW: i32 = 50;

/// The whole survey.
pub fn json(survey: &Survey, fit: &WdlFit) -> Value {
    let counts = &survey.counts;
    let faults: Vec<Value> = survey
        .faults
        .iter()
        .map(|fault| {
            let file = survey.files.get(fault.file).map(|file| file.path.to_string_lossy());
            json!({ "file": file, "offset": fault.offset, "what": fault.what })
        })
        .collect();
    json!({
        "schema": SCHEMA,
        "files": survey.files.iter().map(file).collect::<Vec<_>>(),
        "games": counts.games,
        "plies": counts.plies,
        "positions": counts.positions(),
        "scored_plies": counts.scored,
        "left_out": counts.skips,
        "left_out_are_counted": survey.keep == Keep::All,
        "size": size(survey),
        "rules": named(RuleSet::ALL.map(RuleSet::name), &counts.rules),
        "outcomes": outcomes(counts),
        "game_plies": counts.lengths.json(),
        "opening_plies": counts.openings.json(),
        "starts": named(["standard", "fen"], &counts.starts),
        "position_plies": counts.position_plies.json(),
        "scores": counts.scores.json(),
        "decided_scores": decided(counts),
        "results_by_score": rows(counts),
        "win_model": fit.json(),
        "red_to_move": counts.red_to_move,
        "pieces": counts.pieces.json(),
        "pieces_by_kind": kinds(counts),
        "results_by_material": material(counts),
        "king_squares": json!({ "red": counts.kings[0].to_vec(), "black": counts.kings[1].to_vec() }),
        "origins": counts.origins.to_vec(),
        "destinations": counts.destinations.to_vec(),
        "moved": by_kind(&counts.moved),
        "captured": by_kind(&counts.captured),
        "shares": shares(counts),
        "not_best": counts.not_best,
        "move_ranks": counts.ranks.json(),
        "pseudo_legal_moves": counts.choices.json(),
        "no_capture_plies": counts.no_capture.json(),
        "diversity": survey.diversity.json(),
        "fault_count": survey.fault_count,
        "faults": faults,
    })
}

fn file(file: &FileInfo) -> Value {
    let header = file.header.as_ref();
    json!({
        "path": file.path.to_string_lossy(),
        "bytes": file.bytes,
        "games": file.games,
        "scored_plies": file.scored,
        "finished": file.finished,
        "seed": header.map(|header| header.seed),
        "engine_signature": header.map(|header| header.engine_signature),
        "net": header.map(|header| net_text(&header.net_id)),
        "run_id": header.map(|header| hex(&header.run_id)),
        "plan": plan_json(&file.plan),
    })
}

/// Counts by their names.
fn named<const N: usize>(names: [&'static str; N], counts: &[u64; N]) -> Value {
    Value::Object(names.iter().zip(counts).map(|(name, &n)| ((*name).to_owned(), n.into())).collect())
}

fn by_kind(counts: &[u64; 7]) -> Value {
    let pairs = PieceKind::ALL.iter().zip(counts);
    Value::Object(pairs.map(|(kind, &n)| (kind.letter().to_string(), n.into())).collect())
}

/// Bytes a position, and the entropy beside them.
fn size(survey: &Survey) -> Value {
    let positions = survey.counts.scored;
    let column = |Column { raw, packed, entropy_bits }: Column| {
        json!({
            "raw": raw,
            "packed": packed,
            "bits_per_position": ratio(packed as f64 * 8.0, positions),
            "entropy_bits_per_position": ratio(entropy_bits, positions),
        })
    };
    let named = |pairs: &mut dyn Iterator<Item = (&'static str, Column)>| {
        pairs.map(|(name, found)| (name.to_owned(), column(found))).collect::<Map<_, _>>()
    };
    let columns = &survey.columns;
    json!({
        "bytes": survey.bytes(),
        "bytes_per_position": ratio(survey.bytes() as f64, positions),
        "blocks": columns.blocks,
        "head_bytes": columns.head_bytes(),
        "parts": named(&mut PARTS.into_iter().zip(columns.parts())),
        "columns": named(&mut COLUMN_NAMES.into_iter().zip(columns.columns)),
    })
}

/// A part of a whole; `None` of nothing.
pub(super) fn ratio(part: f64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part / whole as f64)
}

fn outcomes(counts: &Counts) -> Value {
    let mut outcomes = BTreeMap::new();
    for (outcome, reasons) in Outcome::ALL.iter().zip(&counts.ends) {
        let by_reason: BTreeMap<&str, u64> =
            Reason::ALL.iter().map(|reason| reason.word()).zip(reasons.iter().copied()).collect();
        outcomes
            .insert(outcome.word(), json!({ "games": reasons.iter().sum::<u64>(), "by_reason": by_reason }));
    }
    json!(outcomes)
}

fn results(found: &Results) -> Value {
    json!({ "win": found[0], "draw": found[1], "loss": found[2] })
}

fn decided(counts: &Counts) -> Value {
    json!({
        "mates": results(&counts.mates[0]),
        "mated": results(&counts.mates[1]),
        "rule_wins": results(&counts.rule_wins[0]),
        "rule_losses": results(&counts.rule_wins[1]),
        "mate_plies": counts.mate_plies.json(),
    })
}

fn rows(counts: &Counts) -> Vec<Value> {
    by_score(counts, ROW)
        .into_iter()
        .filter(|(_, _, found)| found.iter().any(|&n| n > 0))
        .map(|(from, to, found)| json!({ "from": from, "to": to, "win": found[0], "draw": found[1], "loss": found[2] }))
        .collect()
}

fn kinds(counts: &Counts) -> Value {
    let side = |color: Color| {
        let pairs = PieceKind::ALL.iter().zip(&counts.kinds[color.index()]);
        Value::Object(
            pairs.map(|(kind, by_count)| (kind.letter().to_string(), by_count.to_vec().into())).collect(),
        )
    };
    json!({ "red": side(Color::Red), "black": side(Color::Black) })
}

fn material(counts: &Counts) -> Vec<Value> {
    (-MOST_BALANCE..)
        .zip(&counts.balance)
        .filter(|(_, found)| found.iter().any(|&n| n > 0))
        .map(|(surplus, found)| json!({ "surplus": surplus, "win": found[0], "draw": found[1], "loss": found[2] }))
        .collect()
}

fn shares(counts: &Counts) -> Value {
    let [[quiet, captures], [checks, both]] = counts.checks_captures;
    let positions = counts.positions();
    let share = |n: u64| ratio(n as f64, positions);
    json!({
        "in_check": share(checks + both),
        "captures": share(captures + both),
        "neither": share(quiet),
        "not_best": share(counts.not_best),
        "red_to_move": share(counts.red_to_move),
    })
}
