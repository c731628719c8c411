//! The tools of other people's servers in one pool.

mod absence;
mod gateway;
mod leftovers;
mod questions;
mod scene;
mod together;
