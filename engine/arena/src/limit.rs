//! What a player may spend on its moves, and the clocks that keep it.

use std::fmt;
use std::str::FromStr;

use xiangqi::Color;

/// The limit of every move of a match; the same for both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Nodes a move.
    Nodes(u64),
    /// Plies of iterative deepening a move.
    Depth(u32),
    /// Milliseconds a move.
    MoveTime(u64),
    /// A clock for the game.
    Clock(TimeControl),
}

impl Limit {
    /// Does time decide games under this limit? (Then no two runs are the same.)
    pub fn is_timed(&self) -> bool {
        matches!(self, Limit::MoveTime(_) | Limit::Clock(_))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Nodes(n) => write!(f, "{n} nodes"),
            Limit::Depth(n) => write!(f, "depth {n}"),
            Limit::MoveTime(ms) => write!(f, "{ms} ms a move"),
            Limit::Clock(tc) => write!(f, "tc {tc}"),
        }
    }
}

/// A time control: `[moves/]base[+increment]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeControl {
    /// Moves after which the base time is added again; `None` for the whole game.
    pub moves: Option<u32>,
    /// Base time in ms.
    pub base_ms: u64,
    /// Added after each move, in ms.
    pub increment_ms: u64,
}

/// A text that is no time control.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{found:?} is no time control; expected [MOVES/]BASE[+INCREMENT] in seconds, as in 10+0.1, 40/60 or 1:30+0.5, at least 1 ms"
)]
pub struct TimeControlError {
    found: String,
}

impl FromStr for TimeControl {
    type Err = TimeControlError;

    fn from_str(text: &str) -> Result<TimeControl, TimeControlError> {
        parse_time_control(text)
            .filter(|tc| tc.base_ms + tc.increment_ms > 0 && tc.moves != Some(0))
            .ok_or_else(|| TimeControlError { found: text.chars().take(40).collect() })
    }
}

fn parse_time_control(text: &str) -> Option<TimeControl> {
    let (moves, rest) = match text.split_once('/') {
        Some((moves, rest)) => (Some(moves.parse().ok()?), rest),
        None => (None, text),
    };
    let (base, increment) = rest.split_once('+').unwrap_or((rest, "0"));
    let base_ms = match base.split_once(':') {
        Some((minutes, seconds)) => whole(minutes)? * 60_000 + milliseconds(seconds)?,
        None => milliseconds(base)?,
    };
    Some(TimeControl { moves, base_ms, increment_ms: milliseconds(increment)? })
}

/// Digits alone, up to a million.
fn whole(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.len() <= 7 && text.bytes().all(|b| b.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Seconds with up to three decimals, as milliseconds.
fn milliseconds(text: &str) -> Option<u64> {
    let (seconds, decimals) = text.split_once('.').unwrap_or((text, ""));
    let seconds = if seconds.is_empty() && !decimals.is_empty() { 0 } else { whole(seconds)? };
    let decimals = match decimals.len() {
        0 => 0,
        n @ 1..=3 => whole(decimals)? * 10u64.pow(3 - n as u32),
        _ => return None,
    };
    Some(seconds * 1000 + decimals)
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |ms: u64| match ms % 1000 {
            0 => format!("{}", ms / 1000),
            rest => format!("{}.{rest:03}", ms / 1000).trim_end_matches('0').to_owned(),
        };
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        write!(f, "{}+{}", seconds(self.base_ms), seconds(self.increment_ms))
    }
}

/// The clocks of one game, kept by us: an engine's own idea of its time counts for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    control: TimeControl,
    left_ms: [u64; 2],
    moves_made: [u32; 2],
}

impl Clocks {
    /// Full clocks.
    pub fn new(control: TimeControl) -> Clocks {
        Clocks { control, left_ms: [control.base_ms; 2], moves_made: [0; 2] }
    }

    /// Time left on a side's clock, in ms.
    pub fn left_ms(&self, color: Color) -> u64 {
        self.left_ms[color.index()]
    }

    /// What the clocks run by.
    pub fn control(&self) -> TimeControl {
        self.control
    }

    /// Moves a side has to make before time is added.
    pub fn moves_to_go(&self, color: Color) -> Option<u32> {
        self.control.moves.map(|moves| moves - self.moves_made[color.index()] % moves)
    }

    /// A side moved after `used_ms`. Beyond its time a side has the margin; what it takes of that is
    /// forgiven, not stored up.
    pub fn press(&mut self, color: Color, used_ms: u64) {
        let i = color.index();
        self.left_ms[i] = self.left_ms[i].saturating_sub(used_ms) + self.control.increment_ms;
        self.moves_made[i] += 1;
        if self.control.moves.is_some_and(|moves| self.moves_made[i].is_multiple_of(moves)) {
            self.left_ms[i] += self.control.base_ms;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_controls_are_read() {
        let check = |text: &str, expected: Option<(Option<u32>, u64, u64)>| {
            let tc = text.parse::<TimeControl>().ok();
            assert_eq!(tc.map(|tc| (tc.moves, tc.base_ms, tc.increment_ms)), expected, "{text}");
            if let Some(tc) = tc {
                assert_eq!(tc.to_string().parse(), Ok(tc), "{text} printed as {tc}");
            }
        };
        check("10+0.1", Some((None, 10_000, 100)));
        check("10", Some((None, 10_000, 0)));
        check("40/60+0.5", Some((Some(40), 60_000, 500)));
        check("1:30+1", Some((None, 90_000, 1000)));
        check("0.25+.05", Some((None, 250, 50)));
        check("0+1", Some((None, 0, 1000)));
        for text in
            ["", "0", "0+0", "x", "-1", "1+-1", "0/10", "10+", "1.2345", "+1", "99999999999", "1:", "."]
        {
            check(text, None);
        }
    }

    #[test]
    fn clocks_run() {
        let mut clocks = Clocks::new(TimeControl { moves: Some(2), base_ms: 1000, increment_ms: 10 });
        assert_eq!(clocks.moves_to_go(Color::Red), Some(2));
        clocks.press(Color::Red, 300);
        assert_eq!((clocks.left_ms(Color::Red), clocks.moves_to_go(Color::Red)), (710, Some(1)));
        clocks.press(Color::Red, 800);
        assert_eq!((clocks.left_ms(Color::Red), clocks.moves_to_go(Color::Red)), (1010, Some(2)));
        assert_eq!(clocks.left_ms(Color::Black), 1000);
    }
}
