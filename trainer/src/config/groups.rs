//! Settings that may differ between the parts of a net.

use serde::{Deserialize, Serialize};

/// Parameters that are trained alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Weight rows of the feature transformer, factors and piece-square values among them.
    FeatureTransformer,
    /// Weights of the dense layers.
    Dense,
    /// Biases of every layer.
    Biases,
}

impl Group {
    /// All of them, in the order of [`PerGroup::Each`].
    pub const ALL: [Group; 3] = [Group::FeatureTransformer, Group::Dense, Group::Biases];
}

/// A number for all groups, or one for each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number, or { feature_transformer = …, dense = …, biases = … } with all three"
)]
pub enum PerGroup {
    /// The same for all.
    All(f64),
    /// One for each.
    Each(Groups),
}

/// A number for each group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Groups {
    /// [`Group::FeatureTransformer`].
    pub feature_transformer: f64,
    /// [`Group::Dense`].
    pub dense: f64,
    /// [`Group::Biases`].
    pub biases: f64,
}

impl PerGroup {
    /// The number of one group.
    pub fn of(self, group: Group) -> f64 {
        match (self, group) {
            (PerGroup::All(value), _) => value,
            (PerGroup::Each(each), Group::FeatureTransformer) => each.feature_transformer,
            (PerGroup::Each(each), Group::Dense) => each.dense,
            (PerGroup::Each(each), Group::Biases) => each.biases,
        }
    }

    /// Do all of them pass a test?
    pub fn all(self, test: impl Fn(f64) -> bool) -> bool {
        Group::ALL.into_iter().all(|group| test(self.of(group)))
    }
}

impl std::fmt::Display for PerGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PerGroup::All(value) => write!(f, "{value}"),
            PerGroup::Each(Groups { feature_transformer, dense, biases }) => {
                write!(f, "{feature_transformer}, {dense}, {biases}")
            }
        }
    }
}
