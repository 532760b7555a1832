//! The plan of a run: everything that its games depend on.

use bincode::{Decode, Encode};
use nnue_format::record::MAX_GAME_PLIES;
use serde::Serialize;
use xiangqi::Score;
use xiangqi::judge::RuleSet;

/// Raised whenever the same plan would give other games than before (openings, adjudication, seeds).
pub const PLAN_VERSION: u32 = 1;

/// How much to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// So many games.
    Games(u64),
    /// Exactly so many scored positions: games in the order of their numbers until there are enough; of the
    /// last game the first scores too many are dropped (its moves are kept, as opening).
    Positions(u64),
}

/// The limit of every search of a game; at least one of the two is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct SearchLimit {
    /// Nodes a move.
    pub nodes: Option<u64>,
    /// Depth in plies.
    pub depth: Option<i32>,
}

/// How games begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct OpeningPlan {
    /// The fewest random plies from the start position.
    pub min_plies: u32,
    /// The most.
    pub max_plies: u32,
    /// Openings that a short search scores beyond ± this are rejected.
    pub balance: i32,
    /// Nodes of that search; 0 accepts every opening.
    pub balance_nodes: u64,
}

/// When a game is ended before the rules end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct Adjudication {
    /// A win once the scores of `resign_plies` plies in a row, both sides', say that one side is ahead by this.
    pub resign_score: i32,
    /// See above; 0: never.
    pub resign_plies: u32,
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
    #[serde(serialize_with = "as_hex")]
    pub net: [u8; 32],
    /// Node count of the engine's bench: which search plays.
    pub engine_signature: u64,
    /// Size of each searcher's table, in MiB.
    pub hash_mib: u32,
    /// How games begin.
    pub opening: OpeningPlan,
    /// When they are ended early.
    pub adjudication: Adjudication,
    /// The name of the rule set.
    pub rules: String,
}

fn as_hex<S: serde::Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&net_text(bytes))
}

/// A net id in hexadecimal, or "none".
pub fn net_text(id: &[u8; 32]) -> String {
    if *id == [0; 32] { "none".to_owned() } else { hex(id) }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

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

    /// Checks the settings against their ranges.
    pub fn check(&self) -> Result<(), PlanError> {
        let bad = |name, found: &dyn ToString, possible: &str| {
            Err(PlanError::Setting { name, found: found.to_string(), possible: possible.to_owned() })
        };
        let OpeningPlan { min_plies, max_plies, balance, .. } = self.opening;
        let Adjudication { resign_score, resign_plies, draw_score, max_plies: longest, .. } =
            self.adjudication;
        match self.count {
            Count::Games(0) => return bad("--games", &0, "1 or more"),
            Count::Positions(0) => return bad("--positions", &0, "1 or more"),
            _ => {}
        }
        match self.limit {
            SearchLimit { nodes: None, depth: None } => {
                return bad("--nodes", &"missing", "a number, or --depth");
            }
            SearchLimit { nodes: Some(0), .. } => return bad("--nodes", &0, "1 or more"),
            SearchLimit { depth: Some(depth), .. } if depth < 1 => {
                return bad("--depth", &depth, "1 or more");
            }
            _ => {}
        }
        if min_plies > max_plies || max_plies > 100 {
            return bad("--random-plies", &format!("{min_plies}..{max_plies}"), "N or A..B with A ≤ B ≤ 100");
        }
        if balance < 0 {
            return bad("--balance", &balance, "0 or more");
        }
        if longest <= max_plies || longest as usize > MAX_GAME_PLIES {
            let possible = format!("more than the random plies, at most {MAX_GAME_PLIES}");
            return bad("--max-plies", &longest, &possible);
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
        if self.hash_mib == 0 || self.hash_mib > 1 << 16 {
            return bad("--hash", &self.hash_mib, "1 to 65536 (MiB)");
        }
        self.rule_set().map(|_| ())
    }

    /// The rule set.
    pub fn rule_set(&self) -> Result<RuleSet, PlanError> {
        self.rules.parse().map_err(|_| PlanError::Setting {
            name: "--rules",
            found: self.rules.clone(),
            possible: RuleSet::ALL.map(RuleSet::name).join(", "),
        })
    }

    /// The settings with their names, for people.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let optional = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
        let (games, positions) = match self.count {
            Count::Games(n) => (Some(n.to_string()), None),
            Count::Positions(n) => (None, Some(n.to_string())),
        };
        let OpeningPlan { min_plies, max_plies, balance, balance_nodes } = self.opening;
        let a = &self.adjudication;
        vec![
            ("games", optional(games)),
            ("positions", optional(positions)),
            ("nodes", optional(self.limit.nodes.map(|n| n.to_string()))),
            ("depth", optional(self.limit.depth.map(|n| n.to_string()))),
            ("seed", self.seed.to_string()),
            ("net", net_text(&self.net)),
            ("engine signature", self.engine_signature.to_string()),
            ("hash (MiB)", self.hash_mib.to_string()),
            ("random plies", format!("{min_plies}..{max_plies}")),
            ("balance", format!("±{balance} at {balance_nodes} nodes")),
            ("resign", format!("{} for {} plies", a.resign_score, a.resign_plies)),
            ("draw", format!("±{} for {} plies from ply {}", a.draw_score, a.draw_plies, a.draw_from)),
            ("max plies", a.max_plies.to_string()),
            ("rules", self.rules.clone()),
        ]
    }

    /// Where another plan differs: "seed: 1 there, 2 here".
    pub fn differences(&self, there: &Plan) -> Vec<String> {
        let pairs = self.settings().into_iter().zip(there.settings());
        pairs
            .filter(|(here, there)| here != there)
            .map(|((name, here), (_, there))| format!("{name}: {there} there, {here} here"))
            .collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn plan() -> Plan {
        Plan {
            version: PLAN_VERSION,
            count: Count::Games(10),
            limit: SearchLimit { nodes: Some(100), depth: None },
            seed: 1,
            net: [0; 32],
            engine_signature: 42,
            hash_mib: 1,
            opening: OpeningPlan { min_plies: 6, max_plies: 9, balance: 200, balance_nodes: 50 },
            adjudication: Adjudication {
                resign_score: 1500,
                resign_plies: 6,
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
