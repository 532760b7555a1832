//! What the fuzz targets hold against any input. Each target is one ordinary function from bytes to nothing
//! that panics where a law is broken, so that seeds and crashers can be replayed by an ordinary test; the
//! programs of `fuzz/` only hand them to libFuzzer.

mod exchange;
mod fen;
mod games;
mod moves;
mod net;
mod notation;
mod record;
mod seeds;
#[path = "../../../engine/rules/tests/common/slow.rs"]
#[expect(unreachable_pub, reason = "shared with the tests of the rules")]
mod slow;
mod uci;

pub use exchange::exchange;
pub use fen::fen;
pub use games::{dhtmlxq, games, pgn, xqf};
pub use moves::moves;
pub use net::net;
pub use notation::notation;
pub use record::record;
pub use seeds::{Seed, root, seeds};
pub use uci::uci;

/// A target: its law, called with any bytes.
pub type Law = fn(&[u8]);

/// Every target by its name, which is also that of its program and of its folder of crashers.
pub const TARGETS: &[(&str, Law)] = &[
    ("dhtmlxq", dhtmlxq),
    ("exchange", exchange),
    ("fen", fen),
    ("games", games),
    ("moves", moves),
    ("net", net),
    ("notation", notation),
    ("pgn", pgn),
    ("record", record),
    ("uci", uci),
    ("xqf", xqf),
];

/// An error's text is for a person: no repetition of the whole input, but of 40 characters, which may be escaped.
const LONGEST_MESSAGE: usize = 1500;

fn check_message(error: &dyn std::error::Error) {
    let text = error.to_string();
    assert!(!text.is_empty() && text.len() <= LONGEST_MESSAGE, "{} bytes of message: {text}", text.len());
}
