//! What a process holds, and who works in a folder: whatever is started there has to be gone at
//! some time.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// What is still on its way out may take so long.
const PATIENCE: Duration = Duration::from_secs(5);

/// What this process holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traces {
    descriptors: usize,
    threads: usize,
}

impl Traces {
    /// What is held before anything is begun. Of what a first runtime leaves for all later ones,
    /// there is something already.
    pub(super) fn before() -> Self {
        drop(Runtime::new().expect("threads"));
        Self::now()
    }

    fn now() -> Self {
        let count = |what: &str| fs::read_dir(what).expect("Linux").count();
        Self { descriptors: count("/proc/self/fd"), threads: count("/proc/self/task") }
    }

    /// Waits until this process holds no more than it did; says what it holds if that does not come.
    pub(super) fn are_all(self) -> Result<(), String> {
        let is_all = || {
            let now = Self::now();
            now.descriptors <= self.descriptors && now.threads <= self.threads
        };
        if eventually(is_all) {
            return Ok(());
        }
        Err(format!("there was {self:?}, and is {:?}: {:?}", Self::now(), descriptors()))
    }
}

fn descriptors() -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc/self/fd").expect("Linux").flatten();
    entries.filter_map(|entry| fs::read_link(entry.path()).ok()).collect()
}

/// Waits until something is so.
pub(super) fn eventually(is: impl Fn() -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    while !is() {
        if Instant::now() > end {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
}

/// The processes that have a folder as their own, by number. The dead who wait for their parent
/// have none.
pub(super) fn workers(folder: &Path) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|number| works_in(*number, folder)).collect()
}

fn works_in(process: u32, folder: &Path) -> bool {
    fs::read_link(format!("/proc/{process}/cwd")).is_ok_and(|own| own == folder)
}

/// Kills whoever works in a folder. A number that somebody else got meanwhile is left alone.
pub(super) fn kill_workers(folder: &Path) {
    for worker in workers(folder) {
        let number = i32::try_from(worker).ok().and_then(Pid::from_raw).expect("a number");
        let Ok(process) = pidfd_open(number, PidfdFlags::empty()) else { continue };
        if works_in(worker, folder) {
            // Whoever is gone need not be killed.
            let _ = pidfd_send_signal(process, Signal::KILL);
        }
    }
}
