//! What the tests of runs share: a player that needs no search, and plans for it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datagen::commands::play::header_of;
use datagen::openings::Starts;
use datagen::plan::{Adjudication, Count, OpeningPlan, PLAN_VERSION, Plan, SearchLimit, Variety};
use datagen::player::{Choice, Player};
use datagen::run;
use datagen::sink::{Opened, Sink, SinkError};
use nnue_format::record::{GameRecord, ReadError, Reader, Totals};
use xiangqi::{Game, Move, Score};

/// Answers with a move and a score that follow from the position and the ply alone.
#[derive(Debug)]
pub(crate) struct HashPlayer;

impl Player for HashPlayer {
    fn new_game(&mut self) {}

    fn search(&mut self, game: &Game, _: SearchLimit) -> Choice {
        let moves = game.position().legal_moves();
        let mixed = (game.position().key() ^ game.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let best = (!moves.is_empty()).then(|| moves[mixed as usize % moves.len()]);
        Choice { best, score: Score((mixed >> 20) as i32 % 300 - 150), nodes: 1 }
    }

    fn search_lines(
        &mut self,
        game: &Game,
        limit: SearchLimit,
        count: usize,
        lines: &mut Vec<(Move, Score)>,
    ) -> Choice {
        let choice = self.search(game, limit);
        let moves = game.position().legal_moves();
        let others = moves.iter().copied().filter(|&mv| Some(mv) != choice.best);
        let behind = |i: usize| Score(choice.score.0 - 8 * i as i32);
        lines.clear();
        lines.extend(
            choice.best.into_iter().chain(others).take(count).enumerate().map(|(i, mv)| (mv, behind(i))),
        );
        choice
    }
}

/// A plan for [`HashPlayer`].
pub(crate) fn plan(count: Count, seed: u64) -> Plan {
    Plan {
        version: PLAN_VERSION,
        count,
        limit: SearchLimit { nodes: Some(1), ..SearchLimit::default() },
        seed,
        net: [0; 32],
        engine_signature: 7,
        hash_mib: 1,
        opening: OpeningPlan { book: None, min_plies: 2, max_plies: 9, balance: 100, balance_nodes: 1 },
        variety: Variety::default(),
        adjudication: Adjudication {
            resign_score: 1000,
            resign_plies: 4,
            resign_mate: false,
            draw_score: 40,
            draw_plies: 6,
            draw_from: 40,
            max_plies: 120,
        },
        rules: "competition".to_owned(),
    }
}

/// Opens the output of a plan.
pub(crate) fn open(out: &Path, plan: &Plan) -> Result<Opened, SinkError> {
    Sink::open(out, &header_of(plan).unwrap(), plan)
}

/// Plays a plan to its end, going on with what is there. `stop_at` ends the run when so many games are written,
/// without a farewell.
pub(crate) fn play(out: &Path, plan: &Plan, threads: usize, stop_at: Option<u64>) -> Option<Totals> {
    play_from(&starts(plan), out, plan, threads, stop_at)
}

/// The starts of a plan without a book.
pub(crate) fn starts(plan: &Plan) -> Starts {
    Starts::new(plan, None).unwrap()
}

/// As [`play`], with the starts of a book.
pub(crate) fn play_from(
    starts: &Starts,
    out: &Path,
    plan: &Plan,
    threads: usize,
    stop_at: Option<u64>,
) -> Option<Totals> {
    let mut sink = match open(out, plan).unwrap() {
        Opened::Complete(totals) => return Some(totals),
        Opened::Run(sink) => *sink,
    };
    let stop = Arc::new(AtomicBool::new(false));
    run::play(plan, starts, threads, &mut sink, &stop, |_| HashPlayer, &mut |totals| {
        if stop_at.is_some_and(|games| totals.games >= games) {
            stop.store(true, Ordering::Relaxed);
        }
    })
    .unwrap();
    if !sink.is_complete() {
        return None;
    }
    Some(sink.publish(|_, _| Ok::<(), SinkError>(())).unwrap())
}

/// All games of a file and all damage.
pub(crate) fn read(path: &Path) -> (Vec<GameRecord>, Vec<ReadError>) {
    let (mut games, mut errors) = (Vec::new(), Vec::new());
    for item in Reader::open(path).unwrap().games() {
        match item {
            Ok(game) => games.push(game),
            Err(error) => errors.push(error),
        }
    }
    (games, errors)
}
