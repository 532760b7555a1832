//! What the system says of its CPUs, and binding to them.

use super::CpuList;

/// The machine's nodes, and the CPUs that this process may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    nodes: Vec<CpuList>,
    allowed: CpuList,
}

/// A thread could not be bound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a thread could not be bound to CPUs {cpus}: {why}")]
pub struct BindError {
    /// The CPUs, as a list.
    pub cpus: String,
    /// What the system said.
    pub why: String,
}

impl Topology {
    /// A machine of these nodes, of which a process may use `allowed`.
    pub fn of(nodes: Vec<CpuList>, allowed: CpuList) -> Topology {
        Topology { nodes, allowed }
    }

    /// The nodes with all their CPUs.
    pub fn nodes(&self) -> &[CpuList] {
        &self.nodes
    }

    /// The CPUs that this process may use.
    pub fn allowed(&self) -> &[usize] {
        &self.allowed
    }

    /// Can threads be bound here at all?
    pub fn can_bind(&self) -> bool {
        cfg!(target_os = "linux")
    }

    /// This machine. What the system does not tell is taken for one node of all CPUs.
    pub fn here() -> Topology {
        let allowed = here::allowed().unwrap_or_else(counted);
        let mut nodes = here::nodes();
        if nodes.is_empty() {
            nodes.push(allowed.clone());
        }
        Topology { nodes, allowed }
    }
}

/// As many CPUs as the standard library counts, from 0.
fn counted() -> CpuList {
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (0..count).collect()
}

/// The CPUs that the current thread had before it was bound; it gets them back when this is dropped.
#[derive(Debug)]
pub struct PinGuard(#[cfg(target_os = "linux")] here::CpuSet);

#[cfg(target_os = "linux")]
mod here {
    use std::fs;

    pub(super) use rustix::thread::CpuSet;
    use rustix::thread::{sched_getaffinity, sched_setaffinity};

    use super::super::policy::{cpu_list, list_text};
    use super::{BindError, CpuList, PinGuard};

    const NODES: &str = "/sys/devices/system/node";

    pub(super) fn allowed() -> Option<CpuList> {
        let set = sched_getaffinity(None).ok()?;
        let cpus: CpuList = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect();
        (!cpus.is_empty()).then_some(cpus)
    }

    /// Nodes without CPUs (memory alone) are left out.
    pub(super) fn nodes() -> Vec<CpuList> {
        let list = |path: String| cpu_list(fs::read_to_string(path).ok()?.trim()).ok();
        let Some(numbers) = list(format!("{NODES}/online")) else { return Vec::new() };
        numbers.iter().filter_map(|node| list(format!("{NODES}/node{node}/cpulist"))).collect()
    }

    impl PinGuard {
        /// Binds the current thread to these CPUs until the guard is dropped.
        ///
        /// # Errors
        /// Where the system refuses.
        pub fn bind(cpus: &[usize]) -> Result<PinGuard, BindError> {
            let refused = |error: rustix::io::Errno| BindError {
                cpus: list_text(cpus),
                why: std::io::Error::from(error).to_string(),
            };
            let before = sched_getaffinity(None).map_err(refused)?;
            let mut set = CpuSet::new();
            for &cpu in cpus.iter().filter(|&&cpu| cpu < CpuSet::MAX_CPU) {
                set.set(cpu);
            }
            sched_setaffinity(None, &set).map_err(refused)?;
            Ok(PinGuard(before))
        }
    }

    impl Drop for PinGuard {
        fn drop(&mut self) {
            // It was allowed before; where it no longer is, the thread stays as it is.
            let _ = sched_setaffinity(None, &self.0);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod here {
    use super::{BindError, CpuList, PinGuard};

    pub(super) fn allowed() -> Option<CpuList> {
        None
    }

    pub(super) fn nodes() -> Vec<CpuList> {
        Vec::new()
    }

    impl PinGuard {
        /// Threads are not bound on this system: nothing is done.
        ///
        /// # Errors
        /// Never here.
        pub fn bind(_cpus: &[usize]) -> Result<PinGuard, BindError> {
            Ok(PinGuard())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_cpus() {
        let here = Topology::here();
        assert!(!here.allowed().is_empty() && !here.nodes().is_empty(), "{here:?}");
        assert!(here.allowed().is_sorted());
    }

    #[test]
    fn a_guard_gives_the_cpus_back() {
        let before = Topology::here();
        let Some(&cpu) = before.allowed().first() else { return };
        let guard = PinGuard::bind(&[cpu]).expect("an allowed CPU");
        if before.can_bind() {
            assert_eq!(Topology::here().allowed(), [cpu]);
        }
        drop(guard);
        assert_eq!(Topology::here(), before);
    }
}
