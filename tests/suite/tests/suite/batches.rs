//! Several calls at once: one result each, in call order; conflicting calls never overlap.

mod cases;
mod jobs;
mod locks;
mod nesting;
mod properties;
