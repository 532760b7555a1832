//! What can be wrong with an architecture, a net, or a net file. Every message says what was
//! found, what was expected, where, and what to do.

use std::path::PathBuf;

use thiserror::Error;

/// An architecture text that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArchError {
    /// No such feature set.
    #[error("unknown feature set {found:?}; known are half-kp, half-kp-hm, half-ka-hm, half-ka-hm-ab")]
    UnknownFeatureSet {
        /// The word, cut to 40 characters.
        found: String,
    },
    /// A text that does not follow the grammar.
    #[error(
        "{found:?} is no architecture ({why}); expected a preset (classic, default) or \
         FEATURES 2xL1-L2-L3-1 [crelu|pairwise] [1-stack|8-stacks|16-stacks] [psqt]"
    )]
    Syntax {
        /// The text, cut to 80 characters.
        found: String,
        /// Which part was wrong.
        why: String,
    },
    /// A width out of range.
    #[error("{name} is {found}; expected a multiple of {multiple} from {min} to {max}")]
    Width {
        /// `L1`, `L2` or `L3`.
        name: &'static str,
        /// The width found.
        found: usize,
        /// It must be a multiple of this.
        multiple: usize,
        /// Smallest width.
        min: usize,
        /// Greatest width.
        max: usize,
    },
}

/// A matrix whose shape is not what the architecture says.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{layer} has shape {found:?}, but {arch} has {expected:?}; was it built for another architecture?")]
pub struct ShapeError {
    /// The matrix's name.
    pub layer: &'static str,
    /// Its shape.
    pub found: Vec<usize>,
    /// The shape the architecture asks for.
    pub expected: Vec<usize>,
    /// The architecture's text.
    pub arch: String,
}

/// A net that cannot be quantised, or whose integers break a rule of [`crate::quant`].
#[derive(Clone, Debug, PartialEq, Error)]
pub enum QuantiseError {
    /// See [`ShapeError`].
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A weight that is NaN or infinite.
    #[error("{layer}{index:?} is {value}; the training run has diverged, go back to an earlier checkpoint")]
    NotFinite {
        /// The matrix's name.
        layer: &'static str,
        /// Index into it.
        index: Vec<usize>,
        /// The value.
        value: f32,
    },
    /// A weight that does not fit its integer type.
    #[error(
        "{layer}{index:?} is {value}, but at most ±{limit} fits; train with weight clipping (quant::clip)"
    )]
    OutOfRange {
        /// The matrix's name.
        layer: &'static str,
        /// Index into it.
        index: Vec<usize>,
        /// The value, in the float net's unit.
        value: f64,
        /// The greatest size that fits, in the same unit.
        limit: f64,
    },
    /// A neuron of the feature transformer whose sum could leave the i16 range on some board.
    #[error(
        "feature transformer neuron {neuron}: in bucket {bucket} its sum can reach {sum}, outside the i16 \
         range; train with the feature transformer clipped (quant::clip)"
    )]
    AccumulatorOverflow {
        /// Column of the feature transformer.
        neuron: usize,
        /// The bucket (king × attack) in which it can happen.
        bucket: usize,
        /// The sum that could be reached.
        sum: i64,
    },
}

/// A net file that was refused, or could not be read or written.
#[derive(Debug, Error)]
pub enum NetFileError {
    /// The operating system said no.
    #[error("{path}: {source}")]
    Io {
        /// The file, or what was read.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file ends too early.
    #[error("net file ends after {found} bytes inside {part}, which needs {expected}; copy the file again")]
    Truncated {
        /// Bytes there are.
        found: u64,
        /// Bytes needed to the end of the part.
        expected: u64,
        /// The part of the file.
        part: &'static str,
    },
    /// The file goes on after its end.
    #[error("{found} or more bytes follow the end of the net file at offset {offset}; copy the file again")]
    Trailing {
        /// Bytes found after the end.
        found: u64,
        /// Where the file should have ended.
        offset: u64,
    },
    /// Not a net file of ours.
    #[error("no Chuhe net: begins with {found:02x?}, expected {expected:02x?}")]
    Magic {
        /// First eight bytes.
        found: [u8; 8],
        /// The magic.
        expected: [u8; 8],
    },
    /// A version this program does not know.
    #[error(
        "net file version {found}; this program reads version {expected}; use the program it was made with"
    )]
    Version {
        /// Version found.
        found: u32,
        /// Version known.
        expected: u32,
    },
    /// The architecture's text cannot be used.
    #[error("architecture in the header: {0}")]
    Arch(#[from] ArchError),
    /// The header's architecture text is not in canonical form.
    #[error("architecture in the header is written {found:?}; the canonical form is {expected:?}")]
    ArchText {
        /// The text found.
        found: String,
        /// The canonical text.
        expected: String,
    },
    /// An id or scale that differs from what this program computes.
    #[error(
        "{field} is {found}, this program has {expected}; the file was made by another version, export it again"
    )]
    Mismatch {
        /// The header's field.
        field: &'static str,
        /// Value in the file.
        found: String,
        /// Value here.
        expected: String,
    },
    /// A length in the header that cannot be right.
    #[error("{field} is {found}; expected {expected}")]
    Length {
        /// The header's field.
        field: &'static str,
        /// Value in the file.
        found: u64,
        /// What it must be, or the most it may be.
        expected: String,
    },
    /// The file was changed after it was written.
    #[error(
        "checksum of the contents is {found}, the file says {expected}; the file is damaged, copy it again"
    )]
    Checksum {
        /// SHA-256 computed.
        found: String,
        /// SHA-256 stored.
        expected: String,
    },
    /// The description cannot be decoded.
    #[error("description of {length} bytes cannot be decoded: {why}")]
    Description {
        /// Its length.
        length: u64,
        /// The decoder's words.
        why: String,
    },
    /// The payload cannot be decompressed to its length.
    #[error("payload: {why}")]
    Payload {
        /// What went wrong.
        why: String,
    },
    /// The weights break a rule of [`crate::quant`].
    #[error("weights: {0}")]
    Weights(#[from] QuantiseError),
    /// A file of that name exists and would be overwritten.
    #[error("{path} exists; choose another name or say that it may be overwritten")]
    Exists {
        /// The path.
        path: PathBuf,
    },
}
