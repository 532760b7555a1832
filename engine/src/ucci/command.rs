//! Reading UCCI lines: text to [`Command`], with errors that name the word that was wrong.

use crate::protocol::{BoardError, GameText, cut};

/// A line that cannot be acted on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The first word is no command.
    #[error("unknown command {found:?}; known are {KNOWN}")]
    Unknown {
        /// The word, cut to 40 characters.
        found: String,
    },
    /// Neither `startpos` nor `fen`.
    #[error("{command}: {error}")]
    Board {
        /// `position` or `probe`.
        command: &'static str,
        /// What is wrong.
        error: BoardError,
    },
    /// A word without the number that belongs to it.
    #[error("go {word}: expected {expected} after it, found {found:?}")]
    Number {
        /// Which.
        word: String,
        /// What should follow.
        expected: &'static str,
        /// What came instead.
        found: String,
    },
    /// A word that `go` does not know.
    #[error("go: unknown word {found:?}; known are {GO_WORDS}")]
    GoWord {
        /// The word.
        found: String,
    },
    /// Two that do not go together.
    #[error(
        "go: ponder and draw exclude each other; a draw is offered to a pondering engine by ponderhit draw"
    )]
    PonderAndDraw,
}

const KNOWN: &str = "ucci isready setoption position banmoves go stop ponderhit probe quit";
const GO_WORDS: &str = "ponder draw depth nodes time movestogo increment opptime oppmovestogo oppincrement";

/// How a search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// After so many plies; 0: the evaluation alone.
    Depth(i32),
    /// When a mate is found, or by `stop`.
    Infinite,
    /// After so many nodes.
    Nodes(u64),
    /// By the clock, in the unit that `usemillisec` names.
    Time {
        /// Time left.
        left: u64,
        /// Moves to the next time control.
        moves_to_go: Option<u32>,
        /// Time added after each move.
        increment: u64,
    },
}

/// A `go` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Go {
    /// The clock stands until `ponderhit`.
    pub ponder: bool,
    /// The opponent offers a draw.
    pub draw: bool,
    /// How it ends.
    pub mode: Mode,
    /// A clock beside a depth or a number of nodes, which some clients give together: what comes first ends the search.
    pub beside: Option<Mode>,
}

/// A line of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `ucci`
    Ucci,
    /// `isready`
    IsReady,
    /// `setoption NAME [VALUE]`
    SetOption {
        /// The option's name, one word.
        name: String,
        /// Its value; empty for buttons.
        value: String,
    },
    /// `position …`
    Position(GameText),
    /// `banmoves M…`
    BanMoves(Vec<String>),
    /// `go …`
    Go(Go),
    /// `stop`
    Stop,
    /// `ponderhit [draw]`
    PonderHit {
        /// The opponent offers a draw.
        draw: bool,
    },
    /// `probe …`
    Probe(GameText),
    /// `quit`
    Quit,
}

/// Reads a line; `None` for a blank one.
///
/// # Errors
/// Where it is no command, or one of its words is wrong.
pub fn parse(line: &str) -> Result<Option<Command>, CommandError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some((&first, rest)) = words.split_first() else { return Ok(None) };
    let board = |command| GameText::read(rest).map_err(|error| CommandError::Board { command, error });
    Ok(Some(match first {
        "ucci" => Command::Ucci,
        "isready" => Command::IsReady,
        "setoption" => set_option(line),
        "uccinewgame" => Command::SetOption { name: "newgame".to_owned(), value: String::new() },
        "position" => Command::Position(board("position")?),
        "banmoves" => Command::BanMoves(rest.iter().map(|&word| word.to_owned()).collect()),
        "go" => Command::Go(go(rest)?),
        "stop" => Command::Stop,
        "ponderhit" => Command::PonderHit { draw: rest.first() == Some(&"draw") },
        "probe" => Command::Probe(board("probe")?),
        "quit" => Command::Quit,
        other => return Err(CommandError::Unknown { found: cut(other) }),
    }))
}

/// The second word is the name, all that follows it the value, as written. UCI's form (`setoption name N value V`),
/// which some clients send in UCCI too, means the same: no option has the name `name`.
fn set_option(line: &str) -> Command {
    let rest = line.trim_start().strip_prefix("setoption").unwrap_or("").trim();
    let first = |text: &str| {
        let (word, after) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        (word.to_owned(), after.trim().to_owned())
    };
    let (name, value) = match first(rest) {
        (word, after) if word == "name" => first(&after),
        plain => plain,
    };
    let value = match first(&value) {
        (word, after) if word == "value" => after,
        _ => value,
    };
    Command::SetOption { name, value }
}

/// A number at or above zero; clocks that have run out may be given as below it.
fn number(word: &str, found: Option<&str>) -> Result<u64, CommandError> {
    let parsed = found.and_then(|text| text.parse::<i64>().ok());
    parsed.map(|n| n.max(0).unsigned_abs()).ok_or_else(|| CommandError::Number {
        word: word.to_owned(),
        expected: "a whole number",
        found: cut(found.unwrap_or("")),
    })
}

fn depth(found: Option<&str>) -> Result<Mode, CommandError> {
    match found {
        Some("infinite") => Ok(Mode::Infinite),
        Some(text) if text.parse::<u32>().is_ok() => Ok(Mode::Depth(text.parse().unwrap_or(i32::MAX))),
        _ => Err(CommandError::Number {
            word: "depth".to_owned(),
            expected: "a whole number or infinite",
            found: cut(found.unwrap_or("")),
        }),
    }
}

fn go(words: &[&str]) -> Result<Go, CommandError> {
    let (mut ponder, mut draw) = (false, false);
    let (mut mode, mut left, mut moves_to_go, mut increment) = (None, None, None, 0);
    let mut rest = words.iter().copied();
    while let Some(word) = rest.next() {
        match word {
            "ponder" => ponder = true,
            "draw" => draw = true,
            "infinite" => mode = Some(Mode::Infinite),
            "depth" => mode = Some(depth(rest.next())?),
            "nodes" => mode = Some(Mode::Nodes(number(word, rest.next())?)),
            "time" => left = Some(number(word, rest.next())?),
            "increment" => increment = number(word, rest.next())?,
            "movestogo" => {
                moves_to_go = Some(u32::try_from(number(word, rest.next())?).unwrap_or(u32::MAX));
            }
            // The opponent's clock changes nothing here.
            "opptime" | "oppmovestogo" | "oppincrement" => {
                number(word, rest.next())?;
            }
            other => return Err(CommandError::GoWord { found: cut(other) }),
        }
    }
    if ponder && draw {
        return Err(CommandError::PonderAndDraw);
    }
    let clock = left.map(|left| Mode::Time { left, moves_to_go, increment });
    let (mode, beside) = match mode {
        Some(mode @ (Mode::Depth(_) | Mode::Nodes(_))) => (mode, clock),
        Some(mode) => (mode, None),
        None => (clock.unwrap_or(Mode::Infinite), None),
    };
    Ok(Go { ponder: ponder && clock.is_some(), draw, mode, beside })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(line: &str) -> Go {
        match parse(line) {
            Ok(Some(Command::Go(go))) => go,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn thinking_modes_are_read() {
        let plain = |mode| Go { ponder: false, draw: false, mode, beside: None };
        let time = |left, moves_to_go, increment| Mode::Time { left, moves_to_go, increment };
        for (line, mode) in [
            ("go", Mode::Infinite),
            ("go depth infinite", Mode::Infinite),
            ("go depth 0", Mode::Depth(0)),
            ("go depth 9", Mode::Depth(9)),
            ("go depth 4000000000", Mode::Depth(i32::MAX)),
            ("go nodes 1000", Mode::Nodes(1000)),
            ("go time 300", time(300, None, 0)),
            ("go time 300 increment 5 opptime 200 oppincrement 5", time(300, None, 5)),
            ("go time 300 movestogo 40 opptime 200 oppmovestogo 39", time(300, Some(40), 0)),
            ("go time -20 increment 5", time(0, None, 5)),
        ] {
            assert_eq!(limits(line), plain(mode), "{line}");
        }
        assert_eq!(
            limits("go draw time 60 increment 0"),
            Go { ponder: false, draw: true, mode: time(60, None, 0), beside: None }
        );
        for line in ["go time 60 depth 9", "go depth 9 time 60"] {
            assert_eq!(
                limits(line),
                Go { beside: Some(time(60, None, 0)), ..plain(Mode::Depth(9)) },
                "{line}"
            );
        }
        assert_eq!(limits("go time 60 depth infinite"), plain(Mode::Infinite));
        assert!(limits("go ponder time 60 increment 0").ponder);
        assert!(!limits("go ponder depth 5").ponder, "pondering needs a clock");
    }

    #[test]
    fn lines_are_read() {
        let startpos = GameText { fen: None, moves: vec!["h2e2".to_owned()] };
        let option = |name: &str, value: &str| Command::SetOption { name: name.into(), value: value.into() };
        for (line, expected) in [
            ("ucci", Command::Ucci),
            ("setoption usemillisec true", option("usemillisec", "true")),
            ("setoption newgame", option("newgame", "")),
            (" setoption  evalfile  /a  b.nnue ", option("evalfile", "/a  b.nnue")),
            ("setoption", option("", "")),
            ("setoption name usemillisec value true", option("usemillisec", "true")),
            ("setoption name newgame", option("newgame", "")),
            ("setoption evalfile value  a  b.nnue", option("evalfile", "a  b.nnue")),
            ("position startpos moves h2e2", Command::Position(startpos.clone())),
            ("probe startpos moves h2e2", Command::Probe(startpos)),
            ("banmoves h2e2 b0c2", Command::BanMoves(vec!["h2e2".into(), "b0c2".into()])),
            ("ponderhit", Command::PonderHit { draw: false }),
            ("ponderhit draw", Command::PonderHit { draw: true }),
        ] {
            assert_eq!(parse(line), Ok(Some(expected)), "{line}");
        }
        assert_eq!(parse("  \t"), Ok(None));
    }

    #[test]
    fn wrong_words_are_named() {
        for (line, expected) in [
            ("uci2", "unknown command \"uci2\""),
            ("position", "position: expected startpos or fen, found \"\""),
            ("probe here", "probe: expected startpos or fen, found \"here\""),
            ("go depth", "go depth: expected a whole number or infinite after it, found \"\""),
            ("go depth -1", "found \"-1\""),
            ("go nodes many", "go nodes: expected a whole number after it, found \"many\""),
            ("go wtime 5", "go: unknown word \"wtime\""),
            ("go ponder draw time 5", "ponder and draw exclude each other"),
        ] {
            let error = parse(line).expect_err(line).to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
