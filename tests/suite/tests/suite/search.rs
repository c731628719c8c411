//! Ranked search over a large pool.

mod data;
mod ranking;
mod tool;
