//! Every notation of the vectors, both ways; text → move → text on random positions; the dialects of
//! game files.

mod common;

use common::{Chance, amount, random_position};
use serde_json::Value;
use xiangqi::notation::{self, Unread, parse, parse_lenient};
use xiangqi::{Game, Move, Position};

fn position(case: &Value) -> Position {
    Position::from_fen(case["fen"].as_str().expect("fen")).expect("a position")
}

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/vectors/notation.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect(path)).expect(path)
}

#[test]
fn every_move() {
    let vectors = vectors();
    let cases = vectors["moves"].as_array().expect("moves");
    assert!(cases.len() >= 114);
    for case in cases {
        let (id, position) = (&case["id"], position(case));
        let text = |field: &str| case[field].as_str().expect(field).to_owned();
        let mv = text("uci").parse().expect("a move");
        assert_eq!(notation::uci(mv), text("uci"), "{id}");
        assert_eq!(notation::iccs(mv), text("iccs"), "{id}");
        assert_eq!(notation::chinese(&position, mv), text("chinese"), "{id}");
        assert_eq!(notation::wxf(&position, mv), text("wxf"), "{id}");
        let also = case["also"].as_array().expect("also").iter();
        let also = also.map(|v| v.as_str().expect("text").to_owned());
        for spelling in also.chain(["uci", "iccs", "chinese", "wxf"].map(text)) {
            assert_eq!(parse(&position, &spelling), Ok(mv), "{id}: {spelling}");
            assert_eq!(parse_lenient(&position, &spelling), Ok(mv), "{id}: {spelling}");
        }
    }
}

#[test]
fn every_refusal() {
    let vectors = vectors();
    let cases = vectors["reject"].as_array().expect("reject");
    assert!(cases.len() >= 18);
    for case in cases {
        let (id, why) = (&case["id"], &case["why"]);
        let text = case["text"].as_str().expect("text");
        assert!(parse(&position(case), text).is_err(), "{id}: {text} ({why})");
        if case["policy"].is_null() {
            assert!(parse_lenient(&position(case), text).is_err(), "{id}, leniently: {text} ({why})");
        }
    }
}

/// Every variant spelling of one text: characters, widths, cases and signs that mean the same.
fn spellings(text: &str) -> Vec<String> {
    let wxf = text.len() == 4;
    let variants = |c: char| -> Vec<char> {
        let wide = |c: char| char::from_u32(c as u32 + 0xfee0).expect("a full-width form");
        match c {
            '车' => vec!['車', '俥'],
            '马' => vec!['馬', '傌'],
            '炮' => vec!['砲', '包'],
            '帅' | '将' => vec!['帥', '將', '帅', '将'],
            '仕' | '士' => vec!['士', '仕'],
            '相' | '象' => vec!['象', '相'],
            '兵' | '卒' => vec!['卒', '兵'],
            '后' => vec!['後'],
            '进' => vec!['進'],
            'H' if wxf => vec!['N', 'h', 'Ｈ', 'ｎ'],
            'E' if wxf => vec!['B', 'e', 'ｂ'],
            '=' => vec!['.', '＝', '．'],
            '-' => vec!['－', '–', '−'],
            '+' => vec!['＋'],
            c if c.is_ascii_uppercase() => vec![c.to_ascii_lowercase(), wide(c)],
            c if c.is_ascii_alphanumeric() => vec![wide(c)],
            _ => Vec::new(),
        }
    };
    let chars: Vec<char> = text.chars().collect();
    let mut found = vec![format!("  {text}\t")];
    for (i, &c) in chars.iter().enumerate() {
        for other in variants(c) {
            let mut changed = chars.clone();
            changed[i] = other;
            found.push(changed.into_iter().collect());
        }
    }
    if chars.len() == 4 && chars[0].is_ascii_alphabetic() && matches!(chars[1], '+' | '-') {
        found.push([chars[1], chars[0], chars[2], chars[3]].iter().collect());
    }
    found
}

fn check_all(position: &Position) {
    for &mv in position.legal_moves().iter() {
        let chinese = notation::chinese(position, mv);
        let wxf = notation::wxf(position, mv);
        assert_eq!((chinese.chars().count(), wxf.chars().count()), (4, 4), "{position:?} {mv}");
        for text in [notation::uci(mv), notation::iccs(mv), chinese, wxf] {
            assert_eq!(parse(position, &text), Ok(mv), "{position:?} {text}");
        }
    }
}

/// 100,000 positions in the full run, half of them of random games, half out of nowhere.
#[test]
fn there_and_back() {
    let mut chance = Chance(5);
    let mut game = Game::new(Position::start());
    for _ in 0..amount(50_000) {
        check_all(game.position());
        check_all(&random_position(&mut chance));
        let moves = game.position().legal_moves();
        if moves.is_empty() || game.len() > 150 {
            game = Game::new(Position::start());
        } else {
            game.play(moves[chance.below(moves.len())]);
        }
    }
}

#[test]
fn variant_spellings_mean_the_same() {
    let mut chance = Chance(6);
    for _ in 0..amount(3_000) {
        let position = random_position(&mut chance);
        for &mv in position.legal_moves().iter() {
            for text in [notation::iccs(mv), notation::chinese(&position, mv), notation::wxf(&position, mv)] {
                for spelling in spellings(&text) {
                    assert_eq!(parse(&position, &spelling), Ok(mv), "{position:?} {text} {spelling}");
                    assert_eq!(parse_lenient(&position, &spelling), Ok(mv), "{position:?} {spelling}");
                }
            }
        }
    }
}

#[test]
fn digits_of_the_other_script_are_read_leniently() {
    let other = |c: char| match "一二三四五六七八九".chars().position(|digit| digit == c) {
        Some(i) => char::from(b'1' + i as u8),
        None => match c {
            '1'..='9' => "一二三四五六七八九".chars().nth(c as usize - '1' as usize).expect("a digit"),
            c => c,
        },
    };
    let mut chance = Chance(7);
    for _ in 0..amount(10_000) {
        let position = random_position(&mut chance);
        for &mv in position.legal_moves().iter() {
            let chinese = notation::chinese(&position, mv);
            let text: String = chinese.chars().map(other).collect();
            assert!(parse(&position, &text).is_err(), "{position:?} {text}");
            assert_eq!(parse_lenient(&position, &text), Ok(mv), "{position:?} {text}");
            let spaced = chinese.chars().map(|c| format!(" {c}")).collect::<String>();
            assert_eq!(parse_lenient(&position, &spaced), Ok(mv), "{position:?} {spaced}");
        }
    }
}

#[track_caller]
fn check_dialect(fen: &str, cases: &[(&str, &str)]) {
    let position = Position::from_fen(fen).expect(fen);
    for (text, expected) in cases {
        let expected: Move = expected.parse().expect("a move");
        assert_eq!(parse_lenient(&position, text), Ok(expected), "{text} in {fen}");
        assert!(parse(&position, text).is_err(), "{text} is not of the strict notation");
    }
}

/// The examples of the Asian federation's note on its notation, by files of ours.
#[test]
fn dialects_of_pawns_in_tandem() {
    let two = "3k5/9/4P4/4P4/9/9/P7P/9/9/4K4 w";
    check_dialect(two, &[("一兵平六", "e7d7"), ("二兵平六", "e6d6"), ("Pa=6", "e7d7"), ("Pb.6", "e6d6")]);
    let three = "3k5/6P2/6P2/6P2/9/9/9/9/9/4K4 w";
    check_dialect(three, &[("P+.4", "g8f8"), ("P3.4", "g7f7"), ("P-.4", "g6f6"), ("二兵平四", "g7f7")]);
    let four = "3k5/6P2/6P2/6P2/6P2/9/9/9/9/4K4 w";
    check_dialect(four, &[("++.4", "g8f8"), ("P+.4", "g7f7"), ("P-.4", "g6f6"), ("--.4", "g5f5")]);
    check_dialect(four, &[("一兵平四", "g8f8"), ("四兵平四", "g5f5")]);
    let five = "3k2P2/6P2/6P2/6P2/6P2/9/9/9/9/4K4 w";
    check_dialect(five, &[("++.4", "g9f9"), ("P+.4", "g8f8"), ("P3.4", "g7f7"), ("P-.4", "g6f6")]);
    check_dialect(five, &[("--.4", "g5f5"), ("中兵平四", "g7f7"), ("五兵平四", "g5f5")]);
    let two_files = "3k5/6P2/2P3P2/2P3P2/9/9/9/9/9/4K4 w";
    check_dialect(two_files, &[("3+.4", "g8f8"), ("3-.4", "g6f6"), ("7+.6", "c7d7"), ("7-.6", "c6d6")]);
    check_dialect(two_files, &[("一兵平四", "g8f8"), ("三兵平四", "g6f6"), ("四兵平六", "c7d7")]);
    check_dialect(two_files, &[("五兵平六", "c6d6"), ("二三平四", "g7f7"), ("前兵平六", "c7d7")]);
}

#[test]
fn other_lenient_readings() {
    // Only one of the two can go there.
    let rooks = "3ak4/4a4/2R6/9/2R6/9/9/4B4/4A4/3AK1B2 w";
    check_dialect(
        rooks,
        &[("车七进二", "c7c9"), ("R7-5", "c5c0"), ("前 車 進 二", "c7c9"), ("车+=9", "c7a7")],
    );
    let advisors = "4k4/9/9/9/9/6B2/9/5A3/9/3K1AB2 w";
    check_dialect(advisors, &[("前仕退五", "f2e1"), ("后相进五", "g0e2"), ("A-+5", "f0e1")]);
    let start = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b";
    check_dialect(
        start,
        &[("卒 3 进 1", "c6c5"), ("炮2=5", "b7e7"), ("馬八進七", "h9g7"), ("H9 - G7", "h9g7")],
    );
}

#[test]
fn ambiguous_and_foreign_texts_are_refused() {
    let pawns = Position::from_fen("3k5/9/4P4/4P4/9/9/P7P/9/9/4K4 w").expect("a position");
    let error = parse_lenient(&pawns, "兵五平六").expect_err("two pawns can go there");
    assert!(matches!(error.why, Unread::Ambiguous(..)), "{error}");
    assert!(error.to_string().contains("could be e6d6 or e7d7"), "{error}");
    let error = parse(&pawns, "e7e9").expect_err("a pawn goes one step");
    assert!(error.to_string().contains("\"e7e9\" is not legal: e7e9: the piece does not move"), "{error}");
    for text in [
        "",
        " ",
        "兵",
        "兵五平",
        "兵五平六六",
        "兵五平十",
        "兵〇平六",
        "兵五平〇",
        "P0=4",
        "e7e7",
        "-- ",
        "++++",
    ] {
        assert!(parse_lenient(&pawns, text).is_err(), "{text}");
    }
}
