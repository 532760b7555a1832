//! The two languages engines speak, as words: UCI and UCCI 3.0.
//!
//! Inside, moves are `xiangqi::Move` and times milliseconds. On the wire, ranks begin with 0 or 1
//! (Fairy-Stockfish's UCI says `a10a9`), UCCI's clocks are seconds unless `usemillisec` is on, and its
//! position is the one after the last capture. All of that is here and nowhere else.

use std::fmt;
use std::str::FromStr;

use xiangqi::{Color, Game, Move, Position, Score, Square};

use crate::limit::Limit;
use crate::player::Turn;

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Universal chess interface.
    Uci,
    /// Universal Chinese chess protocol (xqbase.com/protocol/cchess_ucci.htm).
    Ucci,
}

impl Protocol {
    /// The greeting, which is its name.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Uci => "uci",
            Protocol::Ucci => "ucci",
        }
    }

    /// The word that ends an engine's introduction.
    pub(crate) const fn ready_word(self) -> &'static str {
        match self {
            Protocol::Uci => "uciok",
            Protocol::Ucci => "ucciok",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no protocol; expected uci or ucci")]
pub struct ProtocolError(String);

impl FromStr for Protocol {
    type Err = ProtocolError;

    fn from_str(text: &str) -> Result<Protocol, ProtocolError> {
        match text {
            "uci" => Ok(Protocol::Uci),
            "ucci" => Ok(Protocol::Ucci),
            _ => Err(ProtocolError(text.chars().take(40).collect())),
        }
    }
}

/// How to talk with one engine, settled when it has introduced itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) protocol: Protocol,
    /// Number of Red's back rank on the wire.
    pub(crate) rank_base: u8,
    /// Clocks in milliseconds (always, in UCI).
    pub(crate) milliseconds: bool,
}

/// What an engine said of itself before its ready word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Introduction {
    pub(crate) name: Option<String>,
    /// Name of the option and the rest of its line.
    pub(crate) options: Vec<(String, String)>,
}

impl Introduction {
    /// Takes in one line; anything unknown is passed over.
    pub(crate) fn read(&mut self, protocol: Protocol, line: &str) {
        if let Some(name) = line.strip_prefix("id name ") {
            self.name = Some(name.trim().to_owned());
        } else if let Some(option) = line.strip_prefix("option ") {
            let option = option.trim();
            let (name, rest) = match protocol {
                Protocol::Uci => {
                    let named = option.strip_prefix("name ").unwrap_or(option);
                    named.split_once(" type ").unwrap_or((named, ""))
                }
                Protocol::Ucci => option.split_once(' ').unwrap_or((option, "")),
            };
            self.options.push((name.trim().to_owned(), rest.to_owned()));
        }
    }

    /// The option of this name, whatever its capitals: its announcement.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, rest)| rest.as_str())
    }

    /// The default that it was announced with: one word.
    pub(crate) fn default_of(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.option(name)?.split_once("default ")?;
        rest.split(' ').next()
    }
}

impl Dialect {
    /// A move as the engine wants it.
    pub(crate) fn write_move(&self, mv: Move) -> String {
        let square =
            |s: Square| format!("{}{}", (b'a' + s.file()) as char, u32::from(s.rank() + self.rank_base));
        square(mv.from()) + &square(mv.to())
    }

    /// A move as the engine says it; `None` if the word is none.
    pub(crate) fn read_move(&self, word: &str) -> Option<Move> {
        let (from, rest) = self.read_square(word.as_bytes())?;
        let (to, rest) = self.read_square(rest)?;
        (rest.is_empty() && from != to).then(|| Move::new(from, to))
    }

    fn read_square<'a>(&self, text: &'a [u8]) -> Option<(Square, &'a [u8])> {
        let (file, rest) = text.split_first()?;
        let file = file.to_ascii_lowercase().checked_sub(b'a')?;
        let digits = rest.iter().take(2).take_while(|b| b.is_ascii_digit()).count();
        let number = std::str::from_utf8(&rest[..digits]).ok()?.parse::<u8>().ok()?;
        Some((Square::at(file, number.checked_sub(self.rank_base)?)?, &rest[digits..]))
    }

    /// The `position` line of a game.
    pub(crate) fn position(&self, game: &Game) -> String {
        let (start, moves) = match self.protocol {
            Protocol::Uci => (game.start().clone(), game.moves().collect()),
            Protocol::Ucci => after_last_capture(game),
        };
        let fen = start.fen();
        let mut line = if fen == xiangqi::fen::START {
            "position startpos".to_owned()
        } else {
            format!("position fen {fen}")
        };
        if !moves.is_empty() {
            line.push_str(" moves");
        }
        for mv in moves {
            line.push(' ');
            line.push_str(&self.write_move(mv));
        }
        line
    }

    /// The `go` line of a turn.
    pub(crate) fn go(&self, turn: &Turn<'_>) -> String {
        match (turn.limit, &turn.clocks) {
            (Limit::Nodes(nodes), _) => format!("go nodes {nodes}"),
            (Limit::Depth(depth), _) => format!("go depth {depth}"),
            (Limit::MoveTime(ms), _) if self.protocol == Protocol::Uci => format!("go movetime {ms}"),
            (Limit::MoveTime(ms), _) => format!("go time {} movestogo 1", self.time(ms)),
            // A clock limit always comes with clocks; without them a side has no time at all.
            (Limit::Clock(_), None) => "go movetime 1".to_owned(),
            (Limit::Clock(control), Some(clocks)) => {
                let (me, increment) = (turn.color(), control.increment_ms);
                let left = |color: Color| clocks.left_ms(color);
                let to_go = clocks.moves_to_go(me);
                match self.protocol {
                    Protocol::Uci => {
                        let to_go = to_go.map_or(String::new(), |n| format!(" movestogo {n}"));
                        let (red, black) = (left(Color::Red), left(Color::Black));
                        format!("go wtime {red} btime {black} winc {increment} binc {increment}{to_go}")
                    }
                    Protocol::Ucci => {
                        let (time, other) = (self.time(left(me)), self.time(left(me.flip())));
                        match to_go {
                            Some(n) => format!("go time {time} movestogo {n} opptime {other}"),
                            None => {
                                let inc = self.time(increment);
                                format!("go time {time} increment {inc} opptime {other} oppincrement {inc}")
                            }
                        }
                    }
                }
            }
        }
    }

    /// A time in the dialect's unit: whole seconds are rounded down, an engine told of none may move
    /// at once.
    fn time(&self, ms: u64) -> u64 {
        if self.milliseconds { ms } else { ms / 1000 }
    }

    /// The line that sets an option; a value of `None` presses a button.
    pub(crate) fn set_option(&self, name: &str, value: Option<&str>) -> String {
        match (self.protocol, value) {
            (Protocol::Uci, Some(value)) => format!("setoption name {name} value {value}"),
            (Protocol::Uci, None) => format!("setoption name {name}"),
            (Protocol::Ucci, Some(value)) => format!("setoption {name} {value}"),
            (Protocol::Ucci, None) => format!("setoption {name}"),
        }
    }
}

/// The position after the last capture, and the moves since (UCCI's way of giving a game).
fn after_last_capture(game: &Game) -> (Position, Vec<Move>) {
    let (mut start, mut moves) = (game.start().clone(), Vec::new());
    let mut position = start.clone();
    for mv in game.moves() {
        let captures = position.piece_on(mv.to()).is_some();
        position.make(mv);
        moves.push(mv);
        if captures {
            start = position.clone();
            moves.clear();
        }
    }
    (start, moves)
}

/// What an engine said while thinking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// Its final answer: the word after `bestmove`.
    Best(String),
    /// It gives up.
    Resigns,
    /// It has no move.
    NoMove,
    /// A report of the best line. `bound`: the score is only a lower or an upper bound.
    Info { score: Option<i32>, bound: bool, nodes: Option<u64> },
    /// Anything else.
    Other,
}

/// Reads a line of a thinking engine, in either protocol.
pub(crate) fn read_line(line: &str) -> Said {
    let mut words = line.split_ascii_whitespace();
    match words.next() {
        Some("nobestmove") => Said::NoMove,
        Some("bestmove") => match words.next() {
            None | Some("(none)" | "0000" | "none" | "null" | "NULL") => Said::NoMove,
            Some("resign") => Said::Resigns,
            Some(_) if words.any(|word| word == "resign") => Said::Resigns,
            Some(word) => Said::Best(word.chars().take(40).collect()),
        },
        Some("info") => read_info(words),
        _ => Said::Other,
    }
}

fn read_info<'a>(mut words: impl Iterator<Item = &'a str>) -> Said {
    let (mut score, mut bound, mut nodes, mut best) = (None, false, None, true);
    // What is neither mate nor win by rule may not look like one.
    let plain = |n: &str| n.parse().ok().map(|n: i32| n.clamp(-Score::EVAL_LIMIT, Score::EVAL_LIMIT));
    while let Some(word) = words.next() {
        match word {
            "string" | "message" | "pv" => break,
            "lowerbound" | "upperbound" => bound = true,
            "multipv" => best = words.next().is_none_or(|line| line == "1"),
            "nodes" => nodes = words.next().and_then(|n| n.parse().ok()),
            "score" => {
                score = match words.next() {
                    Some("cp") => words.next().and_then(plain),
                    Some("mate") => words.next().and_then(|n| n.parse().ok()).map(mate_score),
                    Some(number) => plain(number),
                    None => None,
                }
            }
            _ => {}
        }
    }
    Said::Info { score: score.filter(|_| best), bound, nodes }
}

/// The score of "mate in `moves`" (below zero: being mated; 0: mated now).
fn mate_score(moves: i32) -> i32 {
    let moves = moves.clamp(-1000, 1000);
    if moves > 0 { Score::MATE - (2 * moves - 1) } else { -Score::MATE - 2 * moves }
}

#[cfg(test)]
#[path = "protocol_tests.rs"]
mod tests;
