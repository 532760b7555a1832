//! The few messages of TensorFlow's `event.proto` and `summary.proto` that TensorBoard reads scalars and histograms
//! from. Numbers and types of the fields are theirs; fields we never write are left out, which readers of protocol
//! buffers allow.

use super::statistics::Histogram;
use prost::{Enumeration, Message, Oneof};

/// What the first event of a file says.
pub const FILE_VERSION: &str = "brain.Event:2";

/// One record of an event file.
#[derive(Clone, PartialEq, Message)]
pub struct Event {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    pub wall_time: f64,
    /// The global step.
    #[prost(int64, tag = "2")]
    pub step: i64,
    /// What happened.
    #[prost(oneof = "What", tags = "3, 5, 7")]
    pub what: Option<What>,
}

/// What an [`Event`] tells.
#[derive(Clone, PartialEq, Oneof)]
pub enum What {
    /// The first event of a file: [`FILE_VERSION`].
    #[prost(string, tag = "3")]
    FileVersion(String),
    /// Values of a step.
    #[prost(message, tag = "5")]
    Summary(Summary),
    /// The run begins or goes on: a viewer forgets what it has of this step and later ones.
    #[prost(message, tag = "7")]
    SessionLog(SessionLog),
}

/// Values of a step.
#[derive(Clone, PartialEq, Message)]
pub struct Summary {
    /// The values.
    #[prost(message, repeated, tag = "1")]
    pub value: Vec<Value>,
}

/// A named value.
#[derive(Clone, PartialEq, Message)]
pub struct Value {
    /// Its name; what stands before the first `/` is the group it is shown in.
    #[prost(string, tag = "1")]
    pub tag: String,
    /// The value.
    #[prost(oneof = "Content", tags = "2, 5")]
    pub content: Option<Content>,
}

/// The content of a [`Value`].
#[derive(Clone, PartialEq, Oneof)]
pub enum Content {
    /// A number.
    #[prost(float, tag = "2")]
    Scalar(f32),
    /// A distribution.
    #[prost(message, tag = "5")]
    Histogram(HistogramProto),
}

/// A distribution: `bucket[i]` values lie above `bucket_limit[i - 1]` and up to `bucket_limit[i]`.
#[derive(Clone, PartialEq, Message)]
pub struct HistogramProto {
    /// The smallest value.
    #[prost(double, tag = "1")]
    pub min: f64,
    /// The greatest.
    #[prost(double, tag = "2")]
    pub max: f64,
    /// How many there are.
    #[prost(double, tag = "3")]
    pub num: f64,
    /// Their sum.
    #[prost(double, tag = "4")]
    pub sum: f64,
    /// The sum of their squares.
    #[prost(double, tag = "5")]
    pub sum_squares: f64,
    /// Upper ends of the buckets, rising.
    #[prost(double, repeated, tag = "6")]
    pub bucket_limit: Vec<f64>,
    /// How many values each holds.
    #[prost(double, repeated, tag = "7")]
    pub bucket: Vec<f64>,
}

/// The life of a run.
#[derive(Clone, PartialEq, Message)]
pub struct SessionLog {
    /// What happened to it.
    #[prost(enumeration = "SessionStatus", tag = "1")]
    pub status: i32,
}

/// What can happen to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum SessionStatus {
    /// Nothing said.
    Unspecified = 0,
    /// It began, or went on.
    Start = 1,
}

impl Value {
    /// A number under a name.
    pub fn scalar(tag: &str, value: f64) -> Value {
        Value { tag: tag.to_owned(), content: Some(Content::Scalar(value as f32)) }
    }

    /// A distribution under a name.
    pub fn histogram(tag: &str, histogram: &Histogram) -> Value {
        let limits = (1..=histogram.counts.len()).map(|bin| histogram.edge(bin));
        let content = HistogramProto {
            min: histogram.min,
            max: histogram.max,
            num: histogram.counts.iter().sum::<u64>() as f64,
            sum: histogram.sum,
            sum_squares: histogram.squares,
            bucket_limit: limits.collect(),
            bucket: histogram.counts.iter().map(|&count| count as f64).collect(),
        };
        Value { tag: tag.to_owned(), content: Some(Content::Histogram(content)) }
    }
}
