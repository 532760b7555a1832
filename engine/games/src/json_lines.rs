//! JSON lines: one object a line with a start position and moves, as programs exchange them.
//!
//! ```text
//! {"id": "mm001", "fen": "3ak4/4a1P2/9/9/9/9/9/9/9/4K4 w - - 0 1", "main_line": ["g8g9"]}
//! {"moves": "h2e2 h9g7", "result": "1-0"}
//! ```
//!
//! The start is `fen` or `start` (without it the start position), the moves `moves` or `main_line`, a list or
//! a text with blanks. Other texts and numbers become tags.

use serde_json::{Map, Value};

use crate::error::{FileError, Place, ReadGame};
use crate::fen_list;
use crate::text;

const STARTS: [&str; 2] = ["fen", "start"];
const MOVES: [&str; 2] = ["moves", "main_line"];

/// Reads JSON lines: one game a line; empty lines are passed over.
///
/// # Errors
/// Names the first line that is no object, or no line at all; a file of lines is a program's work and is
/// not guessed at.
pub fn read(bytes: &[u8]) -> Result<Vec<ReadGame>, FileError> {
    let text = text::decode(bytes).text;
    let lines = text.split('\n').enumerate().filter(|(_, line)| !line.trim().is_empty());
    let mut found = Vec::new();
    for (i, line) in lines {
        found.push(read_line(line, found.len() + 1, i + 1)?);
    }
    Ok(found)
}

/// Reads one line: game `number` of its file, line `place` of it, both from 1.
///
/// # Errors
/// Where it is no object with a start or moves.
pub fn read_line(line: &str, number: usize, place: usize) -> Result<ReadGame, FileError> {
    let object: Map<String, Value> = serde_json::from_str(line)
        .map_err(|error| FileError::new(Place::Line(place), format!("a JSON object ({error})"), line))?;
    if !STARTS.iter().chain(&MOVES).any(|name| object.contains_key(*name)) {
        let expected = "an object with \"fen\" or \"moves\"";
        return Err(FileError::new(Place::Line(place), expected, line));
    }
    Ok(game(&object, number, place))
}

fn game(object: &Map<String, Value>, number: usize, line: usize) -> ReadGame {
    let start = STARTS.iter().find_map(|name| object.get(*name)?.as_str());
    let moves = MOVES.iter().find_map(|name| match object.get(*name)? {
        Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        value => value.as_str().map(str::to_owned),
    });
    let mut read = fen_list::read_parts(start, moves.as_deref().unwrap_or_default(), number, line);
    read.tree.tags = object.iter().filter_map(tag).collect();
    let result = read.tree.tag("Result").and_then(|result| result.parse().ok());
    read.tree.outcome = result.unwrap_or_default();
    read
}

fn tag((name, value): (&String, &Value)) -> Option<(String, String)> {
    let is_own = STARTS.iter().chain(&MOVES).any(|own| own == name);
    let value = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!is_own).then(|| (name.clone(), value))
}
