//! The page: one file, without scripts, with nothing to fetch.

mod curves;
mod inside;
mod judged;

use super::{Report, ReportError, RunView};
use pages::parts::Section;
use pages::{decimals, escape, grouped, strings, table, tiles};

/// A row of two cells for a table.
fn pair(name: &str, value: String) -> Vec<String> {
    vec![name.to_owned(), value]
}

/// The page of a report.
///
/// # Errors
/// [`ReportError::Plot`].
pub fn page(report: &Report) -> Result<String, ReportError> {
    let section = |id, heading, body| Section { id, heading, body };
    let mut sections = vec![section("curves", "Curves", curves::all(&report.runs)?)];
    if let Some(net) = &report.net {
        sections.push(section("weights", "Weights", inside::weights(&net.statistics)?));
        sections.push(section("activations", "Activations", inside::activations(&net.statistics)?));
        sections.push(section("quantisation", "Quantisation", inside::quantisation(net)?));
    }
    let judged = match (&report.data, &report.no_data) {
        (Some(data), _) => judged::calibration(data)?,
        (None, Some(why)) => format!("<p>Not measured: {}.</p>\n", escape(why)),
        (None, None) => String::new(),
    };
    if !judged.is_empty() {
        sections.push(section("calibration", "Calibration", judged));
    }
    if let Some(net) = &report.net {
        sections.push(section("rows", "Feature transformer", inside::rows(net)));
    }
    if !report.matches.is_empty() {
        sections.push(section("matches", "Matches", judged::matches(&report.matches)));
    }
    sections.push(section("manifest", "Manifest", report.runs.iter().map(manifest).collect()));
    let names: Vec<&str> = report.runs.iter().map(|run| run.name.as_str()).collect();
    let heading = names.join(", ");
    Ok(pages::page(&format!("{heading}: training"), &heading, &above(report), &sections))
}

/// What everybody looks for first; for several runs, a row each.
fn above(report: &Report) -> String {
    let Some(run) = report.runs.first() else { return String::new() };
    let loss = |value: Option<f64>| decimals(value, 6);
    let mut html = String::new();
    for run in report.runs.iter().filter(|run| run.state() == "diverged") {
        for step in &run.diverged {
            let what = format!("{} diverged at step {}: {}", run.name, step["step"], step["what"]);
            html += &format!("<p><strong>{}</strong></p>\n", escape(&what.replace('"', "")));
        }
    }
    if report.runs.len() > 1 {
        let mut rows = vec![strings([
            "run",
            "state",
            "net",
            "steps",
            "of",
            "loss",
            "validation",
            "best",
            "positions/s",
        ])];
        rows.extend(report.runs.iter().map(|run| {
            let (step, total) = (run.last().map_or(0, |row| row.step), run.manifest.total_steps);
            let validation = run.validation();
            vec![
                escape(&run.name),
                run.state().to_owned(),
                escape(&run.manifest.architecture),
                grouped(step),
                grouped(total),
                loss(run.last().map(|row| row.loss)),
                loss(validation.map(|found| found.0)),
                loss(validation.map(|found| found.1)),
                speed(run).map_or("–".to_owned(), grouped),
            ]
        }));
        html += &table(&rows);
        let note = "Below the curves, everything is of the first run.";
        return html + &format!("<p class=\"note\">{note}</p>\n");
    }
    let (step, total) = (run.last().map_or(0, |row| row.step), run.manifest.total_steps);
    let validation = run.validation();
    let material = run.outcome.as_ref().and_then(|outcome| outcome.material_validation_loss);
    let material = material.or_else(|| report.data.as_ref().and_then(|data| data.material_loss));
    let mut figures = vec![
        (run.state().to_owned(), "state".to_owned()),
        (grouped(step), format!("of {} steps", grouped(total))),
        (loss(run.last().map(|row| row.loss)), "training loss".to_owned()),
        (loss(validation.map(|found| found.0)), "validation loss".to_owned()),
        (loss(material), "best fit of material alone".to_owned()),
        (speed(run).map_or("–".to_owned(), grouped), "positions a second".to_owned()),
    ];
    if let Some(waiting) = run.last().and_then(|row| row.waiting) {
        figures.push((format!("{:.0} %", 100.0 * waiting), "of the time waiting for data".to_owned()));
    }
    if let Some(found) = report.net.as_ref().and_then(|net| net.quantisation.as_ref()) {
        figures.push((format!("{:.2} cp", found.mean), "mean quantisation error".to_owned()));
    }
    let net = format!("<p class=\"note\">{}</p>\n", escape(&run.manifest.architecture));
    html + &net + &tiles(&figures)
}

/// The median of the speeds in a run's curve, so that neither a slow start nor a pause counts.
fn speed(run: &RunView) -> Option<u64> {
    let mut speeds: Vec<f64> = run.rows.iter().filter_map(|row| row.positions_per_second).collect();
    speeds.sort_by(f64::total_cmp);
    let last = run.outcome.as_ref().map(|outcome| outcome.positions_per_second);
    speeds.get(speeds.len() / 2).copied().or(last).map(|speed| speed as u64)
}

fn manifest(run: &RunView) -> String {
    let manifest = &run.manifest;
    let code = |text: &str| format!("<code>{}</code>", escape(text));
    let mut rows = vec![
        strings(["", ""]),
        pair("folder", code(&run.folder.display().to_string())),
        pair("program", escape(&format!("{}, commit {}", manifest.program, manifest.commit))),
        pair("architecture", code(&manifest.architecture)),
        pair("architecture id", code(&manifest.architecture_id)),
        pair("seed", manifest.seed.to_string()),
        pair("steps", grouped(manifest.total_steps)),
        pair("positions in an epoch", grouped(manifest.epoch_positions)),
    ];
    if let Some(checkpoint) = &run.checkpoint {
        rows.push(pair("newest checkpoint", code(&checkpoint.display().to_string())));
    }
    if let Some(filters) = run.outcome.as_ref().and_then(|outcome| outcome.filters) {
        rows.push(pair("looked at before", escape(&filters.to_string())));
    }
    let mut inputs = vec![strings(["record file", "bytes", "SHA-256"])];
    for input in &manifest.inputs {
        let path = input.path.to_string();
        inputs.push(vec![code(&path), grouped(input.bytes), code(&input.sha256)]);
    }
    format!(
        "<h3>{}</h3>\n{}{}<details><summary>Configuration</summary>\n<pre>{}</pre>\n</details>\n",
        escape(&run.name),
        table(&rows),
        table(&inputs),
        escape(&manifest.config)
    )
}
