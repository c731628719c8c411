//! The exit of a child, and waiting for it.

use std::fmt;
use std::time::Duration;
use tokio::sync::watch;

/// Grace period for descendants of a child that exited on its own.
pub(super) const ORPHAN_GRACE: Duration = Duration::from_secs(2);

/// Progress of a child towards its end, for futures that wait for it.
#[derive(Debug, Default)]
pub(super) struct ExitWatch(watch::Sender<Progress>);

#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// The exit of the child; descendants may still run.
    exit: Option<Exit>,
    /// The final state: no descendant is left, none was started, or one is stuck.
    is_over: bool,
}

impl ExitWatch {
    pub(super) fn set_exit(&self, exit: Exit) {
        self.0.send_modify(|progress| progress.exit = Some(exit));
    }

    pub(super) fn set_over(&self) {
        self.0.send_modify(|progress| progress.is_over = true);
    }

    /// The exit of the child, if it has exited.
    pub(super) fn exit(&self) -> Option<Exit> {
        self.0.borrow().exit
    }

    pub(super) fn is_over(&self) -> bool {
        self.0.borrow().is_over
    }

    /// Waits until the child has exited; `None` if its exit will not be known.
    pub(super) async fn exited(&self) -> Option<Exit> {
        self.until(|progress| progress.exit.is_some() || progress.is_over).await.exit
    }

    /// Waits for the end of the lifecycle.
    pub(super) async fn wait(&self) {
        self.until(|progress| progress.is_over).await;
    }

    async fn until(&self, reached: impl FnMut(&Progress) -> bool) -> Progress {
        let mut progress = self.0.subscribe();
        // `self` owns the sender.
        progress.wait_for(reached).await.map(|progress| *progress).unwrap_or_default()
    }
}

/// The exit of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// An exit code.
    Code(i32),
    /// The number of the signal that killed it.
    #[cfg(unix)]
    Signal(i32),
    /// Unknown: other code of this process has waited for it.
    Unknown,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with code {code}"),
            #[cfg(unix)]
            Self::Signal(number) => match name(*number) {
                Some(name) => write!(f, "was killed by signal {number} ({name})"),
                None => write!(f, "was killed by signal {number}"),
            },
            Self::Unknown => f.write_str("ended"),
        }
    }
}

#[cfg(unix)]
fn name(number: i32) -> Option<&'static str> {
    use rustix::process::Signal;

    let names = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::SYS, "SIGSYS"),
    ];
    names.iter().find(|(signal, _)| signal.as_raw() == number).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_has_a_text() {
        assert_eq!(Exit::Code(3).to_string(), "exited with code 3");
        assert_eq!(Exit::Unknown.to_string(), "ended");
    }

    #[cfg(unix)]
    #[test]
    fn signals_have_names() {
        assert_eq!(Exit::Signal(9).to_string(), "was killed by signal 9 (SIGKILL)");
        assert_eq!(Exit::Signal(34).to_string(), "was killed by signal 34");
    }
}
