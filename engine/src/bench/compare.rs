//! One net on every backend of this CPU: the same bench in alternating rounds.
//!
//! Other work on the machine comes and goes over seconds, so a backend is compared with the others of its round, and
//! the median over the rounds is told. Every other round goes backwards: none always runs in the same one's wake.

use std::sync::Arc;

use nnue_format::QuantisedNet;
use nnue_infer::{Backend, EngineNet, EngineNetError};

use super::{BenchResult, Plan};
use crate::eval::EvalSource;

/// Rounds unless others are asked for.
pub const DEFAULT_ROUNDS: usize = 5;

/// Why backends cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// The net does not suit this program.
    #[error(transparent)]
    Net(#[from] EngineNetError),
    /// A backend searched another tree than the first one: its evaluations are wrong.
    #[error(
        "backend {backend} searched {found} nodes where {first} searched {expected}: it does not evaluate as {first} does"
    )]
    Nodes {
        /// The one that differs.
        backend: Backend,
        /// Its nodes.
        found: u64,
        /// The one it was compared with.
        first: Backend,
        /// That one's nodes.
        expected: u64,
    },
}

/// What a backend did.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The backend.
    pub backend: Backend,
    /// Nodes a second of each round.
    pub rounds: Vec<u64>,
    /// Their median.
    pub nps: u64,
    /// How many times as fast as the backend before it: the median over the rounds; `None` for the first.
    pub to_before: Option<f64>,
    /// How many times as fast as the first, which is scalar.
    pub to_first: f64,
}

/// All backends, slowest kind first.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Nodes of a bench, the same on all.
    pub nodes: u64,
    /// One row for each backend.
    pub rows: Vec<Row>,
}

impl Comparison {
    /// The row with the greatest median.
    pub fn fastest(&self) -> Option<&Row> {
        self.rows.iter().max_by_key(|row| row.nps)
    }
}

/// Runs a bench on every backend of this CPU, `rounds` times (at least once). `progress` hears the round (from 0) and what
/// a backend did in it.
///
/// # Errors
/// Where a net cannot be used, or a backend's nodes differ from the first one's; `plan` must have one thread for them
/// to be comparable.
pub fn run(
    net: &QuantisedNet,
    plan: &Plan,
    rounds: usize,
    progress: &mut dyn FnMut(usize, Backend, &BenchResult),
) -> Result<Comparison, CompareError> {
    let prepared = Backend::available()
        .into_iter()
        .map(|backend| Ok((backend, EvalSource::Net(Arc::new(EngineNet::new(net, backend)?)))))
        .collect::<Result<Vec<_>, EngineNetError>>()?;
    let mut nps = vec![Vec::new(); prepared.len()];
    let mut first: Option<(Backend, u64)> = None;
    for round in 0..rounds.max(1) {
        let mut order: Vec<usize> = (0..prepared.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for i in order {
            let (backend, source) = &prepared[i];
            let result = super::run(source.clone(), plan, &mut |_, _| {});
            progress(round, *backend, &result);
            agree(*first.get_or_insert((*backend, result.all.nodes)), (*backend, result.all.nodes))?;
            nps[i].push(result.all.nps());
        }
    }
    let rows = prepared.iter().enumerate().map(|(i, (backend, _))| Row {
        backend: *backend,
        rounds: nps[i].clone(),
        nps: median(nps[i].clone(), u64::cmp).unwrap_or_default(),
        to_before: i.checked_sub(1).map(|before| ratio(&nps[i], &nps[before])),
        to_first: ratio(&nps[i], &nps[0]),
    });
    Ok(Comparison { nodes: first.map_or(0, |(_, nodes)| nodes), rows: rows.collect() })
}

/// A backend's nodes against those of the first one.
fn agree((first, expected): (Backend, u64), (backend, found): (Backend, u64)) -> Result<(), CompareError> {
    if found == expected {
        return Ok(());
    }
    Err(CompareError::Nodes { backend, found, first, expected })
}

/// The median of the rounds' ratios.
fn ratio(of: &[u64], to: &[u64]) -> f64 {
    let ratios = of.iter().zip(to).map(|(a, b)| *a as f64 / (*b).max(1) as f64).collect();
    median(ratios, f64::total_cmp).unwrap_or(1.0)
}

/// The middle value; of an even number the upper one of the two.
fn median<T: Copy>(mut values: Vec<T>, order: impl Fn(&T, &T) -> std::cmp::Ordering) -> Option<T> {
    values.sort_by(order);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_ratios() {
        assert_eq!(median(vec![3, 1, 2], u64::cmp), Some(2));
        assert_eq!(median(Vec::new(), u64::cmp), None);
        assert_eq!(ratio(&[20, 90, 31], &[10, 10, 10]), 3.1);
        assert_eq!(ratio(&[5], &[0]), 5.0);
    }

    #[test]
    fn a_backend_that_differs_is_named() {
        assert!(agree((Backend::Scalar, 7), (Backend::Avx2, 7)).is_ok());
        let error = agree((Backend::Scalar, 7), (Backend::Avx2, 8)).expect_err("8 is not 7").to_string();
        assert!(error.starts_with("backend avx2 searched 8 nodes where scalar searched 7"), "{error}");
    }

    #[test]
    fn every_backend_has_a_row_and_the_same_nodes() {
        let arch = "half-kp 2x128-16-16-1 crelu".parse().expect("an architecture");
        let net = QuantisedNet::random(&arch, 3);
        let mut heard = Vec::new();
        let plan = Plan::depth(2);
        let found = run(&net, &plan, 2, &mut |round, backend, _| heard.push((round, backend)))
            .expect("backends agree");
        let backends = Backend::available();
        let forth = backends.iter().map(|backend| (0, *backend));
        let back = backends.iter().rev().map(|backend| (1, *backend));
        assert_eq!(heard, forth.chain(back).collect::<Vec<_>>());
        assert_eq!(found.rows.iter().map(|row| row.backend).collect::<Vec<_>>(), backends);
        assert!(found.nodes > 0 && found.rows.iter().all(|row| row.rounds.len() == 2));
        assert!(found.rows[0].to_before.is_none() && found.rows[0].to_first == 1.0);
        assert!(found.fastest().is_some());
    }
}
