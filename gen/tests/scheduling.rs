//! No thread waits for another's game, nor for who takes the games. What would wait for ever fails after a minute.

#[expect(dead_code, reason = "not every test file needs all of it")]
mod common;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use common::{HashPlayer, plan, starts};
use datagen::plan::{Count, Plan, SearchLimit};
use datagen::player::{Choice, Player};
use datagen::workers::{self, Dispatcher, Known};
use xiangqi::{Game, Move, Score};

/// Counts the games that all players begin; the first search of all waits until they are many.
struct Held {
    games: Arc<AtomicU64>,
    first: Arc<AtomicBool>,
    until: u64,
}

impl Player for Held {
    /// Once before the opening is weighed and once after.
    fn new_game(&mut self) {
        self.games.fetch_add(1, Ordering::Relaxed);
    }

    fn search(&mut self, game: &Game, limit: SearchLimit) -> Choice {
        if self.first.swap(false, Ordering::Relaxed) {
            wait_for(&self.games, 2 * self.until);
        }
        HashPlayer.search(game, limit)
    }

    fn search_lines(
        &mut self,
        game: &Game,
        limit: SearchLimit,
        n: usize,
        lines: &mut Vec<(Move, Score)>,
    ) -> Choice {
        HashPlayer.search_lines(game, limit, n, lines)
    }
}

fn wait_for(count: &AtomicU64, wanted: u64) {
    let begun = Instant::now();
    while count.load(Ordering::Relaxed) < wanted {
        assert!(begun.elapsed() < Duration::from_secs(60), "the others wait");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Plays with players that are held, or into a sink that is; gives the numbers in the order of their reports.
fn play(plan: &Plan, threads: usize, held: bool, sink_waits_for: u64) -> Vec<u64> {
    let stop = Arc::new(AtomicBool::new(false));
    let dispatcher = Dispatcher::new(0, 100, HashSet::new(), Arc::new(Known::default()), threads, stop);
    let (games, first) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(held)));
    let player = |_| Held { games: Arc::clone(&games), first: Arc::clone(&first), until: 90 };
    workers::run(plan, &starts(plan), &dispatcher, threads, player, |reports| {
        wait_for(&games, 2 * sink_waits_for);
        let mut numbers = Vec::new();
        while numbers.len() < 100 {
            let (number, finished) = reports.recv_timeout(Duration::from_secs(60)).expect("a report");
            finished.expect("a game");
            numbers.push(number);
        }
        numbers
    })
}

/// The first game takes longer than 90 others: they are played meanwhile.
#[test]
fn one_long_game_holds_nobody_up() {
    let plan = plan(Count::Games(100), 1);
    let mut numbers = play(&plan, 2, true, 0);
    // Whichever of the first two was searched first.
    assert!(numbers.iter().rposition(|&number| number < 2).is_some_and(|place| place > 80), "{numbers:?}");
    numbers.sort_unstable();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
}

/// Who takes the games is busy (with the disk, say) until 100 are played: nobody waits.
#[test]
fn a_slow_sink_holds_nobody_up() {
    let plan = plan(Count::Games(100), 1);
    assert_eq!(play(&plan, 2, false, 100).len(), 100);
}
