//! Small cycles under several rule sets, each with the reason for its verdicts; the natural limit
//! and the draw rule.

use serde_json::Value;
use xiangqi::judge::{self, Conduct, DrawRule, EndReason, GameResult, RuleSet, Rules};
use xiangqi::{Game, Position};

fn play(fen: &str, moves: &str) -> Game {
    let mut game = Game::new(Position::from_fen(fen).expect(fen));
    for mv in moves.split_whitespace() {
        game.try_play(mv.parse().expect(mv)).expect(mv);
    }
    game
}

#[test]
fn the_rule_sets_tell_cycles_apart() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/rule_sets.json");
    let text = std::fs::read_to_string(path).expect(path);
    let cases: Vec<Value> = serde_json::from_str(&text).expect(path);
    assert!(cases.len() >= 13);
    for case in &cases {
        let word = |field: &str| case[field].as_str().expect(field);
        for (name, verdict) in case["verdicts"].as_object().expect("verdicts") {
            let (set, depth) = name.split_once(' ').unwrap_or((name, "0"));
            let set: RuleSet = set.parse().expect(set);
            let rules = Rules { mate_threat_depth: depth.parse().expect(depth), ..set.into() };
            let times = set.deciding_occurrence() - 1;
            let game = play(word("fen"), &format!("{} ", word("moves")).repeat(times));
            let status = judge::status(&game, rules);
            let found = status.repetition.expect("a repetition");
            let found = [found.result.to_string(), found.red.to_string(), found.black.to_string()];
            assert_eq!(serde_json::json!(found), *verdict, "{} by {name}: {}", word("id"), word("why"));
        }
    }
}

const QUIET: &str = "4k4/9/9/9/4p4/9/9/9/9/3K5 w - - 0 1";

fn ended(game: &Game, rules: Rules) -> (GameResult, Option<EndReason>) {
    let status = judge::status(game, rules);
    (status.result, status.reason)
}

#[test]
fn the_natural_limit_can_be_set_and_left_out() {
    // Kings that walk round without standing as before: three plies.
    let game = play(QUIET, "d0d1 e9e8 d1d2");
    for (limit, over) in [(1, true), (3, true), (4, false), (150, false), (Rules::NO_LIMIT, false)] {
        let rules = Rules { natural_limit: limit, ..Rules::default() };
        let reason = over.then_some(EndReason::NaturalLimit);
        let result = if over { GameResult::Draw } else { GameResult::Ongoing };
        assert_eq!(ended(&game, rules), (result, reason), "limit {limit}");
    }
}

#[test]
fn the_draw_rule_says_what_draws_count_as() {
    use DrawRule::{DrawAsBlackWin, DrawAsRedWin, DrawRepAsBlackWin, DrawRepAsRedWin};
    use GameResult::{BlackLoses, Draw, RedLoses};
    let limit = play(QUIET, "d0d1 e9e8 d1d2");
    let cycle = play(QUIET, "d0d1 e9e8 d1d0 e8e9");
    let bare = play("4k4/9/9/9/9/9/9/9/9/3K5 w - - 0 1", "");
    let expected = [
        (DrawRule::None, Draw, Draw, Draw),
        (DrawAsBlackWin, RedLoses, RedLoses, RedLoses),
        (DrawAsRedWin, BlackLoses, BlackLoses, BlackLoses),
        (DrawRepAsBlackWin, Draw, RedLoses, Draw),
        (DrawRepAsRedWin, Draw, BlackLoses, Draw),
    ];
    for (draws, by_limit, by_cycle, by_material) in expected {
        let rules = Rules { draws, ..RuleSet::Asian.into() };
        let short = Rules { natural_limit: 3, ..rules };
        assert_eq!(ended(&limit, short), (by_limit, Some(EndReason::NaturalLimit)), "{draws:?}");
        assert_eq!(ended(&cycle, rules), (by_cycle, Some(EndReason::Repetition)), "{draws:?}");
        assert_eq!(ended(&bare, rules), (by_material, Some(EndReason::InsufficientMaterial)), "{draws:?}");
        assert_eq!(draws.name().to_lowercase().parse(), Ok(draws));
    }
}

#[test]
fn a_decided_cycle_is_decided_whatever_draws_count_as() {
    let game = play("3k5/R8/9/9/9/9/9/4K4/9/9 w - - 0 1", "a8a9 d9d8 a9a8 d8d9");
    let rules = Rules { draws: DrawRule::DrawAsRedWin, ..RuleSet::AllowChase.into() };
    assert_eq!(ended(&game, rules), (GameResult::RedLoses, Some(EndReason::Repetition)));
}

/// Far more lines of checks than positions that may be looked at: no threat is seen, twice alike.
#[test]
fn a_hunt_for_mate_that_takes_too_long_ends() {
    let fen = "4k4/9/4b4/9/RCR1n1NC1/9/N8/9/9/3K5 w - - 0 1";
    let game = play(fen, "d0d1 e9e8 d1d0 e8e9");
    let rules = Rules { mate_threat_depth: 10, ..RuleSet::Chinese.into() };
    let first = judge::repetition(&game, rules);
    assert_eq!(first, judge::repetition(&game, rules));
    assert!(first.is_some_and(|verdict| verdict.black == Conduct::Allowed));
}

#[test]
fn every_switch_of_a_rule_set_says_where_it_is_known_from() {
    for set in RuleSet::ALL {
        let rows = set.switches().rows();
        assert!(rows.iter().all(|row| !row.basis.source().is_empty() && !row.value.is_empty()));
        let public = !matches!(set, RuleSet::Sky | RuleSet::Yitian);
        assert_eq!(set.switches().is_public(), public, "{set}");
    }
}
