//! Reports as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::Report;

/// For people: faults one by one, then what was checked.
pub fn text(reports: &[Report]) -> String {
    let mut out = String::new();
    for report in reports {
        // Writing to a String cannot fail.
        _ = write(&mut out, report);
    }
    out
}

fn write(out: &mut String, report: &Report) -> std::fmt::Result {
    let file = report.path.display();
    for fault in &report.faults {
        write!(out, "{file}: byte {}", fault.offset)?;
        if let Some(game) = fault.game {
            write!(out, ", game {game}")?;
        }
        if let Some(ply) = fault.ply {
            write!(out, ", ply {ply}")?;
        }
        writeln!(out, ": {}: {}", fault.kind.word(), fault.what)?;
    }
    if report.fault_count > report.faults.len() as u64 {
        writeln!(out, "{file}: … {} faults in all", report.fault_count)?;
    }
    for note in &report.notes {
        writeln!(out, "{file}: note: {note}")?;
    }
    if let Some(replays) = report.replays {
        let all = replays.same + replays.different;
        let (same, positions) = (replays.same, replays.positions);
        writeln!(out, "{file}: {all} games ({positions} positions) played again, {same} the same")?;
    }
    if let Some(found) = &report.searches {
        let hundredths = found.mean_size_hundredths().unwrap_or_default();
        writeln!(
            out,
            "{file}: {} positions searched again: {} with the same score, {} of {} with the same best move; decided in the file alone {}, here alone {}",
            found.positions,
            found.same_score,
            found.same_move,
            found.best_known,
            found.decided_there,
            found.decided_here
        )?;
        let quantiles: Vec<String> = [1, 10, 50, 90, 99]
            .into_iter()
            .filter_map(|percent| Some(format!("{percent} % {:+}", found.quantile(percent)?)))
            .collect();
        writeln!(
            out,
            "{file}: differences, new less recorded, in centipawns: {}; mean size {}.{:02}",
            quantiles.join(", "),
            hundredths / 100,
            hundredths % 100
        )?;
        if let Some(other) = &found.other_engine {
            writeln!(out, "{file}: note: differences are expected: {other}")?;
        }
    }
    let state = if report.fault_count == 0 { "good" } else { "FAULTY" };
    writeln!(
        out,
        "{file}: {state}, {} games, {} positions, {} faults",
        report.games, report.positions, report.fault_count
    )
}

/// For programs.
pub fn json(reports: &[Report]) -> Value {
    let files: Vec<Value> = reports.iter().map(file).collect();
    json!({ "ok": reports.iter().all(|report| report.fault_count == 0), "files": files })
}

fn file(report: &Report) -> Value {
    let faults: Vec<Value> = report
        .faults
        .iter()
        .map(|fault| {
            json!({
                "kind": fault.kind.word(),
                "offset": fault.offset,
                "game": fault.game,
                "ply": fault.ply,
                "what": fault.what,
            })
        })
        .collect();
    let replays = report.replays.map(|replays| {
        json!({ "same": replays.same, "different": replays.different, "positions": replays.positions })
    });
    json!({
        "file": report.path.to_string_lossy(),
        "ok": report.fault_count == 0,
        "games": report.games,
        "plies": report.plies,
        "positions": report.positions,
        "fault_count": report.fault_count,
        "faults": faults,
        "notes": report.notes,
        "replay": replays,
        "search": report.searches.as_ref().map(super::Searches::json),
    })
}
