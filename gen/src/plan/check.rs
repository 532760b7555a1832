//! What is wrong with a plan.

use nnue_format::record::MAX_GAME_PLIES;
use xiangqi::Score;

use super::{Adjudication, BookPlan, Count, OpeningPlan, Plan, SearchLimit, Variety};

/// The most lines of one search: no position of the game has more legal moves.
const MAX_LINES: u32 = 119;

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A setting is out of its range.
    #[error("{name} is {found}; possible: {possible}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        found: String,
        /// What it can be.
        possible: String,
    },
    /// The bytes are no plan.
    #[error("the plan in the file cannot be read: {0}")]
    Bytes(String),
    /// A plan of another version of this program.
    #[error("the plan in the file has version {found}, this program writes version {expected}")]
    Version {
        /// Its version.
        found: u32,
        /// Ours.
        expected: u32,
    },
}

fn bad(name: &'static str, found: &dyn ToString, possible: &str) -> Result<(), PlanError> {
    Err(PlanError::Setting { name, found: found.to_string(), possible: possible.to_owned() })
}

impl Plan {
    /// Checks the settings against their ranges.
    pub fn check(&self) -> Result<(), PlanError> {
        self.limit.check()?;
        self.opening.check()?;
        self.variety.check()?;
        self.adjudication.check(self.opening.max_plies)?;
        self.check_count()?;
        if self.hash_mib == 0 || self.hash_mib > 1 << 16 {
            return bad("--hash", &self.hash_mib, "1 to 65536 (MiB)");
        }
        self.rule_set().map(|_| ())
    }

    fn check_count(&self) -> Result<(), PlanError> {
        match (self.count, self.numbers()) {
            (Count::Games(0), _) => bad("--games", &0, "1 or more"),
            (Count::Positions(0), _) => bad("--positions", &0, "1 or more"),
            (Count::Games(games), numbers) if games > numbers => {
                let possible = format!(
                    "at most the book's {numbers} openings, each used once (or --whole-book); more with \
                     --book-wrap and --random-plies, or with another book"
                );
                bad("--games", &games, &possible)
            }
            (Count::WholeBook, u64::MAX) => {
                bad("--whole-book", &"given", "only with a --book that is used once, without --book-wrap")
            }
            _ => Ok(()),
        }
    }
}

impl SearchLimit {
    fn check(&self) -> Result<(), PlanError> {
        let SearchLimit { nodes, soft_nodes, depth, movetime_ms } = *self;
        if *self == SearchLimit::default() {
            return bad("--nodes", &"missing", "a number, or --soft-nodes, --depth or --movetime");
        }
        if nodes == Some(0) {
            return bad("--nodes", &0, "1 or more");
        }
        if let Some(soft) = soft_nodes
            && (soft == 0 || nodes.is_none_or(|hard| soft > hard))
        {
            return bad("--soft-nodes", &soft, "1 or more, and with a hard limit that is not below it");
        }
        if let Some(depth) = depth.filter(|&depth| depth < 1) {
            return bad("--depth", &depth, "1 or more");
        }
        if movetime_ms == Some(0) {
            return bad("--movetime", &0, "1 or more (ms)");
        }
        Ok(())
    }
}

impl OpeningPlan {
    fn check(&self) -> Result<(), PlanError> {
        let OpeningPlan { book, min_plies, max_plies, balance, .. } = *self;
        if min_plies > max_plies || max_plies > 100 {
            return bad("--random-plies", &format!("{min_plies}..{max_plies}"), "N or A..B with A ≤ B ≤ 100");
        }
        if balance < 0 {
            return bad("--balance", &balance, "0 or more");
        }
        if let Some(BookPlan { openings: 0, .. }) = book {
            return bad("--book", &"without an opening", "a file with one or more");
        }
        if let Some(BookPlan { wrap: true, .. }) = book
            && max_plies == 0
        {
            let possible =
                "only with --random-plies: without them the same openings would be the same games again";
            return bad("--book-wrap", &"given", possible);
        }
        Ok(())
    }
}

impl Variety {
    fn check(&self) -> Result<(), PlanError> {
        if self.lines > MAX_LINES {
            return bad("--multi-pv", &self.lines, &format!("1 to {MAX_LINES}"));
        }
        if !(0..=Score::MATE).contains(&self.margin) {
            return bad("--multi-pv-margin", &self.margin, "0 to 32000");
        }
        if self.random_per_mille > 1000 {
            return bad("--random-moves", &self.random_per_mille, "0 to 1000 (of a thousand)");
        }
        Ok(())
    }
}

impl Adjudication {
    fn check(&self, random_plies: u32) -> Result<(), PlanError> {
        let Adjudication { resign_score, resign_plies, draw_score, max_plies, .. } = *self;
        if max_plies <= random_plies || max_plies as usize > MAX_GAME_PLIES {
            let possible = format!("more than the random plies, at most {MAX_GAME_PLIES}");
            return bad("--max-plies", &max_plies, &possible);
        }
        if resign_plies == 1 {
            return bad("--resign-plies", &1, "0 (never) or 2 and more, so that both sides agree");
        }
        if resign_plies > 0 && !(1..=Score::MATE).contains(&resign_score) {
            return bad("--resign-score", &resign_score, "1 to 32000");
        }
        if draw_score < 0 {
            return bad("--draw-score", &draw_score, "0 or more");
        }
        Ok(())
    }
}
