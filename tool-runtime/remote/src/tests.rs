//! Boards by one suite; callers and runners together, over a board in this process and in paused time.

mod board;
mod calls;
mod faulty;
mod fleet;
#[cfg(feature = "hub")]
mod full_disk;
mod governance;
mod hostile;
#[cfg(all(feature = "hub", feature = "http"))]
mod hub;
mod model;
#[cfg(feature = "__nats-tests")]
mod nats;
mod questions;
mod restarts;
mod skew;
#[cfg(all(feature = "hub", feature = "http"))]
mod tls;
mod vectors;
