//! What two programs of Chuhe must agree on, and nothing else: feature numbers ([`features`]),
//! architectures ([`arch`]), scales and ranges ([`quant`]), the stages of a net ([`FloatNet`] →
//! [`MergedNet`] → [`QuantisedNet`]) and their files ([`net`]), what a net file means
//! ([`reference`](mod@reference)), how far its float net can be from it ([`bound`]), and record files ([`record`]).

pub mod arch;
pub mod bound;
pub mod error;
pub mod features;
pub mod net;
pub mod quant;
pub mod record;
pub mod reference;

pub use arch::{Activation, ArchId, Architecture, Stacks};
pub use error::{ArchError, NetFileError, QuantiseError, ShapeError};
pub use features::{FeatureSet, View};
pub use net::{Description, FloatNet, MergedNet, NetFile, NetId, Overwrite, QuantisedNet};
pub use reference::Eval;
