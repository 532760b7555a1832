//! In what two checkpoints differ.

use super::inspect::states;
use super::{loss_text, print_json};
use crate::checkpoint::{self, Checkpoint, RunManifest};
use crate::model::weights::Parameter;
use crate::watch::statistics::norm;
use anyhow::Result;
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One thing that is not the same in both.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Difference {
    pub(super) what: String,
    pub(super) first: String,
    pub(super) second: String,
}

/// How far apart a parameter is in both.
#[derive(Debug, Serialize)]
struct Distance {
    name: String,
    /// Norm of the difference over the norm of the first; `None` where shapes differ or one lacks it.
    weights: Option<f64>,
    /// The same for the optimiser's tensors.
    state: BTreeMap<String, f64>,
    /// Why there is no number.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

pub(super) fn inspect(first: &Path, second: &Path, json: bool) -> Result<()> {
    let folders = [checkpoint::locate(first)?, checkpoint::locate(second)?];
    let (a, b) = (Checkpoint::read(&folders[0])?, Checkpoint::read(&folders[1])?);
    let config = config_differences(&a.run.config, &b.run.config);
    let run = run_differences(&a.run, &b.run);
    let distances = distances(&a.parameters, &b.parameters);
    if json {
        let state = |c: &Checkpoint| {
            json!({
                "step": c.state.step,
                "epoch": c.state.epoch,
                "positions": c.state.positions,
                "loss": c.state.recent.last(),
                "validation_loss": c.state.validation.map(|(_, loss)| loss),
            })
        };
        return print_json(&json!({
            "folders": folders,
            "config": config,
            "run": run,
            "state": [state(&a), state(&b)],
            "parameters": distances,
        }));
    }
    println!("first       {}", folders[0].display());
    println!("second      {}", folders[1].display());
    println!("step        {} and {}", a.state.step, b.state.step);
    println!("positions   {} and {}", a.state.positions, b.state.positions);
    let validation = |c: &Checkpoint| loss_text(c.state.validation.map(|(_, loss)| loss));
    println!("validation  {} and {}", validation(&a), validation(&b));
    print_differences("run", &run);
    print_differences("config", &config);
    println!("  {:<24} {:>12}  optimiser", "relative distance", "weights");
    for distance in &distances {
        let weights = match (&distance.note, distance.weights) {
            (Some(note), _) => note.clone(),
            (None, value) => format!("{:>12.3e}", value.unwrap_or(f64::NAN)),
        };
        let state: Vec<String> =
            distance.state.iter().map(|(name, value)| format!("{name} {value:.3e}")).collect();
        println!("  {:<24} {weights}  {}", distance.name, state.join(", "));
    }
    Ok(())
}

fn print_differences(name: &str, differences: &[Difference]) {
    if differences.is_empty() {
        println!("{name:<11} the same");
    }
    for Difference { what, first, second } in differences {
        println!("{name:<11} {what}: {first} and {second}");
    }
}

fn run_differences(a: &RunManifest, b: &RunManifest) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut compare = |what: &str, first: String, second: String| {
        if first != second {
            found.push(Difference { what: what.to_owned(), first, second });
        }
    };
    compare("architecture", a.architecture.clone(), b.architecture.clone());
    compare("seed", a.seed.to_string(), b.seed.to_string());
    compare("total steps", a.total_steps.to_string(), b.total_steps.to_string());
    compare("program", format!("{} {}", a.program, a.commit), format!("{} {}", b.program, b.commit));
    let inputs = |run: &RunManifest| -> BTreeSet<String> {
        run.inputs.iter().map(|input| format!("{} ({})", input.path, &short(&input.sha256))).collect()
    };
    let (first, second) = (inputs(a), inputs(b));
    for only in first.difference(&second) {
        compare("record file", only.clone(), "not there".to_owned());
    }
    for only in second.difference(&first) {
        compare("record file", "not there".to_owned(), only.clone());
    }
    found
}

fn short(digest: &str) -> String {
    digest.chars().take(12).collect()
}

/// The settings that differ, by their full names; one that is not in a file is at its default.
pub(super) fn config_differences(a: &str, b: &str) -> Vec<Difference> {
    let (a, b) = (settings(a), settings(b));
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let of = |settings: &BTreeMap<String, String>, name: &String| {
        settings.get(name).cloned().unwrap_or_else(|| "default".to_owned())
    };
    names
        .into_iter()
        .map(|name| Difference { what: name.clone(), first: of(&a, name), second: of(&b, name) })
        .filter(|difference| difference.first != difference.second)
        .collect()
}

fn settings(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    if let Ok(table) = text.parse::<toml::Table>() {
        flatten("", &toml::Value::Table(table), &mut found);
    }
    found
}

fn flatten(name: &str, value: &toml::Value, found: &mut BTreeMap<String, String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                let full = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                flatten(&full, value, found);
            }
        }
        value => {
            found.insert(name.to_owned(), value.to_string());
        }
    }
}

fn distances(a: &[Parameter], b: &[Parameter]) -> Vec<Distance> {
    let names: BTreeSet<&str> = a.iter().chain(b).map(|parameter| parameter.name.as_str()).collect();
    let find = |list: &'_ [Parameter], name: &str| list.iter().position(|parameter| parameter.name == name);
    names
        .into_iter()
        .map(|name| {
            let note = |text: String| Distance {
                name: name.to_owned(),
                weights: None,
                state: BTreeMap::new(),
                note: Some(text),
            };
            match (find(a, name), find(b, name)) {
                (Some(i), Some(j)) if a[i].shape != b[j].shape => {
                    note(format!("{:?} and {:?}", a[i].shape, b[j].shape))
                }
                (Some(i), Some(j)) => Distance {
                    name: name.to_owned(),
                    weights: Some(relative(&a[i].weights, &b[j].weights)),
                    state: states(&a[i])
                        .filter_map(|(state, values)| {
                            let (_, other) = states(&b[j]).find(|(known, _)| *known == state)?;
                            Some((state.to_owned(), relative(values, other)))
                        })
                        .collect(),
                    note: None,
                },
                (Some(_), None) => note("only in the first".to_owned()),
                _ => note("only in the second".to_owned()),
            }
        })
        .collect()
}

/// The norm of the difference over that of the first; of the second where the first is zero.
fn relative(a: &[f32], b: &[f32]) -> f64 {
    let difference: Vec<f32> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let size = if norm(a) > 0.0 { norm(a) } else { norm(b) };
    if size > 0.0 { norm(&difference) / size } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::weights::StateTensor;

    #[test]
    fn settings_that_differ_are_named() {
        let a = "[net]\narchitecture = 'classic'\n[training]\nseed = 1\n[loss]\npower = 2.0\n";
        let b =
            "[net]\narchitecture = 'classic'\n[training]\nseed = 2\nbatch_size = 64\n[loss]\npower = 2.0\n";
        let found: Vec<String> = config_differences(a, b)
            .iter()
            .map(|d| format!("{}: {} {}", d.what, d.first, d.second))
            .collect();
        assert_eq!(found, ["training.batch_size: default 64", "training.seed: 1 2"]);
        assert_eq!(config_differences(a, a), []);
    }

    #[test]
    fn distances_are_relative() {
        let parameter = |name: &str, weights: Vec<f32>| {
            let state = vec![StateTensor { name: "first".to_owned(), values: vec![0.0; weights.len()] }];
            Parameter { name: name.to_owned(), shape: vec![weights.len()], weights, state }
        };
        let a = [parameter("x", vec![3.0, 4.0]), parameter("y", vec![1.0])];
        let b = [parameter("x", vec![3.0, 4.5]), parameter("z", vec![1.0, 2.0])];
        let found = distances(&a, &b);
        assert_eq!(found.len(), 3);
        assert!((found[0].weights.unwrap() - 0.1).abs() < 1e-9);
        assert_eq!(found[0].state["first"], 0.0);
        assert_eq!(found[1].note.as_deref(), Some("only in the first"));
    }
}
