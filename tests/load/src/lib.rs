//! A closed-loop load generator for MCP servers on this machine.
//!
//! So many calls are always in flight: an answer is checked, and makes room for the next call.
//! Over stdio they share one pair of pipes or sockets, over HTTP each has a connection that stays
//! open. What the server's processes took of CPU and memory is read from `/proc`.
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

/// What is asked of a server, and how hard.
#[derive(Clone, Debug)]
pub struct Load {
    /// The lifecycle that the client speaks.
    pub version: ProtocolVersion,
    /// The call that is made again and again.
    pub call: Call,
    /// How many calls wait for their answers at any time.
    pub in_flight: usize,
    /// How long calls are counted. A quarter of it goes before as a warm-up.
    pub time: Duration,
}

impl Load {
    fn warm_up(&self) -> Duration {
        self.time / 4
    }

    /// How long a run may take before its server is killed.
    fn limit(&self) -> Duration {
        self.time * 2 + Duration::from_secs(60)
    }
}

/// Starts a server and loads it over its standard input and output.
///
/// # Errors
/// If the server cannot be started, greets wrongly or ends before it has answered.
pub fn stdio(command: Command, channel: Channel, load: &Load) -> io::Result<Outcome> {
    stdio::run(command, channel, load)
}

/// Starts a server that says `listening on http://127.0.0.1:PORT/..` on standard error, and loads
/// it over HTTP.
///
/// # Errors
/// If the server cannot be started, greets wrongly or closes a connection.
pub fn http(command: Command, load: &Load) -> io::Result<Outcome> {
    http::run(command, load)
}

/// Loads a server that runs already. Its CPU time and memory are 0 without a process id.
///
/// # Errors
/// If the server is not on this machine, greets wrongly or closes a connection.
pub fn http_at(url: &str, process: Option<u32>, load: &Load) -> io::Result<Outcome> {
    http::run_at(url, process, load)
}
