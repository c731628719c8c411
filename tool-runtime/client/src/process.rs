//! Child processes: servers over standard input and output.
//!
//! On Unix a child leads a process group. Closing and dropping it end its input, send `SIGTERM` to the
//! group after a grace period and `SIGKILL` after a second one. Descendants of a child that exited on its own are
//! ended likewise: children of `npx` and `uvx` outlive them otherwise. Threads do this, with or without
//! a runtime. On Windows a child has a job object, which `process-wrap` kills (`fallback`).
//!
//! When our own process is killed, the kernel closes our pipes, which ends the input of children. On
//! Linux the child gets `SIGTERM` as well (`death_signal`); Windows kills its job. Apple's systems do
//! neither.
//!
//! A descendant that moves into another group or session is out of reach, except for a [`Subreaper`]: on
//! Linux, when our process ends in an orderly way.
//!
//! `process-wrap` cannot replace the Unix part. It reaps the leader first, so the group id may
//! belong to another group when it is signalled; it waits only for descendants that are our own children; a drop
//! kills only the leader; and it needs the runtime that started the child, on whose threads a
//! parent-death signal would come early.

mod child;
#[cfg(unix)]
mod child_monitor;
mod command;
#[cfg(target_os = "linux")]
mod death_signal;
mod environment;
mod error;
mod exit;
#[cfg(windows)]
mod fallback;
#[cfg(unix)]
mod group;
#[cfg(unix)]
mod group_alive;
#[cfg(unix)]
mod lifecycle;
mod stderr;
mod stdin;
mod subreaper;
mod tail;

/// The items that differ between operating systems.
mod system {
    #[cfg(unix)]
    pub(crate) use super::child_monitor::Stdout;
    #[cfg(unix)]
    pub(super) use super::child_monitor::{Started, start};
    #[cfg(windows)]
    pub(crate) use super::fallback::Stdout;
    #[cfg(windows)]
    pub(super) use super::fallback::{Lifecycle, Started, start};
    #[cfg(unix)]
    pub(super) use super::lifecycle::Lifecycle;
}

#[cfg(all(test, unix))]
mod tests;

pub(crate) use child::{Child, Spawned};
pub(crate) use command::Command;
pub(crate) use exit::Exit;
pub use subreaper::Subreaper;
