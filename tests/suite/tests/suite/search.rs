//! Ranked search over a large pool.

mod data;
mod deferral;
mod principals;
mod ranking;
mod tool;
