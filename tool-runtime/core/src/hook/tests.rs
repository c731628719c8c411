mod admission;
mod after_hooks;
mod failures;
mod listing;
mod questions;
mod support;
