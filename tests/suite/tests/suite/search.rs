//! Ranked search over a large pool.

mod data;
