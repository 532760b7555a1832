//! What is written about the games, against the games: header, plan and manifest.

use std::fs::File;
use std::path::{Path, PathBuf};

use nnue_format::record::{Header, Reader, Totals};
use serde_json::Value;

use super::{Fault, Kind, Report};
use crate::commands::play::header_of;
use crate::manifest::digest;
use crate::plan::{Count, Plan, hex, net_text};

/// Holds the header and the counts against the plan.
pub(super) fn check_plan(report: &mut Report, reader: &Reader<File>, plan: &Plan) {
    let mut faults = Vec::new();
    let mut pair = |name: &str, header: String, plan: String| {
        if header != plan {
            faults.push(format!("{name} is {header} in the header, {plan} by the plan"));
        }
    };
    if let (Some(found), Ok(expected)) = (reader.header(), header_of(plan)) {
        for ((name, found), (_, expected)) in fields(found).into_iter().zip(fields(&expected)) {
            pair(name, found, expected);
        }
    }
    if let Err(error) = plan.check() {
        faults.push(format!("the plan is not possible: {error}"));
    }
    for what in faults {
        report.fault(Fault::of_part(Kind::Plan, 0, what));
    }
    // Of an unfinished file, or one with damage, the count was told as what it is.
    let (wanted, found, what) = match plan.count {
        Count::Games(wanted) => (wanted, report.games, "games"),
        Count::Positions(wanted) => (wanted, report.positions, "positions"),
        // Openings that are left out give no game: there are as many as there are.
        Count::WholeBook => return,
    };
    if reader.footer().is_some() && report.fault_count == 0 && wanted != found {
        let what = format!("the plan asks for {wanted} {what}, the file has {found}");
        report.fault(Fault::of_part(Kind::Plan, 0, what));
    }
}

/// What a header says, by names.
fn fields(header: &Header) -> [(&'static str, String); 5] {
    [
        ("seed", header.seed.to_string()),
        ("engine signature", header.engine_signature.to_string()),
        ("net", net_text(&header.net_id)),
        ("rule set", header.rules.to_string()),
        ("run id", hex(&header.run_id)),
    ]
}

/// The manifest's path beside a file.
fn manifest_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".manifest.json");
    PathBuf::from(name)
}

/// Holds the manifest, where there is one, against the file.
pub(super) fn check_manifest(report: &mut Report, reader: &Reader<File>) {
    let path = manifest_path(&report.path);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            report.notes.push(format!("no manifest to check: {}: {error}", path.display()));
            return;
        }
    };
    let manifest: Value = match serde_json::from_str(&text) {
        Ok(value) => value,
        Err(error) => {
            let what = format!("{} is no JSON: {error}", path.display());
            report.fault(Fault::of_part(Kind::Manifest, 0, what));
            return;
        }
    };
    let mut found = vec![("bytes", Value::from(reader.file_len()))];
    match digest(&report.path) {
        Ok((_, sha256)) => found.push(("sha256", sha256.into())),
        Err(error) => report.notes.push(format!("the manifest's digest is not checked: {error}")),
    }
    if let Some(footer) = reader.footer() {
        let Totals { games, plies, positions } = footer.totals;
        found.extend([("games", games.into()), ("plies", plies.into()), ("positions", positions.into())]);
    }
    if let Some(header) = reader.header() {
        found.push(("seed", header.seed.into()));
        found.push(("engine_signature", header.engine_signature.into()));
        found.push(("net", net_text(&header.net_id).into()));
    }
    for (field, value) in found {
        // Manifests of other verbs have other fields; those of one name mean one thing.
        if let Some(said) = manifest.get(field).filter(|&said| *said != value) {
            let what = format!("{}: {field} is {said}, the file's is {value}", path.display());
            report.fault(Fault::of_part(Kind::Manifest, 0, what));
        }
    }
}
