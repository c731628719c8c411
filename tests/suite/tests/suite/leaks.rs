//! Detects leaks: resources of this process, and processes that run in a directory.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Time limit that only a hanging test reaches.
const LIMIT: Duration = Duration::from_secs(300);

/// Resources of this process.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProcessResources {
    descriptors: usize,
    threads: usize,
}

impl ProcessResources {
    /// Resources before the test. A first runtime is started before, since it leaves some resources for
    /// all later ones.
    pub(super) fn before() -> Self {
        drop(Runtime::new().expect("threads"));
        Self::now()
    }

    fn now() -> Self {
        let count = |what: &str| fs::read_dir(what).expect("Linux").count();
        Self { descriptors: count("/proc/self/fd"), threads: count("/proc/self/task") }
    }

    /// Waits until this process uses no more than before: threads are gone some time after they were joined. Reports
    /// the difference if that does not happen.
    pub(super) fn are_released(self) -> Result<(), String> {
        let is_released = || {
            let now = Self::now();
            now.descriptors <= self.descriptors && now.threads <= self.threads
        };
        if eventually(is_released) {
            return Ok(());
        }
        Err(format!("{self:?} before, {:?} now: {:?}", Self::now(), descriptors()))
    }
}

fn descriptors() -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc/self/fd").expect("Linux").flatten();
    entries.filter_map(|entry| fs::read_link(entry.path()).ok()).collect()
}

/// Waits until a condition holds.
pub(super) fn eventually(is: impl Fn() -> bool) -> bool {
    let end = Instant::now() + LIMIT;
    while !is() {
        if Instant::now() > end {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
}

/// The ids of processes whose working directory this is. Zombies have no working directory.
pub(super) fn workers(folder: &Path) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|number| works_in(*number, folder)).collect()
}

fn works_in(process: u32, folder: &Path) -> bool {
    fs::read_link(format!("/proc/{process}/cwd")).is_ok_and(|own| own == folder)
}

/// Kills the processes in a directory. An id that was reused by another process is skipped.
pub(super) fn kill_workers(folder: &Path) {
    for worker in workers(folder) {
        let number = i32::try_from(worker).ok().and_then(Pid::from_raw).expect("a number");
        let Ok(process) = pidfd_open(number, PidfdFlags::empty()) else { continue };
        if works_in(worker, folder) {
            // A process that has exited need not be killed.
            let _ = pidfd_send_signal(process, Signal::KILL);
        }
    }
}
