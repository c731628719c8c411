//! Ends descendants that outlive their parents.

use std::io;
use std::time::Duration;

/// Ends all descendants when dropped, including those that left the group and the session of their server:
/// makes this process the parent of every descendant whose parent ends.
///
/// On Linux this is `PR_SET_CHILD_SUBREAPER`, which applies to the whole process, including children that
/// other libraries start. `main!` sets it; a program with its own `main` opts in by this type, before
/// it starts anything. A descendant outside its server's group that ends before this process stays a
/// zombie until then.
///
/// If this process is killed by SIGKILL, descendants are not ended this way: the kernel sends SIGTERM to the programs
/// that this process has started, and their own children only see the end of their input.
///
/// ```
/// use tool_runtime::mcp::Subreaper;
///
/// let subreaper = Subreaper::new();
/// # #[cfg(target_os = "linux")]
/// assert!(subreaper.is_ok());
/// // Servers are started here, and disconnected.
/// drop(subreaper);
/// ```
#[derive(Debug)]
#[must_use = "descendants are ended when it is dropped"]
pub struct Subreaper {
    grace: Duration,
}

impl Subreaper {
    /// Makes this process the subreaper of its descendants. When it is dropped, they get SIGTERM, and
    /// after two seconds SIGKILL.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] on systems other than Linux, where such descendants are not
    /// ended.
    pub fn new() -> io::Result<Self> {
        system::adopt()?;
        Ok(Self { grace: Duration::from_secs(2) })
    }

    /// Sets the time between SIGTERM and SIGKILL. Default: two seconds.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tool_runtime::mcp::Subreaper;
    /// let subreaper = Subreaper::new().map(|subreaper| subreaper.grace(Duration::from_millis(500)));
    /// # drop(subreaper);
    /// ```
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Kills all descendants without a grace period, if this process is their subreaper.
    #[doc(hidden)]
    pub fn kill_all() {
        if system::is_adopting() {
            system::end(Duration::ZERO);
        }
    }
}

impl Drop for Subreaper {
    fn drop(&mut self) {
        system::end(self.grace);
    }
}

#[cfg(target_os = "linux")]
mod system {
    use super::super::group_alive::parents;
    use rustix::process::{
        Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, set_child_subreaper, waitid,
    };
    use std::io;
    use std::thread;
    use std::time::{Duration, Instant};

    /// Time for killed processes to disappear.
    const KILL_TIMEOUT: Duration = Duration::from_secs(1);
    /// The pause between two polls.
    const PAUSE: Duration = Duration::from_millis(10);

    pub(super) fn adopt() -> io::Result<()> {
        Ok(set_child_subreaper(Some(getpid()))?)
    }

    pub(super) fn is_adopting() -> bool {
        rustix::process::child_subreaper().is_ok_and(|subreaper| subreaper.is_some())
    }

    /// Ends all descendants.
    pub(super) fn end(grace: Duration) {
        if !grace.is_zero() {
            signal(Signal::TERM);
            if wait_until_ended(Instant::now() + grace, || {}) {
                return;
            }
        }
        // A killed process may have started another one.
        wait_until_ended(Instant::now() + KILL_TIMEOUT, || signal(Signal::KILL));
    }

    fn signal(signal: Signal) {
        for descendant in descendants() {
            // Fails only for a process that has ended.
            let _ = kill_process(descendant, signal);
        }
    }

    fn wait_until_ended(deadline: Instant, before_each_check: impl Fn()) -> bool {
        loop {
            before_each_check();
            reap();
            if descendants().is_empty() {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            thread::sleep(PAUSE);
        }
    }

    /// Reaps dead children.
    fn reap() {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        while let Ok(Some(_)) = waitid(WaitId::All, options) {}
    }

    /// All living descendants.
    fn descendants() -> Vec<Pid> {
        let (parents, mut found) = (parents(), vec![getpid()]);
        let mut next = 0;
        while let Some(parent) = found.get(next).copied() {
            let children = parents.iter().filter(|(_, parent_id)| *parent_id == parent);
            found.extend(children.map(|(child, _)| *child));
            next += 1;
        }
        found.split_off(1)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::time::Duration;

    pub(super) fn adopt() -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn is_adopting() -> bool {
        false
    }

    pub(super) fn end(_: Duration) {}
}
