//! Child processes: servers that are reached by their standard input and output.
//!
//! A child leads a process group of its own. Closing and dropping it go the same way, by plain
//! threads, whether or not a runtime is left: its input ends, after a grace the group gets
//! `SIGTERM`, after another `SIGKILL`. What a child that went by itself leaves behind in its group
//! is seen off likewise; children of `npx` and `uvx` outlive them otherwise.
//!
//! When our own process is killed, nothing of this runs. Inputs end then, because the kernel closes
//! our pipes, and on Linux the child itself gets `SIGTERM` (`death_signal`).
//!
//! A descendant that moves into another group or session is ended by a [`Subreaper`] alone: on Linux,
//! when our process ends in an orderly way. Killed, it leaves everything but its own children to end by
//! itself.
//!
//! Limits: without a subreaper such a descendant is out of reach. Apple's systems
//! have no signal for the death of a parent: there, only the end of the input tells a child of it.
//! Windows has no groups and no signals: there, the child is terminated, and what it started stays
//! unless it ends with its input (`elsewhere`).

#[cfg(unix)]
mod child;
#[cfg(unix)]
mod child_monitor;
mod command;
#[cfg(target_os = "linux")]
mod death_signal;
mod environment;
mod error;
mod exit;
#[cfg(not(unix))]
mod fallback;
#[cfg(unix)]
mod group;
#[cfg(unix)]
mod group_alive;
#[cfg(unix)]
mod lifecycle;
mod stderr;
mod stdin;
mod stdout_noise;
mod subreaper;
mod tail;

#[cfg(all(test, unix))]
mod tests;

#[cfg(unix)]
pub(crate) use child::{Child, Spawned};
pub(crate) use command::Command;
pub(crate) use exit::Exit;
#[cfg(not(unix))]
pub(crate) use fallback::{Child, Spawned};
pub use subreaper::Subreaper;
