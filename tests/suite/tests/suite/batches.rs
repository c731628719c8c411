//! Several calls at once: one result each, in call order, and what meets never overlaps.

mod cases;
mod jobs;
mod locks;
mod nesting;
mod properties;
