//! CPU time and memory of a process and its descendants, read from `/proc`.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

/// The kernel reports CPU time in hundredths of a second, independent of its own clock.
const TICK: Duration = Duration::from_millis(10);

/// CPU time so far, including that of processes that have ended.
pub(crate) fn cpu(root: u32) -> Duration {
    let ticks: u32 = tree(root).into_iter().filter_map(ticks).sum();
    TICK * ticks
}

/// The sum of the peak memory of each, in KiB.
pub(crate) fn peak_rss(root: u32) -> u64 {
    tree(root).into_iter().filter_map(peak_memory).sum()
}

/// A process and its descendants.
fn tree(root: u32) -> Vec<u32> {
    let children = children();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(process) = found.get(next) {
        found.extend(children.get(process).into_iter().flatten());
        next += 1;
    }
    found
}

/// Parents of all processes.
fn children() -> HashMap<u32, Vec<u32>> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for process in processes {
        if let Some(parent) = parent(process) {
            children.entry(parent).or_default().push(process);
        }
    }
    children
}

fn parent(process: u32) -> Option<u32> {
    u32::try_from(fields(process)?.first().copied()?).ok()
}

/// User and system time, including that of children it has waited for.
fn ticks(process: u32) -> Option<u32> {
    let ticks: i64 = fields(process)?.get(10..14)?.iter().sum();
    u32::try_from(ticks).ok()
}

/// The numbers of `/proc/PID/stat` after the state. The name before it may contain any character.
fn fields(process: u32) -> Option<Vec<i64>> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    Some(rest.split_whitespace().skip(1).map_while(|field| field.parse().ok()).collect())
}

fn peak_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_included_in_the_process_tree() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("it starts");
        let own_pid = std::process::id();
        assert!(tree(own_pid).contains(&child.id()));
        assert!(peak_rss(own_pid) > peak_rss(child.id()));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
    }

    #[test]
    fn cpu_time_is_measured() {
        let before = cpu(std::process::id());
        while cpu(std::process::id()) == before {
            std::hint::black_box((0..100_000).sum::<u64>());
        }
    }
}
