//! Matches between engines or nets: pairs of games judged by our own rules, statistics of their
//! results, sequential tests.

pub mod stats;
