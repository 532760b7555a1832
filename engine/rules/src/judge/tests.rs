//! Every verdict of the vectors: repetitions and game ends, the counters of the natural limit.

use serde_json::Value;

use super::{GameResult, Repetition, RuleSet, status};
use crate::bitboard::Bitboard;
use crate::color::Color;
use crate::game::Game;
use crate::mv::Move;
use crate::position::Position;

fn vectors(name: &str) -> Vec<Value> {
    let path = format!("{}/../../tests/data/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect(&path);
    serde_json::from_str(&text).expect(&path)
}

/// Plays a case's moves; none but the last may end the game.
fn play(case: &Value) -> Game {
    let id = &case["id"];
    let mut game = Game::new(Position::from_fen(case["fen"].as_str().expect("fen")).expect("a position"));
    for mv in case["moves"].as_array().expect("moves") {
        let status = status(&game, RuleSet::Competition);
        assert!(!status.is_over(), "{id}: over before {mv}: {status:?}");
        let mv: Move = mv.as_str().expect("a move").parse().expect("a move");
        game.try_play(mv).unwrap_or_else(|error| panic!("{id}: {error}"));
    }
    game
}

fn names(game: &Game, chased: Bitboard) -> Vec<String> {
    // The cycle's start is the current position: it stands for the third time.
    let name = |square| {
        let piece = game.position().piece_on(square).expect("a chased piece");
        format!("{}@{square}", piece.fen_char())
    };
    let mut names: Vec<String> = chased.map(name).collect();
    names.sort();
    names
}

fn expected_names(case: &Value, field: &str) -> Vec<String> {
    let list = case[field].as_array().expect(field);
    let mut names: Vec<String> = list.iter().map(|v| v.as_str().expect(field).to_owned()).collect();
    names.sort();
    names
}

fn check_repetition(case: &Value) {
    let id = &case["id"];
    let game = play(case);
    let status = status(&game, RuleSet::Competition);
    let Some(Repetition { result, red, black, chased_by_red, chased_by_black }) = status.repetition else {
        panic!("{id}: no repetition: {status:?}");
    };
    assert_eq!(result.to_string(), case["result"].as_str().expect("result"), "{id}");
    assert_eq!(red.to_string(), case["red"].as_str().expect("red"), "{id}");
    assert_eq!(black.to_string(), case["black"].as_str().expect("black"), "{id}");
    assert_eq!(names(&game, chased_by_red), expected_names(case, "chased_by_red"), "{id}");
    assert_eq!(names(&game, chased_by_black), expected_names(case, "chased_by_black"), "{id}");
}

#[test]
fn competition_examples() {
    let cases = vectors("repetition_competition_rules.json");
    assert!(cases.len() >= 39);
    cases.iter().for_each(check_repetition);
}

#[test]
fn random_repetitions() {
    let cases = vectors("repetition_random.json");
    assert!(cases.len() >= 274);
    cases.iter().for_each(check_repetition);
}

#[test]
fn game_ends() {
    let cases = vectors("game_end.json");
    assert!(cases.len() >= 75);
    for case in &cases {
        let id = &case["id"];
        let game = play(case);
        let status = status(&game, RuleSet::Competition);
        let expected = &case["expected"];
        assert_eq!(status.result.to_string(), expected["result"].as_str().expect("result"), "{id}");
        let reason = status.reason.map(|reason| reason.to_string());
        let wanted = expected["reason"].as_str().filter(|_| status.result != GameResult::Ongoing);
        assert_eq!(reason.as_deref(), wanted, "{id}");
        if let Some(count) = case["no_capture_count"].as_u64() {
            assert_eq!(u64::from(game.position().no_capture_plies()), count, "{id}: count");
        }
        for color in Color::ALL {
            let checks = u64::from(game.position().checks_since_capture(color));
            if let Some(total) = case["checks_total"][color.to_string()].as_u64() {
                assert_eq!(checks, total, "{id}: {color} checks");
            }
            if let Some(counted) = case["checks_counted"][color.to_string()].as_u64() {
                assert_eq!(checks.min(10), counted, "{id}: {color} counted checks");
            }
        }
    }
}

/// Cases of a project without a licence stay outside this one: read in place where they are.
#[test]
fn asian_cases_under_the_competition_rules() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/repetition_asian.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("SKIPPED: {path} is not here; 107 repetition cases were not tried");
        return;
    };
    let cases: Vec<Value> = serde_json::from_str(&text).expect(path);
    assert!(cases.len() >= 107);
    for case in &cases {
        let id = &case["id"];
        let game = play(case);
        let expected = &case["competition"];
        let Some(verdict) = status(&game, RuleSet::Competition).repetition else {
            panic!("{id}: no repetition");
        };
        assert_eq!(verdict.result.to_string(), expected["result"].as_str().expect("result"), "{id}");
        assert_eq!(verdict.red.to_string(), expected["red"].as_str().expect("red"), "{id}");
        assert_eq!(verdict.black.to_string(), expected["black"].as_str().expect("black"), "{id}");
    }
}
