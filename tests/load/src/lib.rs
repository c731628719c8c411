//! A closed-loop load generator for MCP servers on this machine.
//!
//! The number of calls in flight is constant: each answer is checked, and the next call is sent.
//! Over stdio the calls share one pair of pipes or sockets, over HTTP each has a connection that stays
//! open. CPU time and memory of the server's processes are read from `/proc`.
//!
//! Limits: Linux; over stdio, all calls in flight must fit into a pipe; over HTTP, `http://` and
//! loopback addresses only.

mod answer;
mod call;
mod http;
mod outcome;
mod processes;
mod protocol_version;
mod server;
mod stdio;
pub mod table;

pub use call::Call;
pub use outcome::Outcome;
pub use protocol_version::ProtocolVersion;
pub use stdio::Channel;

use std::io;
use std::process::Command;
use std::time::Duration;

/// The load on a server.
#[derive(Clone, Debug)]
pub struct Load {
    /// The protocol version of the client.
    pub version: ProtocolVersion,
    /// The call that is repeated.
    pub call: Call,
    /// Number of calls in flight.
    pub in_flight: usize,
    /// Duration of the measurement. A warm-up of a quarter of it precedes.
    pub time: Duration,
}

impl Load {
    fn warm_up(&self) -> Duration {
        self.time / 4
    }

    /// Time limit of a run; then its server is killed.
    fn limit(&self) -> Duration {
        self.time * 2 + Duration::from_secs(60)
    }
}

/// Starts a server and loads it over its standard input and output.
///
/// # Errors
/// If the server cannot be started, fails the handshake or ends before it has answered.
pub fn stdio(command: Command, channel: Channel, load: &Load) -> io::Result<Outcome> {
    stdio::run(command, channel, load)
}

/// Starts a server that prints `listening on http://127.0.0.1:PORT/..` on standard error, and loads
/// it over HTTP.
///
/// # Errors
/// If the server cannot be started, fails the handshake or closes a connection.
pub fn http(command: Command, load: &Load) -> io::Result<Outcome> {
    http::run(command, load)
}

/// Loads a running server. Its CPU time and memory are 0 without a process id.
///
/// # Errors
/// If the server is not on this machine, fails the handshake or closes a connection.
pub fn http_at(url: &str, process: Option<u32>, load: &Load) -> io::Result<Outcome> {
    http::run_at(url, process, load)
}
