//! Results of matches, as `chuhe-match run --json` or `chuhe-match stats --json` print them.

use super::ReportError;
use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// One match, from the view of its first player.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatchRow {
    /// The file it was read from.
    pub file: String,
    /// Both players.
    pub players: [String; 2],
    /// Games played.
    pub games: u64,
    /// Losses, draws, wins.
    pub trinomial: Option<[u64; 3]>,
    /// Elo of the first player over the second; `None` where it won or lost every pair.
    pub elo: Option<f64>,
    /// Half the width of its 95 % interval.
    pub elo_error: Option<f64>,
    /// Normalised Elo.
    pub nelo: Option<f64>,
    /// Likelihood that the first player is the stronger one.
    pub los: Option<f64>,
}

impl MatchRow {
    /// Reads the matches of a file: one, or a list of them; also as the steps of the quickstart keep them, in `output`.
    ///
    /// # Errors
    /// [`ReportError::Run`] says what the file lacks.
    pub fn read(path: &Path) -> Result<Vec<MatchRow>, ReportError> {
        let wrong = |what: String| ReportError::Run { path: path.to_path_buf(), what };
        let bytes = fs::read(path).map_err(|error| wrong(error.to_string()))?;
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        let values = match value {
            Value::Array(values) => values,
            value => vec![value],
        };
        values.iter().map(|value| row(path, value).map_err(wrong)).collect()
    }
}

fn row(path: &Path, value: &Value) -> Result<MatchRow, String> {
    let value = value.get("output").unwrap_or(value);
    let number = |name: &str| value.get(name).and_then(Value::as_f64);
    let lacks = |name: &str| format!("has no {name:?}; expected what chuhe-match --json prints");
    if value.get("elo").is_none() {
        return Err(lacks("elo"));
    }
    let player = |side: &str| {
        value.pointer(&format!("/players/{side}")).and_then(Value::as_str).unwrap_or(side).to_owned()
    };
    let trinomial = value.get("trinomial").and_then(|counts| serde_json::from_value(counts.clone()).ok());
    Ok(MatchRow {
        file: path.display().to_string(),
        players: [player("a"), player("b")],
        games: number("games").ok_or_else(|| lacks("games"))? as u64,
        trinomial,
        elo: number("elo"),
        elo_error: number("elo_error"),
        nelo: number("nelo"),
        los: number("los"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_read_and_others_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("match.json");
        let text = r#"{"pentanomial":[1,2,3,4,5],"trinomial":[5,10,15],"games":30,"elo":12.5,"elo_error":30.0,
            "los":0.9,"players":{"a":"new","b":"old"}}"#;
        fs::write(&path, text).unwrap();
        let rows = MatchRow::read(&path).unwrap();
        assert_eq!((rows[0].players[0].as_str(), rows[0].games, rows[0].elo), ("new", 30, Some(12.5)));
        assert_eq!((rows[0].trinomial, rows[0].nelo), (Some([5, 10, 15]), None));
        let swept =
            r#"{"command":"chuhe-match run","output":{"games":2,"elo":null,"players":{"a":"x","b":"y"}}}"#;
        fs::write(&path, swept).unwrap();
        assert_eq!(
            (MatchRow::read(&path).unwrap()[0].games, MatchRow::read(&path).unwrap()[0].elo),
            (2, None)
        );
        for (text, word) in [("{}", "elo"), ("[1", "EOF"), (r#"{"elo":null}"#, "games")] {
            fs::write(&path, text).unwrap();
            let error = MatchRow::read(&path).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("match.json"), "{error}");
        }
    }
}
