//! All processes that a command started.
//!
//! A command leads a session of its own and has a mark in its environment, which its descendants inherit. So a
//! descendant is found if one of these holds: it is in the session, its environment has the mark, or its parent
//! was found. The shells of the family `shell` adopt orphans as long as they run, so that parents are found. A
//! descendant is missed if it left the session, cleared its environment, and was orphaned by the end of the shell.
//! Without `/proc` only the process group is found.

use rustix::process::{Pid, Signal};
use std::time::{Duration, Instant};

/// The variable that holds the mark.
pub(crate) const MARK: &str = "TOOL_RUNTIME_JOB";
/// Limit on the time in which killed processes disappear. A busy machine needs more than a moment.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Time between two rounds of killing: a process may start others while they are looked for. It doubles up to a limit.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const MAX_PAUSE: Duration = Duration::from_millis(50);

/// The processes of one command, or of all commands with a common beginning of their marks.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// The leader of the session. Its id belongs to no other process as long as the session has members.
    pub(crate) leader: Option<Pid>,
    pub(crate) mark: String,
}

impl Tree {
    /// Ends all of them: they have ended when it returns.
    pub(crate) fn kill(&self) {
        self.kill_with(Members::default());
    }

    /// Ends all of them, and the members that were found before: these may have lost their parents since. Returns
    /// whether they have ended: those of another user do not.
    pub(crate) fn kill_with(&self, mut known: Members) -> bool {
        let (deadline, mut pause) = (Instant::now() + TIME_LIMIT, FIRST_PAUSE);
        while Instant::now() < deadline {
            known = self.kill_once(&known);
            if known.is_empty() {
                return true;
            }
            std::thread::sleep(pause);
            pause = (2 * pause).min(MAX_PAUSE);
        }
        // A leader that was stopped must not stay so.
        self.kill_leader();
        tracing::warn!(mark = self.mark, "processes could not be ended");
        false
    }

    fn kill_leader(&self) {
        if let Some(leader) = self.leader {
            let _ = rustix::process::kill_process(leader, Signal::KILL);
        }
    }

    /// Ends all of them without blocking the thread.
    pub(crate) fn kill_in_background(self) {
        let known = self.kill_once(&Members::default());
        std::thread::spawn(move || self.kill_with(known));
    }
}

/// Processes that were found, each with its start time, so that another one with the same id is not taken for it.
#[cfg(target_os = "linux")]
#[derive(Default)]
pub(crate) struct Members(Vec<proc::Process>);

#[cfg(target_os = "linux")]
impl Members {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn has(&self, process: &proc::Process) -> bool {
        self.0.iter().any(|known| (known.id, known.started) == (process.id, process.started))
    }
}

#[cfg(target_os = "linux")]
impl Tree {
    /// Sends a signal to all of them, and returns them.
    pub(crate) fn signal(&self, signal: Signal) -> Members {
        self.signal_if(signal, |_| true)
    }

    /// Sends a signal to all of them but the leader, and returns them.
    pub(crate) fn signal_others(&self, signal: Signal) -> Members {
        self.signal_if(signal, |id| Some(id) != self.leader)
    }

    fn signal_if(&self, signal: Signal, is_meant: impl Fn(Pid) -> bool) -> Members {
        let members = self.members(&Members::default());
        members.0.iter().filter(|member| is_meant(member.id)).for_each(|it| send(it, signal));
        members
    }

    /// Kills all but the leader, which adopts their orphans and is stopped, and the leader when it is the last one.
    fn kill_once(&self, known: &Members) -> Members {
        let members = self.members(known);
        let is_last = members.0.len() == 1;
        for member in &members.0 {
            let is_kept = Some(member.id) == self.leader && !is_last;
            send(member, if is_kept { Signal::STOP } else { Signal::KILL });
        }
        members
    }

    /// Whether one of them runs. For a leader that was waited for: an empty session is forgotten, since its id may
    /// belong to another process from then on.
    pub(crate) fn outlives_leader(&mut self) -> bool {
        let members = self.members(&Members::default());
        self.leader =
            self.leader.filter(|leader| members.0.iter().any(|it| it.session == Some(*leader)));
        !members.is_empty()
    }

    fn members(&self, known: &Members) -> Members {
        let mut others: Vec<proc::Process> = proc::processes().collect();
        let is_member = |process: &mut proc::Process| {
            self.leader.is_some_and(|leader| process.session == Some(leader))
                || known.has(process)
                || proc::has_mark(process.id, &self.mark)
        };
        let mut found: Vec<proc::Process> = others.extract_if(.., is_member).collect();
        // Children of those that were found, and their children.
        loop {
            let is_child = |process: &mut proc::Process| {
                found.iter().any(|parent| process.parent == Some(parent.id))
            };
            let children: Vec<proc::Process> = others.extract_if(.., is_child).collect();
            if children.is_empty() {
                return Members(found);
            }
            found.extend(children);
        }
    }
}

/// Fails only for a process that has just ended.
#[cfg(target_os = "linux")]
fn send(process: &proc::Process, signal: Signal) {
    let _ = rustix::process::kill_process(process.id, signal);
}

/// Whether there were some.
#[cfg(not(target_os = "linux"))]
#[derive(Default)]
pub(crate) struct Members(bool);

#[cfg(not(target_os = "linux"))]
impl Members {
    fn is_empty(&self) -> bool {
        !self.0
    }
}

#[cfg(not(target_os = "linux"))]
impl Tree {
    /// Sends a signal to the process group.
    pub(crate) fn signal(&self, signal: Signal) -> Members {
        let signal = |leader| rustix::process::kill_process_group(leader, signal);
        Members(self.leader.is_some_and(|leader| signal(leader).is_ok()))
    }

    /// Sends a signal to the process group.
    pub(crate) fn signal_others(&self, signal: Signal) -> Members {
        self.signal(signal)
    }

    fn kill_once(&self, _: &Members) -> Members {
        self.signal(Signal::KILL)
    }

    /// Whether the process group has members, after its leader was waited for.
    pub(crate) fn outlives_leader(&mut self) -> bool {
        let has_members = |leader: &Pid| rustix::process::test_kill_process_group(*leader).is_ok();
        self.leader = self.leader.filter(has_members);
        self.leader.is_some()
    }
}

/// Ends the processes of a command whose call was dropped.
pub(crate) struct KillOnDrop(pub(crate) Option<Tree>);

impl KillOnDrop {
    /// The leader of the processes.
    pub(crate) fn leader(&self) -> Option<Pid> {
        self.0.as_ref().and_then(|tree| tree.leader)
    }

    /// The command has ended, or another guard has its processes.
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
        /// None if it is outside the PID namespace.
        pub(super) parent: Option<Pid>,
        /// None if its leader is outside the PID namespace.
        pub(super) session: Option<Pid>,
        /// Ticks of the clock between the start of the system and that of the process.
        pub(super) started: u64,
    }

    /// All processes that have not ended.
    pub(super) fn processes() -> impl Iterator<Item = Process> {
        let own = rustix::process::getpid();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| pid(entry.file_name().to_str()?));
        ids.filter(move |id| *id != own).filter_map(read)
    }

    fn pid(digits: &str) -> Option<Pid> {
        digits.parse().ok().filter(|id| *id > 0).and_then(Pid::from_raw)
    }

    fn read(id: Pid) -> Option<Process> {
        parse(id, &fs::read(format!("/proc/{}/stat", id.as_raw_nonzero())).ok()?)
    }

    /// `ID (NAME) STATE PARENT GROUP SESSION ..`, in which the name may have blanks and parentheses. The start time is
    /// the 22nd field. A process outside the PID namespace has the id 0, and the session of one that is ending is -1.
    fn parse(id: Pid, stat: &[u8]) -> Option<Process> {
        let after = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(&stat[after + 1..]).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = pid(fields.next()?);
        let session = fields.nth(1)?;
        let started = fields.nth(15)?.parse().ok()?;
        let has_ended = matches!(state, "Z" | "X") || session == "-1";
        (!has_ended).then(|| Process { id, parent, session: pid(session), started })
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

    #[cfg(test)]
    mod tests {
        use super::*;

        fn parsed(stat: &str) -> Option<[i32; 2]> {
            let stat = format!("{stat} 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 99 0");
            let process = parse(Pid::from_raw(5)?, stat.as_bytes())?;
            assert_eq!(process.started, 99);
            Some([process.parent, process.session].map(Pid::as_raw))
        }

        #[test]
        fn processes_of_an_outer_namespace_have_no_ids() {
            assert_eq!(parsed("5 (a) b) S 3 5 4"), Some([3, 4]));
            assert_eq!(parsed("5 (cat) S 3 5 0"), Some([3, 0]));
            assert_eq!(parsed("5 (cat) S 0 0 0"), Some([0, 0]));
        }

        #[test]
        fn processes_that_have_ended_are_left_out() {
            assert_eq!(parsed("5 (cat) Z 3 5 4"), None);
            assert_eq!(parsed("5 (cat) R 3 -1 -1"), None);
        }
    }
}
