//! Whether anybody lives in a process group, in which a dead leader may wait to be reaped.

use rustix::process::Pid;

/// Linux counts the dead leader when it is asked by `kill`, so every process is looked at.
/// Where `/proc` cannot be read, somebody may be there.
#[cfg(target_os = "linux")]
pub(super) fn has_living(group: Pid) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    let mut states = processes.flatten().filter_map(|process| {
        let name = process.file_name();
        name.as_encoded_bytes().first()?.is_ascii_digit().then_some(())?;
        std::fs::read(process.path().join("stat")).ok()
    });
    states.any(|stat| is_living_member(&stat, group).unwrap_or(false))
}

/// Reads `PID (NAME) STATE PARENT GROUP ..`; a name may hold anything.
#[cfg(target_os = "linux")]
fn is_living_member(stat: &[u8], group: Pid) -> Option<bool> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut fields = std::str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    let member_of: i32 = fields.nth(1)?.parse().ok()?;
    Some(member_of == group.as_raw_nonzero().get() && !matches!(state, "Z" | "X"))
}

/// Others pass over the dead.
#[cfg(not(target_os = "linux"))]
pub(super) fn has_living(group: Pid) -> bool {
    rustix::process::test_kill_process_group(group).is_ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn is_living(stat: &str) -> Option<bool> {
        is_living_member(stat.as_bytes(), Pid::from_raw(7).expect("a number"))
    }

    #[test]
    fn a_member_is_known_by_its_group() {
        assert_eq!(is_living("9 (sh) S 1 7 7 0 -1 4194304"), Some(true));
        assert_eq!(is_living("7 (sh) S 1 9 7 0 -1 4194304"), Some(false));
        assert_eq!(is_living("9 (a) Z 1 9 (b) R 1 7 7"), Some(true));
    }

    #[test]
    fn the_dead_do_not_count() {
        assert_eq!(is_living("7 (sh) Z 1 7 7 0 -1 4194304"), Some(false));
        assert_eq!(is_living("9 (sh"), None);
    }
}
