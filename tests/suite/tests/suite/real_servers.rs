//! The tools of third-party servers in one pool.

mod concurrent;
mod fixture;
mod gateway;
mod governed;
mod orphans;
mod questions;
mod reconnection;
