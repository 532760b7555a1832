//! JSON lines of whole games: everything that a record holds, one game a line.
//!
//! ```text
//! {"number":0,"start":"startpos","opening_plies":2,"moves":"h2e2 h9g7 h0g2 …","scores":[35,…],"not_best":[3],
//!  "skips":[],"outcome":"draw","reason":"draw_adjudication","rules":"competition"}
//! ```
//!
//! A first line may say which record file the games are of ([`FileLine`]): with it the file can be restored byte by
//! byte.

use std::io::BufRead;

use game_files::Place;
use nnue_format::record::{GameRecord, Header, MAX_GAME_PLIES, PlyFlags, PlyRecord, Start};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use xiangqi::judge::RuleSet;
use xiangqi::{Move, Score};

use super::{ExchangeError, Lines, SampleFault};
use crate::plan::hex;

/// The `format` of a first line.
pub const FORMAT: &str = "chuhe-records";

/// The version of the lines.
pub const VERSION: u32 = 1;

/// No line is as long: a plan of 2^20 bytes in hex, or a game of 4096 plies.
const LONGEST_LINE: usize = (1 << 21) + (1 << 16);

/// The first line: the record file that the games are of, and what its header says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileLine {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The file's name, without its folder.
    pub file: String,
    /// SHA-256 of the file, in hex.
    pub sha256: String,
    /// Its games.
    pub games: u64,
    /// Its rule set.
    pub rules: String,
    /// The run's seed.
    pub seed: u64,
    /// Node count of the engine's bench.
    pub engine_signature: u64,
    /// The run's id, in hex.
    pub run_id: String,
    /// SHA-256 of the net, in hex.
    pub net_id: String,
    /// The plan's bytes, in hex.
    pub plan: String,
}

impl FileLine {
    /// The line for a file.
    pub fn new(file: String, sha256: String, games: u64, header: &Header, plan: &[u8]) -> FileLine {
        FileLine {
            format: FORMAT.to_owned(),
            version: VERSION,
            file,
            sha256,
            games,
            rules: header.rules.to_string(),
            seed: header.seed,
            engine_signature: header.engine_signature,
            run_id: hex(&header.run_id),
            net_id: hex(&header.net_id),
            plan: hex(plan),
        }
    }

    /// The header and the plan that it tells of.
    ///
    /// # Errors
    /// Says which field cannot be.
    pub fn header(&self) -> Result<(Header, Vec<u8>), String> {
        if (self.format.as_str(), self.version) != (FORMAT, VERSION) {
            let FileLine { format, version, .. } = self;
            return Err(format!(
                "format {format:?}, version {version}; this program reads {FORMAT:?}, version {VERSION}"
            ));
        }
        let bytes =
            |name, text: &str| unhex(text).ok_or_else(|| format!("{name} {text:?} is no hexadecimal text"));
        let array = |name: &str, length: usize| format!("{name} must have {length} bytes");
        let header = Header {
            rules: self.rules.parse().map_err(|error| format!("{error}"))?,
            seed: self.seed,
            engine_signature: self.engine_signature,
            run_id: bytes("run_id", &self.run_id)?.try_into().map_err(|_| array("run_id", 16))?,
            net_id: bytes("net_id", &self.net_id)?.try_into().map_err(|_| array("net_id", 32))?,
            plan_len: 0,
            plan_crc: 0,
        };
        Ok((header, bytes("plan", &self.plan)?))
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

/// A game as its line has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GameLine {
    number: u64,
    start: Option<String>,
    fen: Option<String>,
    opening_plies: usize,
    moves: String,
    scores: Vec<i32>,
    #[serde(default)]
    not_best: Vec<usize>,
    #[serde(default)]
    skips: Vec<usize>,
    outcome: String,
    reason: String,
    rules: String,
}

/// The line of a game, without its end.
pub fn line_of(game: &GameRecord) -> String {
    let opening = game.opening.len();
    let mut moves = String::with_capacity(5 * game.len());
    for mv in game.moves() {
        if !moves.is_empty() {
            moves.push(' ');
        }
        moves += &mv.to_string();
    }
    let scores: Vec<i32> = game.plies.iter().map(|ply| ply.score.0).collect();
    let places = |has: fn(PlyFlags) -> bool| -> Vec<usize> {
        let plies = game.plies.iter().enumerate();
        plies.filter(|(_, ply)| has(ply.flags)).map(|(i, _)| i + opening).collect()
    };
    let (key, start) = match &game.start {
        Start::Standard => ("start", "startpos"),
        Start::Fen(fen) => ("fen", fen.as_str()),
    };
    let value = json!({
        "number": game.number,
        key: start,
        "opening_plies": opening,
        "moves": moves,
        "scores": scores,
        "not_best": places(PlyFlags::is_not_best),
        "skips": places(PlyFlags::is_skipped),
        "outcome": game.outcome.word(),
        "reason": game.reason.word(),
        "rules": game.rules.to_string(),
    });
    value.to_string()
}

impl GameLine {
    fn game(self) -> Result<GameRecord, (SampleFault, String)> {
        let unreadable = |why: String| (SampleFault::Unreadable, why);
        let start = match (self.start.as_deref(), self.fen) {
            (Some("startpos"), None) => Start::Standard,
            (None, Some(fen)) => Start::Fen(fen),
            _ => {
                return Err(unreadable("expected either \"start\":\"startpos\" or \"fen\":\"…\"".to_owned()));
            }
        };
        let rules: RuleSet = self.rules.parse().map_err(|error| unreadable(format!("{error}")))?;
        let moves = legal_moves(&start, &self.moves)?;
        let (plies, scored) = (moves.len(), self.scores.len());
        if plies != self.opening_plies.saturating_add(scored) {
            let opening = self.opening_plies;
            let why = format!("{plies} moves, but {opening} opening plies and {scored} scores");
            return Err((SampleFault::Inconsistent, why));
        }
        let mut flags = vec![PlyFlags::NONE; scored];
        for (places, flag) in [(&self.not_best, PlyFlags::NOT_BEST), (&self.skips, PlyFlags::SKIP)] {
            for &ply in places {
                let place = ply.checked_sub(self.opening_plies).and_then(|ply| flags.get_mut(ply));
                let place = place.ok_or_else(|| {
                    (
                        SampleFault::Inconsistent,
                        format!("ply {ply} has a flag and no score; plies are counted from 0"),
                    )
                })?;
                *place = place.with(flag);
            }
        }
        if let Some(score) = self.scores.iter().find(|score| score.unsigned_abs() > Score::MATE as u32) {
            return Err((SampleFault::Score, format!("score {score} is beyond ±{}", Score::MATE)));
        }
        let (opening, rest) = moves.split_at(self.opening_plies);
        let scored = rest.iter().zip(&self.scores).zip(flags);
        Ok(GameRecord {
            number: self.number,
            start,
            opening: opening.to_vec(),
            plies: scored
                .map(|((&mv, &score), flags)| PlyRecord { mv, score: Score(score), flags })
                .collect(),
            outcome: self.outcome.parse().map_err(unreadable)?,
            reason: self.reason.parse().map_err(unreadable)?,
            rules,
        })
    }
}

/// The moves of a line, each legal where it is played.
fn legal_moves(start: &Start, text: &str) -> Result<Vec<Move>, (SampleFault, String)> {
    let mut position = start.position().map_err(|error| (SampleFault::Position, error.to_string()))?;
    let mut moves = Vec::new();
    for (ply, word) in text.split_ascii_whitespace().enumerate() {
        let mv: Move =
            word.parse().map_err(|error| (SampleFault::Unreadable, format!("ply {ply}: {error}")))?;
        if let Some(why) = position.why_illegal(mv) {
            return Err((SampleFault::Illegal, format!("ply {ply}: {mv}: {why} in {}", position.fen())));
        }
        if ply == MAX_GAME_PLIES {
            return Err((SampleFault::Inconsistent, format!("more than {MAX_GAME_PLIES} plies")));
        }
        position.make(mv);
        moves.push(mv);
    }
    Ok(moves)
}

/// What a line can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// The first line.
    File(Box<FileLine>),
    /// A game, and the line it stands in.
    Game(Box<GameRecord>, Place),
}

/// Does a text begin like these lines? Other JSON lines of games have neither key.
pub fn looks_like(begin: &str) -> bool {
    let first = begin.trim_start_matches('\u{feff}').lines().map(str::trim).find(|line| !line.is_empty());
    first.is_some_and(|line| {
        line.starts_with('{') && (line.contains("\"opening_plies\"") || line.contains(&format!("{FORMAT:?}")))
    })
}

/// Reads lines.
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    done: bool,
}

impl<R: BufRead> Reader<R> {
    /// The games of a text.
    pub fn new(source: R) -> Reader<R> {
        Reader { lines: Lines::new(source, LONGEST_LINE), done: false }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Item, ExchangeError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.done {
                return None;
            }
            let line = match self.lines.next()? {
                Ok("") => continue,
                Ok(line) => line.to_owned(),
                Err(error) => {
                    let error = ExchangeError::from(error);
                    self.done = matches!(error, ExchangeError::Io { .. });
                    return Some(Err(error));
                }
            };
            let place = Place::Line(self.lines.number());
            return Some(
                item(&line, place).map_err(|(kind, why)| ExchangeError::new(kind, place, &line, why)),
            );
        }
    }
}

fn item(line: &str, place: Place) -> Result<Item, (SampleFault, String)> {
    let unreadable =
        |error: serde_json::Error| (SampleFault::Unreadable, format!("no game of a record: {error}"));
    if line.starts_with("{\"format\"") {
        return serde_json::from_str(line).map(|file| Item::File(Box::new(file))).map_err(unreadable);
    }
    let game: GameLine = serde_json::from_str(line).map_err(unreadable)?;
    Ok(Item::Game(Box::new(game.game()?), place))
}

/// A first line as JSON.
///
/// # Errors
/// When it cannot be coded, which its fields rule out.
pub fn file_line(file: &FileLine) -> serde_json::Result<String> {
    serde_json::to_value(file).map(|value: Value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME: &str = r#"{"number":7,"start":"startpos","opening_plies":1,"moves":"h2e2 h9g7","scores":[-3],"not_best":[1],"skips":[],"outcome":"draw","reason":"stated","rules":"competition"}"#;

    #[test]
    fn a_game_both_ways() {
        let Ok(Item::Game(game, _)) = item(GAME, Place::Line(1)) else { panic!("a game") };
        assert_eq!(line_of(&game), GAME);
        assert_eq!((game.number, game.opening.len(), game.plies[0].flags), (7, 1, PlyFlags::NOT_BEST));
    }

    #[test]
    fn what_is_no_game() {
        let cases = [
            ("\"number\":7", "\"number\":-7", SampleFault::Unreadable),
            ("\"start\":\"startpos\"", "\"start\":\"startpos\",\"fen\":\"x\"", SampleFault::Unreadable),
            ("\"start\":\"startpos\"", "\"fen\":\"9/9 w\"", SampleFault::Position),
            ("h9g7", "h9h8", SampleFault::Illegal),
            ("h9g7", "h9g7 h0g2", SampleFault::Inconsistent),
            ("[-3]", "[-32001]", SampleFault::Score),
            ("\"not_best\":[1]", "\"not_best\":[0]", SampleFault::Inconsistent),
            ("\"not_best\":[1]", "\"not_best\":[2]", SampleFault::Inconsistent),
            ("draw", "drawn", SampleFault::Unreadable),
            ("competition", "house", SampleFault::Unreadable),
            ("\"skips\"", "\"skipped\"", SampleFault::Unreadable),
        ];
        for (from, to, kind) in cases {
            let text = GAME.replacen(from, to, 1);
            let found = item(&text, Place::Line(1)).expect_err(&text);
            assert_eq!(found.0, kind, "{text}: {}", found.1);
        }
    }
}
