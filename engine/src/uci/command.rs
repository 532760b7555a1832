//! Reading protocol lines: text to [`Command`], with errors that name the word that was wrong.

use std::path::PathBuf;
use std::str::FromStr;

use xiangqi::Move;

use crate::protocol::{BoardError, FirstRank, GameText, cut};

/// A line that cannot be acted on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The first word is no command.
    #[error("unknown command {found:?}; known are {known}", known = KNOWN)]
    Unknown {
        /// The word, cut to 40 characters.
        found: String,
    },
    /// `position` without `startpos` or `fen`.
    #[error("position: {0}; the old position stays")]
    Position(#[from] BoardError),
    /// `setoption` without a name.
    #[error("setoption: expected \"name NAME\" or \"name NAME value VALUE\", found {found:?}")]
    Option {
        /// What came instead.
        found: String,
    },
    /// `export_net` without a name.
    #[error("export_net: expected a file name after it")]
    NoFile,
    /// A word without the number that belongs to it.
    #[error("{limit}: expected {expected} after it, found {found:?}")]
    Limit {
        /// Which.
        limit: String,
        /// What should follow.
        expected: &'static str,
        /// What came instead.
        found: String,
    },
    /// A word that `go` does not know.
    #[error(
        "go: unknown limit {found:?}; known are depth nodes movetime wtime btime winc binc movestogo mate infinite ponder searchmoves perft"
    )]
    UnknownLimit {
        /// The word.
        found: String,
    },
}

const KNOWN: &str = "uci isready ucinewgame position go stop ponderhit setoption debug d eval flip bench perft speedtest export_net help quit";

/// The limits of a `go` line, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// Plies.
    pub depth: Option<i32>,
    /// Nodes.
    pub nodes: Option<u64>,
    /// Milliseconds for this move.
    pub movetime: Option<u64>,
    /// Red's (White's) and Black's time left, in ms.
    pub time: [Option<u64>; 2],
    /// Their increments, in ms.
    pub increment: [u64; 2],
    /// Moves to the next time control.
    pub moves_to_go: Option<u32>,
    /// Mate in so many moves.
    pub mate: Option<i32>,
    /// Until `stop`.
    pub infinite: bool,
    /// On the opponent's time, until `ponderhit` or `stop`.
    pub ponder: bool,
    /// Only these moves.
    pub search_moves: Vec<Move>,
    /// Count leaves instead of searching.
    pub perft: Option<u32>,
}

/// What a speed test is asked for; `None` where it may choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpeedTest {
    /// Search threads.
    pub threads: Option<usize>,
    /// Size of the table, in MiB.
    pub hash_mib: Option<usize>,
    /// Seconds that it takes about.
    pub seconds: Option<u64>,
}

/// A line of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `uci`
    Uci,
    /// `isready`
    IsReady,
    /// `ucinewgame`
    NewGame,
    /// `position …`; UCI_Cyclone leaves the word out.
    Position(GameText),
    /// `go …`
    Go(Box<Go>),
    /// `stop`
    Stop,
    /// `ponderhit`
    PonderHit,
    /// `setoption name … value …`
    SetOption {
        /// The option's name, words joined by one blank.
        name: String,
        /// Its value; empty for buttons.
        value: String,
    },
    /// `d`: show the position.
    Display,
    /// `eval`
    Eval,
    /// `bench`, with a depth.
    Bench(Option<i32>),
    /// `flip`: change sides.
    Flip,
    /// `speedtest [threads] [hash] [seconds]`
    SpeedTest(SpeedTest),
    /// `export_net FILE`
    ExportNet(PathBuf),
    /// `help`
    Help,
    /// `debug on`, `register …`: understood, and nothing is to be done.
    Nothing,
    /// `quit`
    Quit,
}

/// Reads a line, moves of a search with these ranks; `None` for a blank one.
///
/// # Errors
/// Where it is no command, or one of its words is wrong.
pub fn parse(line: &str, ranks: FirstRank) -> Result<Option<Command>, CommandError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some((&first, rest)) = words.split_first() else { return Ok(None) };
    Ok(Some(match first {
        "uci" | "ucicyclone" => Command::Uci,
        "isready" => Command::IsReady,
        "ucinewgame" => Command::NewGame,
        "position" => Command::Position(GameText::read(rest)?),
        "startpos" | "fen" => Command::Position(GameText::read(&words)?),
        "go" => Command::Go(Box::new(go(rest, ranks)?)),
        "stop" => Command::Stop,
        "ponderhit" => Command::PonderHit,
        "setoption" => set_option(rest, line)?,
        "debug" | "register" => Command::Nothing,
        comment if comment.starts_with('#') => Command::Nothing,
        "d" => Command::Display,
        "eval" => Command::Eval,
        "bench" => Command::Bench(match rest.first() {
            None => None,
            Some(_) => Some(number("bench", rest.first().copied())?),
        }),
        "perft" => Command::Go(Box::new(Go {
            perft: Some(number("perft", rest.first().copied())?),
            ..Go::default()
        })),
        "flip" => Command::Flip,
        "speedtest" => Command::SpeedTest(speed_test(rest)?),
        "export_net" => match after(line, first) {
            "" => return Err(CommandError::NoFile),
            path => Command::ExportNet(path.into()),
        },
        "help" => Command::Help,
        "quit" => Command::Quit,
        other => return Err(CommandError::Unknown { found: cut(other) }),
    }))
}

/// What follows the first standing of `word` in a line, as written: paths may hold runs of blanks.
fn after<'a>(line: &'a str, word: &str) -> &'a str {
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
        let end = rest[start..].find(char::is_whitespace).map_or(rest.len(), |at| start + at);
        if &rest[start..end] == word {
            return rest[end..].trim();
        }
        rest = &rest[end..];
    }
    ""
}

fn set_option(words: &[&str], line: &str) -> Result<Command, CommandError> {
    let wrong = || CommandError::Option { found: cut(&words.join(" ")) };
    let Some((&"name", rest)) = words.split_first() else { return Err(wrong()) };
    let split = rest.iter().position(|&word| word == "value").unwrap_or(rest.len());
    let name = rest[..split].join(" ");
    if name.is_empty() {
        return Err(wrong());
    }
    Ok(Command::SetOption { name, value: after(line, "value").to_owned() })
}

fn speed_test(words: &[&str]) -> Result<SpeedTest, CommandError> {
    let mut numbers = [None; 3];
    for ((number_of, word), name) in numbers.iter_mut().zip(words).zip(["threads", "hash", "seconds"]) {
        *number_of = Some(number::<u64>(&format!("speedtest {name}"), Some(word))?);
    }
    let [threads, hash_mib, seconds] = numbers;
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    Ok(SpeedTest { threads: threads.map(size), hash_mib: hash_mib.map(size), seconds })
}

fn number<T: FromStr>(limit: &str, word: Option<&str>) -> Result<T, CommandError> {
    word.and_then(|word| word.parse().ok()).ok_or_else(|| CommandError::Limit {
        limit: limit.to_owned(),
        expected: "a whole number",
        found: cut(word.unwrap_or("")),
    })
}

/// Clocks may be given as below zero by GUIs that let time run out.
fn clock(limit: &str, word: Option<&str>) -> Result<u64, CommandError> {
    number::<i64>(limit, word).map(|ms| ms.max(0).unsigned_abs())
}

fn go(words: &[&str], ranks: FirstRank) -> Result<Go, CommandError> {
    let mut go = Go::default();
    let mut rest = words.iter().copied().peekable();
    while let Some(word) = rest.next() {
        let limit = format!("go {word}");
        match word {
            "infinite" => go.infinite = true,
            "ponder" => go.ponder = true,
            "depth" => go.depth = Some(number(&limit, rest.next())?),
            "nodes" => go.nodes = Some(number(&limit, rest.next())?),
            "movetime" => go.movetime = Some(clock(&limit, rest.next())?),
            "wtime" => go.time[0] = Some(clock(&limit, rest.next())?),
            "btime" => go.time[1] = Some(clock(&limit, rest.next())?),
            "winc" => go.increment[0] = clock(&limit, rest.next())?,
            "binc" => go.increment[1] = clock(&limit, rest.next())?,
            "movestogo" => go.moves_to_go = Some(number(&limit, rest.next())?),
            "mate" => go.mate = Some(number(&limit, rest.next())?),
            "perft" => go.perft = Some(number(&limit, rest.next())?),
            "searchmoves" => {
                while let Some(mv) = rest.peek().and_then(|word| ranks.read(word).ok()) {
                    go.search_moves.push(mv);
                    rest.next();
                }
                if go.search_moves.is_empty() {
                    return Err(CommandError::Limit {
                        limit: format!("go {word}"),
                        expected: match ranks {
                            FirstRank::Zero => "moves such as h2e2",
                            FirstRank::One => "moves such as h3e3 (First Rank is 1)",
                        },
                        found: cut(rest.peek().copied().unwrap_or("")),
                    });
                }
            }
            other => return Err(CommandError::UnknownLimit { found: cut(other) }),
        }
    }
    Ok(go)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let moves = vec!["h2e2".to_owned(), "h9g7".to_owned()];
        let cases = [
            ("  uci ", Command::Uci),
            ("position startpos", Command::Position(GameText { fen: None, moves: vec![] })),
            (
                "position startpos moves h2e2 h9g7",
                Command::Position(GameText { fen: None, moves: moves.clone() }),
            ),
            (
                "position fen 4k4/9 w moves h2e2 h9g7",
                Command::Position(GameText { fen: Some("4k4/9 w".into()), moves: moves.clone() }),
            ),
            ("startpos moves h2e2 h9g7", Command::Position(GameText { fen: None, moves })),
            ("fen 4k4/9 w", Command::Position(GameText { fen: Some("4k4/9 w".into()), moves: vec![] })),
            (
                "setoption name Repetition Rule value ComputerRule",
                Command::SetOption { name: "Repetition Rule".into(), value: "ComputerRule".into() },
            ),
            (
                "setoption name EvalFile value /a  b/网 络.nnue ",
                Command::SetOption { name: "EvalFile".into(), value: "/a  b/网 络.nnue".into() },
            ),
            ("bench 5", Command::Bench(Some(5))),
            ("export_net a  b.nnue", Command::ExportNet("a  b.nnue".into())),
            (
                "speedtest 2 64",
                Command::SpeedTest(SpeedTest { threads: Some(2), hash_mib: Some(64), seconds: None }),
            ),
            ("# a remark", Command::Nothing),
        ];
        for (line, expected) in cases {
            assert_eq!(parse(line, FirstRank::Zero), Ok(Some(expected)), "{line}");
        }
        assert_eq!(parse("   ", FirstRank::Zero), Ok(None));
    }

    #[test]
    fn limits_are_read() {
        let Ok(Some(Command::Go(go))) = parse(
            "go wtime 1000 btime -20 winc 10 binc 20 movestogo 5 depth 9 nodes 77 mate 3 ponder searchmoves h2e2 b0c2 infinite",
            FirstRank::Zero,
        ) else {
            panic!("a good line")
        };
        assert_eq!((go.time, go.increment, go.moves_to_go), ([Some(1000), Some(0)], [10, 20], Some(5)));
        assert_eq!((go.depth, go.nodes, go.mate), (Some(9), Some(77), Some(3)));
        assert_eq!((go.ponder, go.infinite, go.search_moves.len()), (true, true, 2));
    }

    #[test]
    fn wrong_words_are_named() {
        let cases = [
            ("foo bar", "unknown command \"foo\""),
            ("position", "position: expected startpos or fen"),
            ("go depth x", "go depth: expected a whole number after it, found \"x\""),
            ("go depth", "found \"\""),
            ("go deep 3", "go: unknown limit \"deep\""),
            ("go searchmoves zz", "go searchmoves: expected moves such as h2e2"),
            ("setoption Hash 3", "setoption: expected"),
            ("export_net", "export_net: expected a file name"),
            ("speedtest many", "speedtest threads: expected a whole number after it, found \"many\""),
        ];
        for (line, expected) in cases {
            let error = parse(line, FirstRank::Zero).expect_err(line).to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
