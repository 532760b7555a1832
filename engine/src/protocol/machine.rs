//! What the machine has: processors and free memory.

use std::fs::read_to_string;

/// Bytes in a MiB.
const MIB: u64 = 1 << 20;

/// Processors that this process may use; 1 where that is not known.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Memory that can be had without swapping, in MiB, as far as the system says (Linux); the control group's limit
/// counts too.
pub(crate) fn free_mib() -> Option<usize> {
    let available = field(&read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?.saturating_mul(1024);
    let number = |file: &str| read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let group = number("/sys/fs/cgroup/memory.max").map(|most| {
        let used = number("/sys/fs/cgroup/memory.current").unwrap_or(0);
        // Pages of files are given back when memory is wanted.
        let files = read_to_string("/sys/fs/cgroup/memory.stat").ok().and_then(|stat| field(&stat, "file"));
        most.saturating_sub(used.saturating_sub(files.unwrap_or(0)))
    });
    usize::try_from(available.min(group.unwrap_or(available)) / MIB).ok()
}

/// Memory of this process that lies on huge pages, in MiB, as far as the system says (Linux): transparent ones and
/// those of hugetlbfs.
pub(crate) fn huge_pages_mib() -> Option<u64> {
    let sums = read_to_string("/proc/self/smaps_rollup").ok()?;
    let transparent = field(&sums, "AnonHugePages:")?;
    let reserved =
        field(&sums, "Private_Hugetlb:").unwrap_or(0) + field(&sums, "Shared_Hugetlb:").unwrap_or(0);
    Some((transparent + reserved) * 1024 / MIB)
}

/// The number after a word at the start of a line: `MemAvailable:  12345 kB`.
fn field(text: &str, name: &str) -> Option<u64> {
    let found = text.lines().map(str::split_whitespace).find_map(|mut words| {
        let first = words.next()?;
        (first == name).then(|| words.next()).flatten()
    });
    found?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read() {
        let text = "MemTotal: 9 kB\nMemAvailable:   4096 kB\nfile 7\nbad x\nempty";
        assert_eq!((field(text, "MemAvailable:"), field(text, "file")), (Some(4096), Some(7)));
        assert_eq!((field(text, "bad"), field(text, "empty"), field(text, "none")), (None, None, None));
    }
}
