//! The plan of a run: everything that its games depend on.

mod check;
mod text;

use bincode::{Decode, Encode};
use serde::Serialize;
use sha2::{Digest, Sha256};
use xiangqi::judge::RuleSet;

pub use check::PlanError;
pub use text::{hex, net_text};

/// The run id of a file with this plan, of whatever kind: the same plan is the same run.
pub fn run_id(plan: &[u8]) -> [u8; 16] {
    let digest: [u8; 32] = Sha256::digest(plan).into();
    std::array::from_fn(|i| digest[i])
}

/// Raised whenever the same plan would give other games than before (openings, adjudication, seeds).
pub const PLAN_VERSION: u32 = 2;

/// How much to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// So many games.
    Games(u64),
    /// Exactly so many scored positions: games in the order of their numbers until there are enough; of the
    /// last game the first scores too many are dropped (its moves are kept, as opening).
    Positions(u64),
    /// One game from each opening of the book; those that are left out (one-sided, or the same position as
    /// another) give none.
    WholeBook,
}

/// The limit of every search of a game; at least one is set. The search ends with the first that is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct SearchLimit {
    /// Nodes a move, exactly.
    pub nodes: Option<u64>,
    /// A move's search ends after the iteration that reaches so many nodes. `nodes` is set beside it: the hard limit.
    pub soft_nodes: Option<u64>,
    /// Depth in plies.
    pub depth: Option<i32>,
    /// Time a move in ms. Games then depend on the machine and on what else it does: they cannot be played again.
    pub movetime_ms: Option<u64>,
}

/// The book that games begin from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct BookPlan {
    /// SHA-256 of the file.
    #[serde(serialize_with = "text::as_hex")]
    pub sha256: [u8; 32],
    /// Openings in it.
    pub openings: u64,
    /// Lines are cut to so many plies.
    pub plies: Option<u32>,
    /// Begin again with the first opening when all have been used; random plies make the difference then.
    pub wrap: bool,
}

/// How games begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct OpeningPlan {
    /// Openings of a book, each used once; `None`: the start position.
    pub book: Option<BookPlan>,
    /// The fewest random plies from there.
    pub min_plies: u32,
    /// The most.
    pub max_plies: u32,
    /// Openings that a short search scores beyond ± this are rejected.
    pub balance: i32,
    /// Nodes of that search; 0 accepts every opening.
    pub balance_nodes: u64,
}

/// Where moves other than the best are played, so that games differ. The score recorded stays the best move's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct Variety {
    /// So many lines are searched to choose from; 0 and 1: the best alone.
    pub lines: u32,
    /// A line is chosen from those at most so far behind the best, in centipawns; how likely each is falls
    /// evenly from the best (margin + 1 parts) to one that lies the whole margin behind (1 part).
    pub margin: i32,
    /// In the first so many plies after the opening; 0: in all.
    pub plies: u32,
    /// Of a thousand moves, so many are any legal move, each as likely.
    pub random_per_mille: u32,
    /// In the first so many plies after the opening; 0: in all.
    pub random_plies: u32,
}

/// When a game is ended before the rules end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct Adjudication {
    /// A win once the scores of `resign_plies` plies in a row, both sides', say that one side is ahead by this.
    pub resign_score: i32,
    /// See above; 0: never.
    pub resign_plies: u32,
    /// A win as soon as a search proves a mate and its move is played.
    pub resign_mate: bool,
    /// A draw once the scores of `draw_plies` plies in a row lie within ± this.
    pub draw_score: i32,
    /// See above; 0: never.
    pub draw_plies: u32,
    /// No such draw before this ply of the game (opening included).
    pub draw_from: u32,
    /// A draw at this ply of the game (opening included).
    pub max_plies: u32,
}

/// The plan of a run.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct Plan {
    /// [`PLAN_VERSION`].
    pub version: u32,
    /// How much to play.
    pub count: Count,
    /// The limit of every search.
    pub limit: SearchLimit,
    /// The run's seed.
    pub seed: u64,
    /// SHA-256 of the net file; zeros: the hand-crafted evaluation.
    #[serde(serialize_with = "text::net_as_text")]
    pub net: [u8; 32],
    /// Node count of the engine's bench: which search plays.
    pub engine_signature: u64,
    /// Size of each searcher's table, in MiB.
    pub hash_mib: u32,
    /// How games begin.
    pub opening: OpeningPlan,
    /// Where other moves than the best are played.
    pub variety: Variety,
    /// When they are ended early.
    pub adjudication: Adjudication,
    /// The name of the rule set.
    pub rules: String,
}

/// The longest plan that is decoded, in bytes.
const MAX_PLAN_BYTES: usize = 1 << 16;

impl Plan {
    /// The plan as it stands in a record file: bincode 2, little-endian, fixed integers.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PlanError> {
        let config = bincode::config::standard().with_fixed_int_encoding();
        bincode::encode_to_vec(self, config).map_err(|error| PlanError::Bytes(error.to_string()))
    }

    /// Reads a plan; all bytes must belong to it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Plan, PlanError> {
        let config = bincode::config::standard().with_fixed_int_encoding().with_limit::<MAX_PLAN_BYTES>();
        if let Some(&[a, b, c, d]) = bytes.get(..4) {
            let found = u32::from_le_bytes([a, b, c, d]);
            if found != PLAN_VERSION {
                return Err(PlanError::Version { found, expected: PLAN_VERSION });
            }
        }
        let (plan, length) = bincode::decode_from_slice::<Plan, _>(bytes, config)
            .map_err(|error| PlanError::Bytes(error.to_string()))?;
        if length != bytes.len() {
            let error = format!("{} bytes are left over", bytes.len() - length);
            return Err(PlanError::Bytes(error));
        }
        Ok(plan)
    }

    /// The rule set.
    pub fn rule_set(&self) -> Result<RuleSet, PlanError> {
        self.rules.parse().map_err(|_| PlanError::Setting {
            name: "--rules",
            found: self.rules.clone(),
            possible: RuleSet::ALL.map(RuleSet::name).join(", "),
        })
    }

    /// Does the same plan give the same games again?
    pub const fn is_reproducible(&self) -> bool {
        self.limit.movetime_ms.is_none()
    }

    /// The count, or the most games that there can be where it follows from a book.
    pub const fn greatest_count(&self) -> Count {
        match self.count {
            Count::WholeBook => Count::Games(self.numbers()),
            count => count,
        }
    }

    /// Games have numbers below this: where a book is used up, there are no more.
    pub const fn numbers(&self) -> u64 {
        match self.opening.book {
            Some(BookPlan { openings, wrap: false, .. }) => openings,
            _ => u64::MAX,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn plan() -> Plan {
        Plan {
            version: PLAN_VERSION,
            count: Count::Games(10),
            limit: SearchLimit { nodes: Some(100), ..SearchLimit::default() },
            seed: 1,
            net: [0; 32],
            engine_signature: 42,
            hash_mib: 1,
            opening: OpeningPlan { book: None, min_plies: 6, max_plies: 9, balance: 200, balance_nodes: 50 },
            variety: Variety::default(),
            adjudication: Adjudication {
                resign_score: 1500,
                resign_plies: 6,
                resign_mate: false,
                draw_score: 10,
                draw_plies: 10,
                draw_from: 80,
                max_plies: 300,
            },
            rules: "competition".to_owned(),
        }
    }

    #[test]
    fn bytes_round_trip_and_are_refused_when_off() {
        let bytes = plan().to_bytes().unwrap();
        assert_eq!(Plan::from_bytes(&bytes), Ok(plan()));
        for cut in 0..bytes.len() {
            assert!(Plan::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        assert!(Plan::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
        assert!(matches!(Plan::from_bytes(&[9; 80]), Err(PlanError::Version { .. })));
    }

    const BOOK: BookPlan = BookPlan { sha256: [7; 32], openings: 10, plies: None, wrap: false };

    /// Every field that a plan can have: whatever is left out of the settings would let another plan's file pass.
    #[test]
    fn every_setting_is_told() {
        let changes: [fn(&mut Plan); 29] = [
            |plan| plan.count = Count::WholeBook,
            |plan| plan.limit.nodes = Some(9),
            |plan| plan.limit.soft_nodes = Some(9),
            |plan| plan.limit.depth = Some(9),
            |plan| plan.limit.movetime_ms = Some(9),
            |plan| plan.seed = 9,
            |plan| plan.net = [9; 32],
            |plan| plan.engine_signature = 9,
            |plan| plan.hash_mib = 9,
            |plan| plan.opening.book = Some(BOOK),
            |plan| plan.opening.book = Some(BookPlan { sha256: [8; 32], ..BOOK }),
            |plan| plan.opening.book = Some(BookPlan { openings: 11, ..BOOK }),
            |plan| plan.opening.book = Some(BookPlan { plies: Some(3), ..BOOK }),
            |plan| plan.opening.book = Some(BookPlan { wrap: true, ..BOOK }),
            |plan| plan.opening.min_plies = 1,
            |plan| plan.opening.max_plies = 10,
            |plan| plan.opening.balance = 9,
            |plan| plan.opening.balance_nodes = 9,
            |plan| plan.variety.lines = 9,
            |plan| plan.variety.random_per_mille = 9,
            |plan| plan.adjudication.resign_score = 9,
            |plan| plan.adjudication.resign_plies = 9,
            |plan| plan.adjudication.resign_mate = true,
            |plan| plan.adjudication.draw_score = 9,
            |plan| plan.adjudication.draw_plies = 9,
            |plan| plan.adjudication.draw_from = 9,
            |plan| plan.adjudication.max_plies = 399,
            |plan| plan.rules = "asian".to_owned(),
            |plan| plan.count = Count::Positions(10),
        ];
        let mut told = std::collections::HashSet::from([plan().settings()]);
        for (i, change) in changes.iter().enumerate() {
            let mut other = plan();
            change(&mut other);
            assert!(told.insert(other.settings()), "change {i} is not to be seen");
            assert_eq!(Plan::from_bytes(&other.to_bytes().unwrap()), Ok(other), "change {i}");
        }
    }

    #[test]
    fn settings_out_of_range() {
        let check = |change: fn(&mut Plan), name: &str| {
            let mut plan = plan();
            change(&mut plan);
            match plan.check() {
                Err(PlanError::Setting { name: found, .. }) => assert_eq!(found, name),
                other => panic!("{name}: {other:?}"),
            }
        };
        assert_eq!(plan().check(), Ok(()));
        check(|plan| plan.count = Count::Games(0), "--games");
        check(|plan| plan.limit.nodes = None, "--nodes");
        check(|plan| plan.limit.depth = Some(0), "--depth");
        check(|plan| plan.limit.movetime_ms = Some(0), "--movetime");
        check(|plan| plan.limit.soft_nodes = Some(0), "--soft-nodes");
        check(|plan| plan.limit.soft_nodes = Some(101), "--soft-nodes");
        check(|plan| (plan.limit.soft_nodes, plan.limit.nodes) = (Some(9), None), "--soft-nodes");
        check(|plan| plan.opening.book = Some(BookPlan { openings: 0, ..BOOK }), "--book");
        check(|plan| plan.opening.book = Some(BookPlan { openings: 9, ..BOOK }), "--games");
        let wrapped = |plan: &mut Plan| {
            plan.opening.book = Some(BookPlan { wrap: true, ..BOOK });
            plan.opening.min_plies = 0;
            plan.opening.max_plies = 0;
        };
        check(wrapped, "--book-wrap");
        check(|plan| plan.count = Count::WholeBook, "--whole-book");
        let endless = |plan: &mut Plan| {
            plan.opening.book = Some(BookPlan { wrap: true, ..BOOK });
            plan.count = Count::WholeBook;
        };
        check(endless, "--whole-book");
        check(|plan| plan.variety.lines = 129, "--multi-pv");
        check(|plan| plan.variety.margin = -1, "--multi-pv-margin");
        check(|plan| plan.variety.random_per_mille = 1001, "--random-moves");
        check(|plan| plan.opening.min_plies = 10, "--random-plies");
        check(|plan| plan.opening.balance = -1, "--balance");
        check(|plan| plan.adjudication.max_plies = 9, "--max-plies");
        check(|plan| plan.adjudication.max_plies = 5000, "--max-plies");
        check(|plan| plan.adjudication.resign_plies = 1, "--resign-plies");
        check(|plan| plan.adjudication.resign_score = 0, "--resign-score");
        check(|plan| plan.hash_mib = 0, "--hash");
        check(|plan| plan.rules = "chess".to_owned(), "--rules");
    }

    #[test]
    fn differences_are_named() {
        let mut other = plan();
        other.seed = 2;
        other.count = Count::Positions(7);
        let differences = plan().differences(&other);
        let expected =
            ["games: none there, 10 here", "positions: 7 there, none here", "seed: 2 there, 1 here"];
        assert_eq!(differences, expected);
    }
}
