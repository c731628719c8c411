//! The tools of third-party servers in one pool.

mod absence;
mod gateway;
mod leftovers;
mod questions;
mod scene;
mod together;
