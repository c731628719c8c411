//! Tests of child processes, with shell scripts as children.

mod endings;
mod log;
#[cfg(target_os = "linux")]
mod losses;
mod starts;
mod streams;
mod support;
