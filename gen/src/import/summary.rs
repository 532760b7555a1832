//! What an import found, in numbers.

use std::collections::BTreeMap;

use game_files::Outcome;
use serde_json::{Value, json};

use super::{Imported, LeftOut, Seen};

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
    seen: Seen,
}

impl Summary {
    /// Counts a game.
    pub fn add(&mut self, imported: &Imported) {
        let game = &imported.game;
        let moves = game.tree.main_line();
        self.games += 1;
        self.plies += moves.len() as u64;
        if let Some(fault) = game.error() {
            self.broken_games += 1;
            *self.faults.entry(fault.kind.word()).or_default() += 1;
        }
        let broken = game.faults.iter().filter(|fault| fault.variation > 0).count() + game.more_faults;
        self.broken_variations += broken as u64;
        self.contradictions += u64::from(game.contradiction.is_some());
        *self.results.entry(Outcome::text(game.tree.outcome)).or_default() += 1;
        self.duplicates += u64::from(!self.seen.is_new(game.tree.start(), &moves));
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

/// What was written and what was left out, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games, positions or lines written.
    pub written: u64,
    /// Scored positions written.
    pub positions: u64,
    /// Lines left out, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Games that went on behind their end by the rules, and were cut there.
    pub cut_by_rules: u64,
    /// Games whose end by the rules contradicts the result in their file; the rules' is taken.
    pub contradicts_rules: u64,
    /// Nodes searched.
    pub nodes: u64,
}

impl Tally {
    /// Counts a line that is not written.
    pub fn leave_out(&mut self, why: LeftOut) {
        *self.left_out.entry(why.word()).or_default() += 1;
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        json!({
            "written": self.written,
            "positions": self.positions,
            "left_out": self.left_out,
            "cut_by_rules": self.cut_by_rules,
            "contradicts_rules": self.contradicts_rules,
            "nodes": self.nodes,
        })
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = format!("written: {}", self.written);
        if self.positions > 0 {
            text += &format!(", {} scored positions", self.positions);
        }
        text.push('\n');
        let left_out: Vec<_> = self.left_out.iter().map(|(why, count)| format!("{why} {count}")).collect();
        if !left_out.is_empty() {
            text += &format!("left out: {}\n", left_out.join(", "));
        }
        if self.cut_by_rules > 0 {
            text += &format!("{} games cut at their end by the rules\n", self.cut_by_rules);
        }
        if self.contradicts_rules > 0 {
            text +=
                &format!("{} games whose end by the rules contradicts their file\n", self.contradicts_rules);
        }
        text
    }
}
