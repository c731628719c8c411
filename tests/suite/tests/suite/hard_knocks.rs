//! A server under a stream of everything that can go wrong: each request is answered once or its
//! connection is closed for a reason, and nothing is left behind.

mod dice;
mod http;
mod stdio;
mod vitals;

/// Much is sent to these servers: one that takes longer hangs.
const HANGING: std::time::Duration = std::time::Duration::from_secs(1200);
