//! Behaviour over real pipes, sockets and files, seen from the peer's side.

mod back_pressure;
mod blocking_io;
mod calls_in_flight;
mod cancellation;
mod channels;
mod handshake;
mod lines;
mod parsing;
mod rejections;
mod session;
mod support;
mod take;
