//! Texts from anywhere give a value or an error, never a panic, and a value keeps its laws: noise, real texts
//! with a few bytes changed, two real texts spliced, and storms of characters that notations are made of.

mod common;

use common::slow::Slow;
use common::{Chance, amount, random_position};
use serde_json::Value;
use xiangqi::{Game, Move, Position, Setup, notation};

/// What a byte is changed into, half the time: characters that mean something in a FEN or a move.
const TELLING: &[u8] = b"/wbr-rnRNhEkKpP0123456789 ;[]\t";

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
        let telling = TELLING[chance.below(TELLING.len())];
        match chance.below(4) {
            0 => bytes[at] = chance.next() as u8,
            1 => bytes[at] = telling,
            2 => drop(bytes.remove(at)),
            _ => bytes.insert(at, telling),
        }
    }
    bytes
}

fn spliced(a: &str, b: &str, chance: &mut Chance) -> Vec<u8> {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    [&a[..chance.below(a.len() + 1)], &b[chance.below(b.len() + 1)..]].concat()
}

fn attack(times: usize, seed: u64, samples: &[String], mut read: impl FnMut(&str)) {
    let mut chance = Chance(seed);
    for _ in 0..times {
        let (a, b) = (chance.below(samples.len()), chance.below(samples.len()));
        let bytes = match chance.below(4) {
            0 => noise(&mut chance),
            1 => spliced(&samples[a], &samples[b], &mut chance),
            _ => damaged(&samples[a], &mut chance),
        };
        read(&String::from_utf8_lossy(&bytes));
    }
}

/// Every FEN of the vectors, good and bad.
fn fen_samples() -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/vectors/fen.json");
    let cases: Value = serde_json::from_str(&std::fs::read_to_string(path).expect(path)).expect(path);
    let inputs = cases.as_array().expect("a list").iter().filter_map(|case| case["input"].as_str());
    inputs.map(str::to_owned).collect()
}

#[test]
fn fens() {
    let (mut accepted, mut refused) = (0, 0);
    let mut chance = Chance(15);
    let random = (0..100).map(|_| random_position(&mut chance).fen());
    let samples: Vec<String> = fen_samples().into_iter().chain(random).collect();
    attack(amount(400_000), 10, &samples, |text| {
        match Setup::from_fen(text) {
            Ok(setup) => assert_eq!(Setup::from_fen(&setup.fen()), Ok(setup), "{text:?}"),
            Err(error) => assert!(error.to_string().len() < 400, "the message repeats the input: {error}"),
        }
        let Ok(position) = Position::from_fen(text) else { return refused += 1 };
        accepted += 1;
        assert_eq!(Position::from_fen(&position.fen()).as_ref(), Ok(&position), "{text:?}");
        let mut moves: Vec<String> = position.legal_moves().iter().map(Move::to_string).collect();
        moves.sort();
        assert_eq!(moves, Slow::new(&position.to_setup()).legal_moves(), "{position:?}");
    });
    assert!(accepted > refused / 200 && refused > accepted / 200, "{accepted} accepted, {refused} refused");
}

#[test]
fn move_lists() {
    let mut played = 0;
    let lines = ["h2e2 h9g7 h0g2 i9h9 i0h0 b9c7 c3c4 g6g5", "b2e2 b9c7 b0c2 a9b9"].map(str::to_owned);
    attack(amount(200_000), 11, &lines, |text| {
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

/// Characters of every notation, and some that only look like them.
const OF_MOVES: &str = "车車俥马馬傌炮砲包帅帥将將士仕相象兵卒前中后後进進退平一二三四五六七八九〇十0123456789１２５９\
                        KABNRCPHEkabnrcphedfgi+-=.＋－＝．–— \u{3000}x🙂";

/// A text that is read means a legal move, leniently the same one, and is refused with a short message.
fn check_text(position: &Position, text: &str) -> bool {
    let strict = notation::parse(position, text);
    let lenient = notation::parse_lenient(position, text);
    if strict.is_ok() {
        assert_eq!(strict, lenient, "{text:?} in {position:?}");
    }
    match lenient {
        Ok(mv) => assert_eq!(position.why_illegal(mv), None, "{text:?} in {position:?}"),
        Err(ref error) => assert!(error.to_string().len() < 400, "{error}"),
    }
    lenient.is_ok()
}

#[test]
fn damaged_notations() {
    let mut chance = Chance(12);
    for round in 0..amount(2_000) {
        let position = random_position(&mut chance);
        let texts =
            |&mv: &Move| [notation::iccs(mv), notation::chinese(&position, mv), notation::wxf(&position, mv)];
        let samples: Vec<String> = position.legal_moves().iter().flat_map(texts).collect();
        if !samples.is_empty() {
            attack(100, round as u64, &samples, |text| {
                check_text(&position, text);
            });
        }
    }
}

#[test]
fn storms_of_characters() {
    let alphabet: Vec<char> = OF_MOVES.chars().collect();
    let mut chance = Chance(13);
    let mut read = 0;
    for _ in 0..amount(5_000) {
        let position = random_position(&mut chance);
        for _ in 0..100 {
            let len = if chance.below(8) > 0 { 4 } else { chance.below(9) };
            let text: String = (0..len).map(|_| alphabet[chance.below(alphabet.len())]).collect();
            read += usize::from(check_text(&position, &text));
        }
    }
    assert!(read > 0, "no storm made a move");
}

/// All 8,010 pairs of squares: what is read is what is legal.
#[test]
fn every_pair_of_squares() {
    let mut chance = Chance(14);
    for _ in 0..amount(300) {
        let position = random_position(&mut chance);
        let legal = position.legal_moves();
        for (from, to) in xiangqi::Square::all().flat_map(|a| xiangqi::Square::all().map(move |b| (a, b))) {
            let mv = Move::new(from, to);
            for text in [notation::uci(mv), notation::iccs(mv)] {
                let read = notation::parse(&position, &text).ok();
                assert_eq!(read, legal.contains(&mv).then_some(mv), "{text} in {position:?}");
            }
        }
    }
}
