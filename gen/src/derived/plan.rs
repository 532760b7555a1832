//! What a derived file says of its making. `docs/record-format.md` shows the bytes.

use bincode::{Decode, Encode};
use nnue_format::record::{Header, MAX_PLAN_LEN};
use serde_json::{Value, json};
use xiangqi::judge::RuleSet;

use super::Sources;
use crate::plan::{Plan, PlanError, hex, net_text, run_id};

/// Apart from the versions of the plans of self-play and of imports.
pub const DERIVED_PLAN_VERSION: u32 = 0x0001_0002;

/// The most inputs of a file: their list must fit into a plan.
pub const MAX_INPUTS: usize = 8192;

/// An input as the plan names it: by what it holds, not by its name.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct PlanInput {
    /// SHA-256 of the file.
    pub sha256: [u8; 32],
    /// Its length in bytes.
    pub bytes: u64,
    /// Its run id.
    pub run_id: [u8; 16],
    /// Its net id.
    pub net: [u8; 32],
    /// Whole games in it.
    pub games: u64,
    /// Their plies.
    pub plies: u64,
    /// Their scored plies.
    pub positions: u64,
    /// Damaged parts that were left out.
    pub damaged: u64,
}

/// Everything that a derived file depends on.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct DerivedPlan {
    /// [`DERIVED_PLAN_VERSION`].
    pub version: u32,
    /// The verb that made the file.
    pub verb: String,
    /// Its settings, each with its name, in the verb's order. What has no influence on the games (threads, memory) is not in it.
    pub settings: Vec<(String, String)>,
    /// The inputs in their order.
    pub inputs: Vec<PlanInput>,
    /// The name of the rule set.
    pub rules: String,
}

impl DerivedPlan {
    /// The plan of a verb over these inputs.
    pub fn new(verb: &str, settings: Vec<(String, String)>, sources: &Sources) -> DerivedPlan {
        let inputs = sources.files().iter().map(|source| PlanInput {
            sha256: source.sha256,
            bytes: source.bytes,
            run_id: source.header.run_id,
            net: source.header.net_id,
            games: source.totals.games,
            plies: source.totals.plies,
            positions: source.totals.positions,
            damaged: source.damage.len() as u64,
        });
        DerivedPlan {
            version: DERIVED_PLAN_VERSION,
            verb: verb.to_owned(),
            settings,
            inputs: inputs.collect(),
            rules: sources.rules().to_string(),
        }
    }

    /// The plan as it stands in a record file: bincode 2, little-endian, fixed integers.
    ///
    /// # Errors
    /// When it cannot be coded.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PlanError> {
        let config = bincode::config::standard().with_fixed_int_encoding();
        bincode::encode_to_vec(self, config).map_err(|error| PlanError::Bytes(error.to_string()))
    }

    /// Reads a plan; all bytes must belong to it.
    ///
    /// # Errors
    /// When it is of another kind, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<DerivedPlan, PlanError> {
        let config =
            bincode::config::standard().with_fixed_int_encoding().with_limit::<{ 4 * MAX_PLAN_LEN }>();
        let found = bytes.first_chunk().map_or(0, |&version| u32::from_le_bytes(version));
        if found != DERIVED_PLAN_VERSION {
            return Err(PlanError::Version { found, expected: DERIVED_PLAN_VERSION });
        }
        let (plan, length) = bincode::decode_from_slice::<DerivedPlan, _>(bytes, config)
            .map_err(|error| PlanError::Bytes(error.to_string()))?;
        match bytes.len() - length {
            0 => Ok(plan),
            left => Err(PlanError::Bytes(format!("{left} bytes are left over"))),
        }
    }

    /// The header of the plan's file. Net id and engine signature are the inputs' where all have the same, else zero; `seed` is
    /// the verb's. The run id is a digest of the plan.
    ///
    /// # Errors
    /// When the plan cannot be coded, or names no rule set.
    pub fn header(&self, sources: &Sources, seed: u64) -> Result<Header, PlanError> {
        let run_id = run_id(&self.to_bytes()?);
        let common = |of: fn(&Header) -> &[u8; 32]| {
            let mut ids = sources.files().iter().map(|source| of(&source.header));
            let first = ids.next().copied().unwrap_or_default();
            if ids.all(|id| *id == first) { first } else { [0; 32] }
        };
        let mut signatures = sources.files().iter().map(|source| source.header.engine_signature);
        let first = signatures.next().unwrap_or_default();
        let engine_signature = if signatures.all(|other| other == first) { first } else { 0 };
        let rules: RuleSet = sources.rules();
        let net_id = common(|header| &header.net_id);
        Ok(Header { rules, seed, engine_signature, run_id, net_id, plan_len: 0, plan_crc: 0 })
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let settings: serde_json::Map<String, Value> =
            self.settings.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let inputs = self.inputs.iter().map(|input| {
            json!({
                "sha256": hex(&input.sha256),
                "bytes": input.bytes,
                "run_id": hex(&input.run_id),
                "net": net_text(&input.net),
                "games": input.games,
                "plies": input.plies,
                "positions": input.positions,
                "damaged": input.damaged,
            })
        });
        json!({
            "version": self.version,
            "verb": self.verb,
            "settings": settings,
            "inputs": inputs.collect::<Vec<_>>(),
            "rules": self.rules,
        })
    }

    /// For people: the verb, its settings, its inputs.
    pub fn lines(&self) -> Vec<String> {
        let settings: Vec<_> = self.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let settings = if settings.is_empty() { "no settings".to_owned() } else { settings.join(", ") };
        let mut lines = vec![format!("made by {} ({settings}) from:", self.verb)];
        lines.extend(self.inputs.iter().map(|input| {
            let damage = if input.damaged > 0 {
                format!(", {} damaged parts left out", input.damaged)
            } else {
                String::new()
            };
            let PlanInput { games, positions, bytes, .. } = input;
            format!("  {} ({games} games, {positions} positions, {bytes} bytes{damage})", hex(&input.sha256))
        }));
        lines
    }
}

/// A file's plan of any kind as JSON; null where it is of no kind known here.
pub fn plan_json(bytes: &[u8]) -> Value {
    if let Ok(plan) = DerivedPlan::from_bytes(bytes) {
        return plan.json();
    }
    Plan::from_bytes(bytes).map_or(Value::Null, |plan| json!(plan))
}

/// What people want to know of a derived file's plan; nothing for other kinds.
pub fn plan_lines(bytes: &[u8]) -> Vec<String> {
    DerivedPlan::from_bytes(bytes).map_or(Vec::new(), |plan| plan.lines())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> DerivedPlan {
        let input = PlanInput {
            sha256: [3; 32],
            bytes: 1000,
            run_id: [4; 16],
            net: [0; 32],
            games: 5,
            plies: 300,
            positions: 280,
            damaged: 1,
        };
        DerivedPlan {
            version: DERIVED_PLAN_VERSION,
            verb: "shuffle".to_owned(),
            settings: vec![("seed".to_owned(), "7".to_owned())],
            inputs: vec![input; 3],
            rules: "asian".to_owned(),
        }
    }

    #[test]
    fn bytes_round_trip_and_are_refused_when_off() {
        let bytes = plan().to_bytes().unwrap();
        assert_eq!(DerivedPlan::from_bytes(&bytes), Ok(plan()));
        for cut in 0..bytes.len() {
            assert!(DerivedPlan::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        assert!(DerivedPlan::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
        assert!(matches!(DerivedPlan::from_bytes(&[9; 80]), Err(PlanError::Version { .. })));
        assert_eq!(plan_json(&bytes)["settings"]["seed"], "7");
        assert_eq!(plan_json(b"something else"), Value::Null);
        assert!(plan_lines(&bytes)[0].contains("shuffle (seed 7)"));
    }

    #[test]
    fn the_longest_plan_fits() {
        let mut plan = plan();
        plan.inputs = vec![plan.inputs[0].clone(); MAX_INPUTS];
        let bytes = plan.to_bytes().unwrap();
        assert!(bytes.len() + 10_000 < MAX_PLAN_LEN, "{}", bytes.len());
        assert_eq!(DerivedPlan::from_bytes(&bytes), Ok(plan));
    }
}
