//! Tests of child processes, with shell scripts as children.

mod exits;
#[cfg(target_os = "linux")]
mod killed_host;
mod log;
#[cfg(target_os = "linux")]
mod own_process;
mod starts;
mod streams;
mod support;
