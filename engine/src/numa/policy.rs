//! The option `NumaPolicy`: its words, and lists of CPUs such as `0-7,16:8-15`.

use std::fmt;
use std::str::FromStr;

use super::CpuList;
use super::system::Topology;

/// CPU numbers are below this: what Linux's fixed-size affinity mask holds.
pub(super) const MAX_CPUS: usize = 1024;
/// Characters of a wrong word that an error repeats.
const SHOWN: usize = 40;

/// How search threads are spread over the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NumaPolicy {
    /// Threads run where the system puts them.
    None,
    /// As [`NumaPolicy::System`] where it pays: on several nodes, with enough threads.
    #[default]
    Auto,
    /// The system's nodes, of them the CPUs that this process may use.
    System,
    /// The system's nodes with all their CPUs, whatever the process was confined to.
    Hardware,
    /// These nodes.
    Custom(Vec<CpuList>),
}

/// A policy that cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// Neither a word nor lists of CPUs.
    #[error(
        "NumaPolicy: expected none, auto, system, hardware or CPU lists such as 0-7:8-15 (nodes apart by \":\", CPUs by \",\", ranges by \"-\"); found {found:?} in {text:?}"
    )]
    Syntax {
        /// The part that is wrong, cut.
        found: String,
        /// All of it, cut.
        text: String,
    },
    /// A CPU's number is out of range.
    #[error("NumaPolicy: CPU numbers go from 0 to {most}, found {found}", most = MAX_CPUS - 1)]
    TooGreat {
        /// The number's text, cut.
        found: String,
    },
    /// A CPU is given twice.
    #[error("NumaPolicy: CPU {cpu} is in more than one place; each may be named once")]
    Twice {
        /// Which.
        cpu: usize,
    },
    /// A CPU is not there, or not for this process.
    #[error("NumaPolicy: CPU {cpu} cannot be used; CPUs of this process: {allowed}")]
    Missing {
        /// The first that is missing.
        cpu: usize,
        /// Those that may be used, as a list.
        allowed: String,
    },
}

impl NumaPolicy {
    /// The nodes that this policy means on a machine; at least one.
    ///
    /// # Errors
    /// Where a custom list names a CPU that may not be used.
    pub fn nodes(&self, topology: &Topology) -> Result<Vec<CpuList>, PolicyError> {
        let allowed = topology.allowed();
        Ok(match self {
            NumaPolicy::None => vec![allowed.to_vec()],
            NumaPolicy::Auto | NumaPolicy::System => allowed_nodes(topology),
            NumaPolicy::Hardware => topology.nodes().to_vec(),
            NumaPolicy::Custom(lists) => {
                let missing = lists.iter().flatten().copied().find(|cpu| !allowed.contains(cpu));
                if let Some(cpu) = missing {
                    return Err(PolicyError::Missing { cpu, allowed: list_text(allowed) });
                }
                lists.clone()
            }
        })
    }
}

/// The system's nodes with the CPUs that this process may use; at least one.
pub(super) fn allowed_nodes(topology: &Topology) -> Vec<CpuList> {
    let allowed = topology.allowed();
    let mine = |cpus: &CpuList| cpus.iter().copied().filter(|cpu| allowed.contains(cpu)).collect();
    let nodes: Vec<CpuList> =
        topology.nodes().iter().map(mine).filter(|cpus: &CpuList| !cpus.is_empty()).collect();
    if nodes.is_empty() { vec![allowed.to_vec()] } else { nodes }
}

fn cut(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

impl FromStr for NumaPolicy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<NumaPolicy, PolicyError> {
        match text.trim() {
            "none" => Ok(NumaPolicy::None),
            "auto" => Ok(NumaPolicy::Auto),
            "system" => Ok(NumaPolicy::System),
            "hardware" => Ok(NumaPolicy::Hardware),
            lists => custom(lists).map(NumaPolicy::Custom),
        }
    }
}

fn custom(text: &str) -> Result<Vec<CpuList>, PolicyError> {
    let mut taken = [false; MAX_CPUS];
    let mut nodes = Vec::new();
    for list in text.split(':') {
        let mut cpus = cpu_list(list).map_err(|fault| fault.into_error(text))?;
        cpus.sort_unstable();
        for &cpu in &cpus {
            if std::mem::replace(&mut taken[cpu], true) {
                return Err(PolicyError::Twice { cpu });
            }
        }
        nodes.push(cpus);
    }
    Ok(nodes)
}

/// The part of a list that is wrong.
pub(super) enum ListFault {
    Syntax(String),
    TooGreat(String),
}

impl ListFault {
    fn into_error(self, text: &str) -> PolicyError {
        match self {
            ListFault::Syntax(found) => PolicyError::Syntax { found: cut(&found), text: cut(text) },
            ListFault::TooGreat(found) => PolicyError::TooGreat { found: cut(&found) },
        }
    }
}

/// Reads `0-3,7`, the form of Linux's own lists; every number is below [`MAX_CPUS`].
pub(super) fn cpu_list(text: &str) -> Result<CpuList, ListFault> {
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let part = part.trim();
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (cpu_number(first, part)?, cpu_number(last, part)?);
        if first > last || cpus.len() > MAX_CPUS {
            return Err(ListFault::Syntax(part.to_owned()));
        }
        cpus.extend(first..=last);
    }
    Ok(cpus)
}

fn cpu_number(text: &str, part: &str) -> Result<usize, ListFault> {
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ListFault::Syntax(part.to_owned()));
    }
    match text.parse() {
        Ok(number) if number < MAX_CPUS => Ok(number),
        _ => Err(ListFault::TooGreat(text.to_owned())),
    }
}

/// `0-3,7` of ascending numbers.
pub(super) fn list_text(cpus: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let text = |&(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

impl fmt::Display for NumaPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NumaPolicy::None => f.write_str("none"),
            NumaPolicy::Auto => f.write_str("auto"),
            NumaPolicy::System => f.write_str("system"),
            NumaPolicy::Hardware => f.write_str("hardware"),
            NumaPolicy::Custom(lists) => {
                let lists: Vec<String> = lists.iter().map(|cpus| list_text(cpus)).collect();
                f.write_str(&lists.join(":"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_lists_are_read_and_written() {
        for text in ["none", "auto", "system", "hardware", "0-7:8-15", "0", "1,3,5-7:2", "0,2:1,3"] {
            let policy: NumaPolicy = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(policy.to_string(), text);
        }
        assert_eq!("3,1-2".parse(), Ok(NumaPolicy::Custom(vec![vec![1, 2, 3]])));
        assert_eq!(" 0 - 1 : 4 ".parse(), Ok(NumaPolicy::Custom(vec![vec![0, 1], vec![4]])));
    }

    #[test]
    fn wrong_lists_say_what_is_wrong() {
        let cases = [
            ("", "found \"\""),
            ("full", "found \"full\""),
            ("0-7:", "found \"\" in \"0-7:\""),
            ("0-7:a", "found \"a\""),
            ("7-0", "found \"7-0\""),
            ("0--7", "found \"0--7\""),
            ("-1", "found \"-1\""),
            ("0-1024", "from 0 to 1023, found 1024"),
            ("0-99999999999999999999999", "from 0 to 1023"),
            ("0-3:3-5", "CPU 3 is in more than one place"),
            ("1,1", "CPU 1 is in more than one place"),
            ("0;1", "found \"0;1\""),
        ];
        for (text, expected) in cases {
            let error = text.parse::<NumaPolicy>().expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let endless = "0-1023,".repeat(10_000);
        assert!(endless.parse::<NumaPolicy>().is_err());
    }
}
