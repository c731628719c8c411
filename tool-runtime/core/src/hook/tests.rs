mod admission;
mod conclusion;
mod failures;
mod listing;
mod questions;
mod support;
