//! CPU time, which is hardly affected by other jobs on the machine.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};
use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// CPU time of this thread so far.
pub fn thread() -> Duration {
    let now = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("the system has this clock");
    now.into()
}

/// CPU time of all threads of this process so far.
pub fn process() -> Duration {
    let now = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("the system has this clock");
    now.into()
}

/// User and system time of all child processes that have ended so far, and of their descendants.
pub fn children() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system keeps this account");
    duration(usage.user_time()) + duration(usage.system_time())
}

fn duration(time: TimeVal) -> Duration {
    Duration::from_micros(time.num_microseconds().unsigned_abs())
}
