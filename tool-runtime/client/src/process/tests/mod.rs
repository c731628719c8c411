//! Children that are shell scripts, well-behaved and not.

mod endings;
mod log;
#[cfg(target_os = "linux")]
mod losses;
mod starts;
mod streams;
mod support;
