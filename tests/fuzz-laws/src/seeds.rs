//! Inputs to begin from, made from the vectors in `tests/data`: a few hundred small ones, not kept as files.

use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// One input: the name of its target and its bytes.
pub type Seed = (&'static str, Vec<u8>);

/// Root of the checkout.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf()
}

fn vectors(name: &str) -> Result<Value> {
    let path = root().join("tests/data/vectors").join(name);
    let told = |error: &dyn std::fmt::Display| Error::other(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| told(&error))?;
    serde_json::from_str(&text).map_err(|error| told(&error))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or("")
}

/// All of them.
///
/// # Errors
/// A vector file that is missing or no JSON, named.
pub fn seeds() -> Result<Vec<Seed>> {
    let mut seeds = Vec::new();
    for case in list(&vectors("fen.json")?) {
        seeds.push(("fen", text(case, "input").as_bytes().to_vec()));
    }
    for file in ["perft.json", "game_end.json", "repetition_random.json", "repetition_competition_rules.json"]
    {
        for case in list(&vectors(file)?) {
            seeds.push(("moves", moves(case)));
        }
    }
    seeds.extend(notations(&vectors("notation.json")?));
    Ok(seeds)
}

/// A FEN line and the moves as raw ones.
fn moves(case: &Value) -> Vec<u8> {
    let mut bytes = format!("{}\n", text(case, "fen")).into_bytes();
    for mv in list(&case["moves"]).iter().filter_map(|mv| mv.as_str()?.parse::<xiangqi::Move>().ok()) {
        bytes.push(crate::moves::RAW);
        bytes.extend(mv.bits().to_le_bytes());
    }
    bytes
}

/// One seed a position: its FEN and every text that the cases of it have.
fn notations(vectors: &Value) -> Vec<Seed> {
    let mut texts: Vec<(&str, String)> = Vec::new();
    for case in list(&vectors["moves"]).iter().chain(list(&vectors["reject"])) {
        let fen = text(case, "fen");
        if texts.last().is_none_or(|last| last.0 != fen) {
            texts.push((fen, format!("{fen}\n")));
        }
        let fields = ["uci", "iccs", "chinese", "wxf", "text"].map(|field| text(case, field));
        let also = list(&case["also"]).iter().filter_map(Value::as_str);
        if let Some((_, seed)) = texts.last_mut() {
            seed.extend(fields.into_iter().chain(also).map(|line| format!("{line}\n")));
        }
    }
    texts.into_iter().map(|(_, seed)| ("notation", seed.into_bytes())).collect()
}
