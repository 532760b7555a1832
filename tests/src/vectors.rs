//! The vector files in `tests/data/vectors`.

use std::fs;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::tree::root;

/// One vector file, whole.
///
/// # Errors
/// A file that is missing or is not JSON.
pub fn load(name: &str) -> Result<Value> {
    let path = root().join("tests/data/vectors").join(name);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}

/// The list of cases in a value; fails when it holds fewer than `at_least`, so that an emptied file is noticed.
///
/// # Errors
/// No list, or one that is too short.
pub fn cases(value: &Value, at_least: usize) -> Result<&Vec<Value>> {
    let list = value.as_array().context("expected a list of cases")?;
    anyhow::ensure!(list.len() >= at_least, "only {} cases, expected at least {at_least}", list.len());
    Ok(list)
}

/// A field that must be a text.
///
/// # Errors
/// The field is missing or is something else.
pub fn text<'a>(case: &'a Value, field: &str) -> Result<&'a str> {
    case[field].as_str().with_context(|| format!("field {field} of {} must be a text", case["id"]))
}

/// The moves of a case as `--moves` takes them.
///
/// # Errors
/// No list of texts.
pub fn moves(case: &Value) -> Result<String> {
    let list = case["moves"].as_array().context("moves")?;
    let words: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
    Ok(words.context("moves must be texts")?.join(" "))
}
