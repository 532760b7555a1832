//! What an import found, as JSON.

use game_files::{FaultKind, Outcome};
use serde_json::{Map, Value, json};

use super::{Imported, Summary};

/// One game: where it stands, start, plies of the main line, final position, what was wrong.
pub fn game_json(imported: &Imported) -> Value {
    let Imported { file, format, number, game } = imported;
    let fault = game.error();
    let has_start = fault.is_none_or(|fault| fault.kind != FaultKind::Start);
    let tags: Map<String, Value> =
        game.tree.tags.iter().rev().map(|(name, value)| (name.clone(), json!(value))).collect();
    let tags: Map<String, Value> = tags.into_iter().rev().collect();
    let others = game.faults.iter().filter(|fault| fault.variation > 0).map(ToString::to_string);
    json!({
        "file": file.to_string_lossy(),
        "format": format.name(),
        "number": number,
        "start": has_start.then(|| game.tree.start().fen()),
        "plies": game.tree.main_line().len(),
        "final_fen": has_start.then(|| game.tree.final_fen()),
        "error": fault.map(ToString::to_string),
        "error_kind": fault.map(|fault| fault.kind.word()),
        "error_ply": fault.map(|fault| fault.ply),
        "result": result(imported),
        "variations": game.tree.variations(),
        "variation_errors": others.collect::<Vec<_>>(),
        "more_variation_errors": game.more_faults,
        "warnings": game.warnings,
        "tags": tags,
    })
}

/// The result in PGN's words, or `conflict` where the file says two things.
fn result(imported: &Imported) -> &'static str {
    match imported.game.contradiction {
        Some(_) => "conflict",
        None => Outcome::text(imported.game.tree.outcome),
    }
}

/// The whole report: every game as [`game_json`] tells it, and the summary.
pub fn report_json(games: Vec<Value>, summary: &Summary) -> Value {
    json!({ "games": games, "summary": summary.json() })
}
