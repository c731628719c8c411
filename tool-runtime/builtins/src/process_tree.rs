//! All processes that a command started.
//!
//! A command leads a session of its own and has a mark in its environment, which its descendants inherit. So a
//! descendant is found if one of these holds: it is in the session, its environment has the mark, or its parent
//! was found. It is missed only if it left the session, cleared its environment, and was orphaned. Without
//! `/proc` only the process group is found.

use rustix::process::{Pid, Signal};
use std::time::Duration;

/// The variable that holds the mark.
pub(crate) const MARK: &str = "TOOL_RUNTIME_JOB";
/// Rounds of killing: a process may start others while they are looked for.
const ROUNDS: usize = 50;
/// Time for killed processes to disappear.
const PAUSE: Duration = Duration::from_millis(2);

/// The processes of one command, or of all commands with a common beginning of their marks.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// The leader of the session, until it was waited for: its id may belong to another process then.
    pub(crate) leader: Option<Pid>,
    pub(crate) mark: String,
}

impl Tree {
    /// Sends a signal to all of them. Returns whether there were some.
    pub(crate) fn signal(&self, signal: Signal) -> bool {
        let members = self.members();
        for member in &members {
            // Fails only for a process that has just ended.
            let _ = rustix::process::kill_process(*member, signal);
        }
        !members.is_empty()
    }

    /// Ends all of them: they have ended when it returns.
    pub(crate) fn kill(&self) {
        for _ in 0..ROUNDS {
            if !self.signal(Signal::KILL) {
                return;
            }
            std::thread::sleep(PAUSE);
        }
        tracing::warn!(mark = self.mark, "processes could not be ended");
    }

    /// Ends all of them without blocking the thread.
    pub(crate) fn kill_in_background(self) {
        self.signal(Signal::KILL);
        std::thread::spawn(move || self.kill());
    }

    #[cfg(target_os = "linux")]
    fn members(&self) -> Vec<Pid> {
        let mut found = Vec::new();
        let mut others: Vec<proc::Process> = proc::processes().collect();
        others.retain(|process| {
            let is_member = self.leader.is_some_and(|leader| process.session == leader)
                || proc::has_mark(process.id, &self.mark);
            if is_member {
                found.push(process.id);
            }
            !is_member
        });
        // Children of those that were found, and their children.
        loop {
            let before = found.len();
            others.retain(|process| {
                let is_child = process.parent.is_some_and(|parent| found.contains(&parent));
                if is_child {
                    found.push(process.id);
                }
                !is_child
            });
            if found.len() == before {
                return found;
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn members(&self) -> Vec<Pid> {
        let leader =
            self.leader.filter(|leader| rustix::process::test_kill_process_group(*leader).is_ok());
        if let Some(leader) = leader {
            let _ = rustix::process::kill_process_group(leader, Signal::KILL);
        }
        leader.into_iter().collect()
    }
}

/// Ends the processes of a command whose call was dropped.
pub(crate) struct KillOnDrop(pub(crate) Option<Tree>);

impl KillOnDrop {
    /// The command has ended.
    pub(crate) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        if let Some(tree) = self.0.take() {
            tree.kill_in_background();
        }
    }
}

/// Processes as `/proc` shows them.
#[cfg(target_os = "linux")]
mod proc {
    use super::MARK;
    use rustix::process::Pid;
    use std::fs;

    pub(super) struct Process {
        pub(super) id: Pid,
        pub(super) parent: Option<Pid>,
        pub(super) session: Pid,
    }

    /// All processes that have not ended.
    pub(super) fn processes() -> impl Iterator<Item = Process> {
        let own = rustix::process::getpid();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| pid(entry.file_name().to_str()?));
        ids.filter(move |id| *id != own).filter_map(read)
    }

    /// A process that is ending has -1 for its session.
    fn pid(digits: &str) -> Option<Pid> {
        digits.parse().ok().filter(|id| *id > 0).and_then(Pid::from_raw)
    }

    /// `ID (NAME) STATE PARENT GROUP SESSION ..`, in which the name may have blanks and parentheses.
    fn read(id: Pid) -> Option<Process> {
        let stat = fs::read(format!("/proc/{}/stat", id.as_raw_nonzero())).ok()?;
        let after = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(&stat[after + 1..]).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = pid(fields.next()?);
        let session = pid(fields.nth(1)?)?;
        (!matches!(state, "Z" | "X")).then_some(Process { id, parent, session })
    }

    /// Whether the environment that a process began with has a mark that begins so.
    pub(super) fn has_mark(id: Pid, mark: &str) -> bool {
        let Ok(environment) = fs::read(format!("/proc/{}/environ", id.as_raw_nonzero())) else {
            return false;
        };
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|variable| {
            let value =
                variable.strip_prefix(MARK.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
            value.is_some_and(|value| value.starts_with(mark.as_bytes()))
        })
    }
}
