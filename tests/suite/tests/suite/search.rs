//! Ranked search over a large pool.

mod data;
mod deferral;
mod ranking;
mod tool;
