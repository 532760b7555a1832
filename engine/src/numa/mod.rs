//! On which CPUs search threads run: the machine's nodes, the policy, and how threads are spread over them.
//!
//! ```text
//! "auto", "0-7:8-15" → NumaPolicy ─┐
//! /sys, affinity     → Topology  ──┴→ Binding (thread → node) → each thread binds itself
//! ```
//! Threads are bound on Linux; elsewhere a policy is read and reported, and binds nothing.

pub(crate) mod copies;
mod policy;
mod system;

use std::fmt;

pub use policy::{NumaPolicy, PolicyError};
pub use system::{BindError, PinGuard, Topology};

/// CPUs by their numbers, ascending.
pub type CpuList = Vec<usize>;

/// Automatic binding begins when more threads than this part of a node's CPUs are wanted.
const AUTO_NODE_SHARE: usize = 2;
/// … or when every node gets so many threads.
const AUTO_THREADS_PER_NODE: usize = 4;

/// Where each search thread runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    threads: usize,
    allowed: usize,
    policy: NumaPolicy,
    nodes: Vec<CpuList>,
    /// The node of each thread; empty where threads are not bound.
    places: Vec<usize>,
    can_bind: bool,
    /// What the system said when it refused to bind; threads are not bound then.
    refused: Option<BindError>,
}

impl Binding {
    /// The binding of [`NumaPolicy::Auto`], which suits every machine.
    pub fn automatic(topology: &Topology, threads: usize) -> Binding {
        let nodes = policy::allowed_nodes(topology);
        Binding::over(nodes, NumaPolicy::Auto, topology, threads)
    }

    /// Spreads `threads` over the nodes that a policy means on this machine.
    ///
    /// # Errors
    /// Where the policy names CPUs that are not there or may not be used.
    pub fn new(policy: &NumaPolicy, topology: &Topology, threads: usize) -> Result<Binding, PolicyError> {
        let nodes = policy.nodes(topology)?;
        Ok(Binding::over(nodes, policy.clone(), topology, threads))
    }

    fn over(nodes: Vec<CpuList>, policy: NumaPolicy, topology: &Topology, threads: usize) -> Binding {
        let wanted = match policy {
            NumaPolicy::None => false,
            NumaPolicy::Auto => worth_binding(&nodes, threads),
            NumaPolicy::System | NumaPolicy::Hardware | NumaPolicy::Custom(_) => true,
        };
        let can_bind = topology.can_bind();
        let places = if wanted && can_bind { spread(&nodes, threads) } else { Vec::new() };
        let allowed = topology.allowed().len();
        Binding { threads, allowed, policy, nodes, places, can_bind, refused: None }
    }

    /// Binds the current thread to each node for a moment. Where the system refuses, nobody will be bound, and the text of
    /// this says so: threads of a search that cannot be bound search on without a word.
    #[must_use]
    pub fn tried(mut self) -> Binding {
        let used = self.nodes.iter().enumerate().filter(|(node, _)| self.places.contains(node));
        let refused = used.map(|(_, cpus)| PinGuard::bind(cpus)).find_map(Result::err);
        if refused.is_some() {
            self.places = Vec::new();
            self.refused = refused;
        }
        self
    }

    /// The CPUs on which a thread (from 0) is to run; `None` where it is not bound.
    pub fn cpus_of(&self, thread: usize) -> Option<&[usize]> {
        self.cpus_of_node(self.node_of(thread)?)
    }

    /// The node of a thread (from 0); `None` where it is not bound.
    pub fn node_of(&self, thread: usize) -> Option<usize> {
        self.places.get(thread).copied()
    }

    /// The CPUs of a node.
    pub fn cpus_of_node(&self, node: usize) -> Option<&[usize]> {
        self.nodes.get(node).map(Vec::as_slice)
    }

    /// How many threads each node gets; empty where threads are not bound.
    pub fn threads_by_node(&self) -> Vec<usize> {
        if self.places.is_empty() {
            return Vec::new();
        }
        let count = |node| self.places.iter().filter(|&&place| place == node).count();
        (0..self.nodes.len()).map(count).collect()
    }
}

/// Is it worth the trouble to bind, as the field's engines judge: more than half of the largest node's CPUs
/// are wanted, or there are at least four threads for every node?
fn worth_binding(nodes: &[CpuList], threads: usize) -> bool {
    let largest = nodes.iter().map(Vec::len).max().unwrap_or(0);
    let many = threads > largest / AUTO_NODE_SHARE || threads >= nodes.len() * AUTO_THREADS_PER_NODE;
    nodes.len() > 1 && threads > 1 && many
}

/// Gives each thread in turn to the node that is then the least full for its size; the first of equals.
fn spread(nodes: &[CpuList], threads: usize) -> Vec<usize> {
    let mut counts = vec![0usize; nodes.len()];
    let mut places = Vec::with_capacity(threads);
    for _ in 0..threads {
        // (count + 1) / size, compared by cross products.
        let better = |a: usize, b: usize| {
            (counts[a] + 1) * nodes[b].len().max(1) < (counts[b] + 1) * nodes[a].len().max(1)
        };
        let node = (1..nodes.len()).fold(0, |best, node| if better(node, best) { node } else { best });
        if let Some(count) = counts.get_mut(node) {
            *count += 1;
            places.push(node);
        }
    }
    places
}

impl fmt::Display for Binding {
    /// `threads 4, CPUs allowed 16, NUMA nodes 2 (0-7:8-15), policy auto, bound 2:2`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes: Vec<String> = self.nodes.iter().map(|cpus| policy::list_text(cpus)).collect();
        write!(f, "threads {}, CPUs allowed {}, ", self.threads, self.allowed)?;
        write!(f, "NUMA nodes {} ({}), policy {}, ", nodes.len(), nodes.join(":"), self.policy)?;
        let counts: Vec<String> = self.threads_by_node().iter().map(ToString::to_string).collect();
        match (&self.refused, counts.is_empty(), self.can_bind) {
            (Some(error), ..) => write!(f, "not bound: {error}")?,
            (None, false, _) => write!(f, "bound {}", counts.join(":"))?,
            (None, true, true) => f.write_str("not bound")?,
            (None, true, false) => f.write_str("not bound (this system binds no threads)")?,
        }
        if self.threads > self.allowed {
            write!(f, "; more threads than CPUs: {} of them wait for others", self.threads - self.allowed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Topology {
        Topology::of(vec![(0..8).collect(), (8..16).collect()], (0..16).collect())
    }

    fn bind(policy: &str, threads: usize) -> Binding {
        let policy: NumaPolicy = policy.parse().expect(policy);
        Binding::new(&policy, &machine(), threads).expect("CPUs that are there")
    }

    #[test]
    fn threads_are_spread_by_size() {
        let nodes = [(0..6).collect(), (6..8).collect::<CpuList>()];
        assert_eq!(spread(&nodes, 8).iter().filter(|&&node| node == 0).count(), 6);
        assert_eq!(spread(&nodes, 1), [0]);
        assert_eq!(spread(&nodes, 0), [0usize; 0]);
    }

    #[test]
    fn policies_bind_as_they_say() {
        let cases: [(&str, usize, &[usize]); 8] = [
            ("none", 16, &[]),
            ("auto", 1, &[]),
            ("auto", 4, &[]),
            ("auto", 5, &[3, 2]),
            ("auto", 16, &[8, 8]),
            ("system", 2, &[1, 1]),
            ("hardware", 3, &[2, 1]),
            ("0-3:12-15:8", 3, &[2, 1, 0]),
        ];
        for (policy, threads, expected) in cases {
            let found = bind(policy, threads).threads_by_node();
            let expected = if machine().can_bind() { expected.to_vec() } else { Vec::new() };
            assert_eq!(found, expected, "{policy} {threads}");
        }
    }

    #[test]
    fn facts_are_told() {
        let text = bind("none", 20).to_string();
        let expected = "threads 20, CPUs allowed 16, NUMA nodes 1 (0-15), policy none, not bound";
        assert!(text.starts_with(expected) && text.contains("4 of them wait"), "{text}");
    }

    #[test]
    fn a_refusal_is_told() {
        let here = Topology::here();
        let bound = Binding::new(&NumaPolicy::System, &here, 1).expect("CPUs of this process").tried();
        assert!(!bound.to_string().contains("not bound:"), "{bound}");
        assert_eq!(Topology::here(), here, "the thread has its CPUs again");
        // A machine whose only CPU is not of this one.
        let far = Topology::of(vec![vec![1023]], vec![1023]);
        let refused = Binding::new(&NumaPolicy::System, &far, 1).expect("it is said to be there").tried();
        if far.can_bind() {
            assert!(
                refused.to_string().contains("not bound: a thread could not be bound to CPUs 1023: "),
                "{refused}"
            );
            assert_eq!(refused.cpus_of(0), None);
        }
    }

    #[test]
    fn cpus_that_are_not_there_are_named() {
        let policy: NumaPolicy = "0-7:16-17".parse().expect("well-formed");
        let error = Binding::new(&policy, &machine(), 2).expect_err("no CPU 16").to_string();
        assert!(error.contains("16") && error.contains("0-15"), "{error}");
    }
}
