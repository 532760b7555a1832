//! What an import found, in numbers.

use std::collections::{BTreeMap, HashSet};

use game_files::Outcome;
use serde_json::{Value, json};
use xiangqi::{Move, Position};

use super::Imported;

/// Counts over all files of an import.
#[derive(Debug, Default)]
pub struct Summary {
    /// Files read.
    pub files: u64,
    /// Files that gave no games, with the reason.
    pub file_errors: Vec<String>,
    /// Games found.
    pub games: u64,
    /// Plies of their main lines.
    pub plies: u64,
    /// Games whose main line has a fault.
    pub broken_games: u64,
    /// Variations that have one.
    pub broken_variations: u64,
    /// Faults of main lines by kind.
    pub faults: BTreeMap<&'static str, u64>,
    /// Games that have the start and the moves of an earlier one.
    pub duplicates: u64,
    /// Games whose file names two results that contradict each other.
    pub contradictions: u64,
    /// Results as the files name them.
    pub results: BTreeMap<&'static str, u64>,
    seen: HashSet<(u64, Vec<Move>)>,
}

impl Summary {
    /// Counts a file's games.
    pub fn add_file(&mut self, games: &[Imported]) {
        self.files += 1;
        games.iter().for_each(|game| self.add(game));
    }

    fn add(&mut self, imported: &Imported) {
        let game = &imported.game;
        let moves = game.tree.main_line();
        self.games += 1;
        self.plies += moves.len() as u64;
        if let Some(fault) = game.main_fault() {
            self.broken_games += 1;
            *self.faults.entry(fault.kind.word()).or_default() += 1;
        }
        let broken = game.faults.iter().filter(|fault| fault.variation > 0).count() + game.more_faults;
        self.broken_variations += broken as u64;
        self.contradictions += u64::from(game.contradiction.is_some());
        *self.results.entry(Outcome::text(game.tree.outcome)).or_default() += 1;
        self.duplicates += u64::from(!self.is_new(game.tree.start(), moves));
    }

    /// Is this line seen for the first time?
    fn is_new(&mut self, start: &Position, moves: Vec<Move>) -> bool {
        self.seen.insert((start.key(), moves))
    }

    /// Is everything whole?
    pub fn is_clean(&self) -> bool {
        self.file_errors.is_empty() && self.broken_games == 0
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        json!({
            "files": self.files,
            "file_errors": self.file_errors,
            "games": self.games,
            "plies": self.plies,
            "broken_games": self.broken_games,
            "faults": self.faults,
            "broken_variations": self.broken_variations,
            "duplicates": self.duplicates,
            "contradictory_results": self.contradictions,
            "results": self.results,
        })
    }

    /// For people, on a few lines.
    pub fn text(&self) -> String {
        let counts = |counts: &BTreeMap<&'static str, u64>| {
            counts.iter().map(|(word, count)| format!("{word} {count}")).collect::<Vec<_>>().join(", ")
        };
        let mut text = format!("{} files, {} games, {} plies\n", self.files, self.games, self.plies);
        text += &format!("results: {}\n", counts(&self.results));
        let mut say = |count: u64, what: &str| {
            if count > 0 {
                text += &format!("{count} {what}\n");
            }
        };
        say(self.broken_games, &format!("broken games ({}), read up to the break", counts(&self.faults)));
        say(self.broken_variations, "broken variations");
        say(self.duplicates, "duplicates (same start, same moves)");
        say(self.contradictions, "games with two results that contradict each other");
        text
    }
}
