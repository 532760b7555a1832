//! Texts from anywhere give a value or an error, never a panic: 200,000 of each kind in the full
//! run, half of them noise and half of them real texts with a few bytes changed.

mod common;

use common::{Chance, amount};
use xiangqi::{Game, Move, Position, Setup, notation};

fn noise(chance: &mut Chance) -> Vec<u8> {
    let len = chance.below(120);
    (0..len).map(|_| chance.next() as u8).collect()
}

fn damaged(text: &str, chance: &mut Chance) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + chance.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = chance.below(bytes.len());
        match chance.below(4) {
            0 => bytes[at] = chance.next() as u8,
            1 => bytes[at] = b"/wb-rnRNkKpP0123456789 "[chance.below(23)],
            2 => drop(bytes.remove(at)),
            _ => bytes.insert(at, b"/wb-rnRNkKpP0123456789 "[chance.below(23)]),
        }
    }
    bytes
}

fn attack(times: usize, seed: u64, sample: &str, mut read: impl FnMut(&str)) {
    let mut chance = Chance(seed);
    for i in 0..times {
        let bytes = if i % 2 == 0 { noise(&mut chance) } else { damaged(sample, &mut chance) };
        read(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn fens() {
    let mut accepted = 0;
    attack(amount(200_000), 10, xiangqi::fen::START, |text| {
        if let Ok(setup) = Setup::from_fen(text) {
            assert_eq!(Setup::from_fen(&setup.fen()).as_ref(), Ok(&setup), "{text:?}");
        }
        if let Ok(position) = Position::from_fen(text) {
            accepted += 1;
            assert_eq!(Position::from_fen(&position.fen()).as_ref(), Ok(&position), "{text:?}");
            let _ = position.legal_count();
        }
    });
    assert!(accepted > 0, "damage never left a position");
}

#[test]
fn move_lists() {
    let mut played = 0;
    let line = "h2e2 h9g7 h0g2 i9h9 i0h0 b9c7 c3c4 g6g5";
    attack(amount(200_000), 11, line, |text| {
        let mut game = Game::new(Position::start());
        for word in text.split_whitespace() {
            let Ok(mv) = word.parse::<Move>() else { break };
            if game.try_play(mv).is_err() {
                break;
            }
            played += 1;
        }
    });
    assert!(played > 0, "damage never left a move");
}

#[test]
fn notations() {
    let position = Position::start();
    attack(amount(200_000), 12, "炮二平五", |text| {
        let _ = notation::parse(&position, text);
    });
}
