//! Detects living processes of a group, which may have a dead leader that is not reaped yet.

use rustix::process::Pid;

/// Whether the group has a living process. On Linux `kill` counts the dead leader, so every process is
/// read from `/proc`. Where that fails, the answer is yes.
#[cfg(target_os = "linux")]
pub(super) fn has_living(group: Pid) -> bool {
    let Some(mut stats) = stats() else { return true };
    stats.any(|stat| ProcessStat::read(&stat).is_some_and(|living| living.group == group))
}

/// The living processes, each with its parent.
#[cfg(target_os = "linux")]
pub(super) fn parents() -> Vec<(Pid, Pid)> {
    let living = stats().into_iter().flatten().filter_map(|stat| ProcessStat::read(&stat));
    living.filter_map(|living| Some((living.id, living.parent?))).collect()
}

/// The `stat` of every process, `None` where `/proc` cannot be read.
#[cfg(target_os = "linux")]
fn stats() -> Option<impl Iterator<Item = Vec<u8>>> {
    let processes = std::fs::read_dir("/proc").ok()?;
    Some(processes.flatten().filter_map(|process| {
        let name = process.file_name();
        name.as_encoded_bytes().first()?.is_ascii_digit().then_some(())?;
        std::fs::read(process.path().join("stat")).ok()
    }))
}

/// A process that is not dead.
#[cfg(target_os = "linux")]
struct ProcessStat {
    id: Pid,
    /// `None` for one without a parent.
    parent: Option<Pid>,
    group: Pid,
}

#[cfg(target_os = "linux")]
impl ProcessStat {
    /// Reads `PID (NAME) STATE PARENT GROUP ..`; a name may hold anything. The group of a process that is being reaped
    /// is -1: it is dead.
    fn read(stat: &[u8]) -> Option<Self> {
        let begin = stat.iter().position(|byte| *byte == b'(')?;
        let end = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let positive = |text: &str| text.trim().parse().ok().filter(|id| *id > 0);
        let number = |text: &str| positive(text).and_then(Pid::from_raw);
        let id = number(std::str::from_utf8(&stat[..begin]).ok()?)?;
        let mut fields = std::str::from_utf8(&stat[end..]).ok()?.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = number(fields.next()?);
        let group = number(fields.next()?)?;
        (!matches!(state, "Z" | "X")).then_some(Self { id, parent, group })
    }
}

/// Whether the group has a living process: other systems do not count dead ones.
#[cfg(not(target_os = "linux"))]
pub(super) fn has_living(group: Pid) -> bool {
    rustix::process::test_kill_process_group(group).is_ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Id, parent and group.
    fn read(stat: &str) -> Option<(i32, Option<i32>, i32)> {
        let raw = |pid: Pid| pid.as_raw_nonzero().get();
        let ProcessStat { id, parent, group } = ProcessStat::read(stat.as_bytes())?;
        Some((raw(id), parent.map(raw), raw(group)))
    }

    #[test]
    fn a_process_is_identified_by_its_parent_and_group() {
        assert_eq!(read("9 (sh) S 1 7 7 0 -1 4194304"), Some((9, Some(1), 7)));
        assert_eq!(read("7 (sh) S 0 9 7 0 -1 4194304"), Some((7, None, 9)));
        assert_eq!(read("9 (a) Z 1 9 (b) R 1 7 7"), Some((9, Some(1), 7)));
    }

    #[test]
    fn dead_processes_are_not_counted() {
        assert_eq!(read("7 (sh) Z 1 7 7 0 -1 4194304"), None);
        assert_eq!(read("7 (sh) S 0 -1 -1 0 -1 4194304"), None);
        assert_eq!(read("9 (sh"), None);
    }
}
