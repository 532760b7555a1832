//! Endgames with a proven verdict: are the won ones told from the drawn ones, and are they won?
//!
//! The cases are those of `tests/data/endgames.json`; how they were proved stands in `docs/nets.md`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use xiangqi::judge::{self, GameResult, Rules};
use xiangqi::{Color, Game, Position};

use super::{HASH_MIB, Plan, Progress, Static, mean};
use crate::eval::EvalSource;
use crate::search::{Limits, Searcher};

/// The project's own cases.
const CASES: &str = include_str!("../../../tests/data/endgames.json");
/// Scores count up to here, in centipawns: a mate in sight is as good as a sure win.
const MOST: i32 = 2000;
/// The longest game that is played out, in plies; the natural limit comes first unless there are captures.
const PLIES: usize = 240;

/// What becomes of a position in which Red is to move, when both play their best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Red mates.
    Win,
    /// Nobody does.
    Draw,
}

/// How a verdict was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// By solving every position of the material.
    Table,
    /// By a search that found the mate.
    Search,
}

/// A position with Red to move, and what is known of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub id: String,
    /// The pieces of both sides, as in `KPP-KAA`.
    pub material: String,
    /// The position.
    pub position: Position,
    /// What becomes of it.
    pub verdict: Verdict,
    /// Plies to the mate: exact from a table, an upper bound from a search. `None` for a draw.
    pub plies: Option<u32>,
    /// How it is known.
    pub proof: Proof,
}

#[derive(Deserialize)]
struct Written {
    id: String,
    material: String,
    fen: String,
    verdict: Verdict,
    plies: Option<u32>,
    proof: Proof,
}

/// All cases.
///
/// # Panics
/// Where the file in the source is no such list; a test reads it.
pub fn cases() -> Vec<Case> {
    let written: Vec<Written> =
        serde_json::from_str(CASES).expect("tests/data/endgames.json is a list of cases");
    let read = |case: Written| {
        let position = Position::from_fen(&case.fen).expect("a position of tests/data/endgames.json");
        let Written { id, material, verdict, plies, proof, .. } = case;
        Case { id, material, position, verdict, plies, proof }
    };
    written.into_iter().map(read).collect()
}

/// What an evaluation makes of the endgames.
#[derive(Clone, Debug, Serialize)]
pub struct Endgames {
    /// Cases that Red wins.
    pub won: usize,
    /// Cases that are drawn.
    pub drawn: usize,
    /// How often a won case has the better score than a drawn one, without search: 0.5 by chance, 1 at best.
    pub told_apart: f64,
    /// The same after a search.
    pub told_apart_by_search: f64,
    /// Mean score of the won cases, in centipawns, without search; each counts up to 2000.
    pub won_score: f64,
    /// Mean distance of the drawn cases' scores from 0.
    pub drawn_score: f64,
    /// Won cases that were won when both sides were played by this evaluation.
    pub converted: usize,
    /// Drawn cases that were lost so, by either side.
    pub spoilt: usize,
    /// Material by material: cases won and won in play, drawn and lost in play.
    pub by_material: BTreeMap<String, Tally>,
}

/// How cases of one material went.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Tally {
    /// Won by verdict.
    pub won: usize,
    /// Of these, won in play.
    pub converted: usize,
    /// Drawn by verdict.
    pub drawn: usize,
    /// Of these, lost in play by either side.
    pub spoilt: usize,
}

impl Endgames {
    pub(super) fn of(source: &EvalSource, plan: &Plan, progress: Progress<'_>) -> Endgames {
        let cases = cases();
        let mut judge = Static::new(source);
        let mut searcher = Searcher::new(HASH_MIB, source.clone());
        let mut by_material: BTreeMap<String, Tally> = BTreeMap::new();
        let (mut won, mut drawn) = (Vec::new(), Vec::new());
        for (number, case) in cases.iter().enumerate() {
            progress("endgames", number, cases.len());
            searcher.new_game();
            let game = Game::new(case.position.clone());
            let found = searcher.search(&game, &Limits::nodes(plan.endgame_nodes), &mut |_| {});
            let clamped = |score: i32| score.clamp(-MOST, MOST);
            let scores =
                Scores { at_once: clamped(judge.score(&case.position)), searched: clamped(found.score.0) };
            let loser = played_out(&mut searcher, game, plan.endgame_nodes);
            let tally = by_material.entry(case.material.clone()).or_default();
            match case.verdict {
                Verdict::Win => {
                    tally.won += 1;
                    tally.converted += usize::from(loser == Some(Color::Black));
                    won.push(scores);
                }
                Verdict::Draw => {
                    tally.drawn += 1;
                    tally.spoilt += usize::from(loser.is_some());
                    drawn.push(scores);
                }
            }
        }
        let total = |field: fn(&Tally) -> usize| by_material.values().map(field).sum();
        Endgames {
            won: won.len(),
            drawn: drawn.len(),
            told_apart: told_apart(&won, &drawn, |scores| scores.at_once),
            told_apart_by_search: told_apart(&won, &drawn, |scores| scores.searched),
            won_score: mean(won.iter().map(|scores| f64::from(scores.at_once))),
            drawn_score: mean(drawn.iter().map(|scores| f64::from(scores.at_once.abs()))),
            converted: total(|tally| tally.converted),
            spoilt: total(|tally| tally.spoilt),
            by_material,
        }
    }
}

/// The scores of a case for Red, in centipawns.
#[derive(Clone, Copy)]
struct Scores {
    at_once: i32,
    searched: i32,
}

/// The share of pairs of a won and a drawn case in which the won one has the better score; equal ones count half.
fn told_apart(won: &[Scores], drawn: &[Scores], score: fn(&Scores) -> i32) -> f64 {
    let share = |won: &Scores, drawn: &Scores| 0.5 + 0.5 * f64::from((score(won) - score(drawn)).signum());
    mean(won.iter().flat_map(|won| drawn.iter().map(move |drawn| share(won, drawn))))
}

/// Plays a game to its end, both sides by the same searcher; who has lost?
fn played_out(searcher: &mut Searcher, mut game: Game, nodes: u64) -> Option<Color> {
    searcher.new_game();
    let rules = Rules::default();
    for _ in 0..PLIES {
        let status = judge::status(&game, rules);
        if status.result != GameResult::Ongoing {
            return status.result.loser();
        }
        let best = searcher.search(&game, &Limits::nodes(nodes), &mut |_| {}).best?;
        game.play(best)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use xiangqi::PieceKind;

    use super::*;

    #[test]
    fn every_case_can_be_read_and_has_its_material() {
        let cases = cases();
        for case in &cases {
            let on_board = |color: Color| {
                let letters = PieceKind::ALL.into_iter().flat_map(|kind| {
                    let count = case.position.pieces(color, kind).count() as usize;
                    std::iter::repeat_n(kind.letter().to_ascii_uppercase(), count)
                });
                sorted(letters)
            };
            let (red, black) = case.material.split_once('-').expect("two sides");
            assert_eq!(on_board(Color::Red), sorted(red.chars()), "{}", case.id);
            assert_eq!(on_board(Color::Black), sorted(black.chars()), "{}", case.id);
            assert_eq!(case.position.side_to_move(), Color::Red, "{}", case.id);
            assert_eq!(case.plies.is_some(), case.verdict == Verdict::Win, "{}", case.id);
            assert_eq!(cases.iter().filter(|other| other.id == case.id).count(), 1, "{}", case.id);
        }
    }

    fn sorted(letters: impl Iterator<Item = char>) -> Vec<char> {
        let mut letters: Vec<char> = letters.collect();
        letters.sort_unstable();
        letters
    }

    #[test]
    fn pairs_are_counted() {
        let share = |won: &[i32], drawn: &[i32]| {
            let scores =
                |all: &[i32]| all.iter().map(|&at_once| Scores { at_once, searched: 0 }).collect::<Vec<_>>();
            told_apart(&scores(won), &scores(drawn), |scores| scores.at_once)
        };
        assert_eq!(share(&[10, 20], &[5, 0]), 1.0);
        assert_eq!(share(&[10, 0], &[5, 5]), 0.5);
        assert_eq!(share(&[7], &[7]), 0.5);
    }

    /// A bare king loses to a rook, and a bare cannon wins nothing.
    #[test]
    fn games_are_played_out() {
        let mut searcher = Searcher::new(1, EvalSource::Hce);
        let game = |fen: &str| Game::new(Position::from_fen(fen).unwrap());
        let rook = game("4k4/9/9/9/9/9/9/9/R8/3K5 w - - 0 1");
        assert_eq!(played_out(&mut searcher, rook, 500), Some(Color::Black));
        let cannon = game("4k4/9/9/9/9/9/9/9/C8/3K5 w - - 0 1");
        assert_eq!(played_out(&mut searcher, cannon, 500), None);
    }
}
