//! One connection with one request at a time.

use super::endpoint::Endpoint;
use super::response::Response;
use std::fmt::Write as _;
use std::io::{self, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Read timeout.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// A connection that stays open.
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
    request: String,
}

impl Connection {
    pub(super) fn open(endpoint: &Endpoint) -> io::Result<Self> {
        let stream = TcpStream::connect(endpoint.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        Ok(Self { stream: BufReader::new(stream), request: String::new() })
    }

    /// Sends one message, in one write, and reads the whole answer.
    pub(super) fn post(&mut self, head: &str, body: &str) -> io::Result<Response> {
        self.request.clear();
        write!(self.request, "{head}Content-Length: {}\r\n\r\n{body}", body.len())
            .expect("writing to a string succeeds");
        self.stream.get_mut().write_all(self.request.as_bytes())?;
        Response::read(&mut self.stream)
    }
}
