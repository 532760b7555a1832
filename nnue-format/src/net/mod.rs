//! The stages of a net, a type for each, and the file.
//!
//! ```text
//! checkpoint ─► FloatNet ─merge─► MergedNet ─quantise─► QuantisedNet ─write─► file ─read─► QuantisedNet
//!               factors           f32                   i16, i8, i32
//! ```

mod description;
mod file;
mod float;
mod header;
mod layers;
mod overflow;
mod quantised;
mod random;

pub use description::Description;
pub use file::{NetFile, NetId, Overwrite, put_in_place, read, read_from};
pub use float::{FloatNet, MergedNet};
pub use header::{HEADER_LEN, MAGIC, VERSION};
pub use layers::{FloatLayers, Layers, QuantisedLayers};
pub use quantised::QuantisedNet;
