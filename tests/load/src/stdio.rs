//! Calls over a server's standard input and output.

use crate::Load;
use crate::answer::Answer;
use crate::call::Template;
use crate::outcome::Outcome;
use crate::protocol_version::ProtocolVersion;
use crate::server::{Server, with_usage};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The capacity of a pipe: while all requests fit in, writing never waits for the server, which
/// may wait for the client to read.
const PIPE: usize = 64 * 1024;

/// The channel between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Two pipes, as created by most hosts.
    Pipes,
    /// Two pairs of sockets, as created by Node.js.
    Sockets,
}

pub(crate) fn run(command: Command, channel: Channel, load: &Load) -> io::Result<Outcome> {
    let (server, mut client) = connect(command, channel, load)?;
    client.open_session(load.version)?;
    client.run(load, load.warm_up())?;
    let outcome = with_usage(Some(server.id()), || client.run(load, load.time))?;
    drop(client);
    server.wait()?;
    Ok(outcome)
}

/// Makes the call once and returns the line of the answer.
pub(crate) fn ask(command: Command, load: &Load) -> io::Result<String> {
    let (server, mut client) = connect(command, Channel::Pipes, load)?;
    client.open_session(load.version)?;
    client.call()?;
    client.read()?;
    let line = std::mem::take(&mut client.line);
    drop(client);
    server.wait()?;
    Ok(line)
}

fn connect(mut command: Command, channel: Channel, load: &Load) -> io::Result<(Server, Client)> {
    command.stderr(Stdio::null());
    let (server, to, from) = match channel {
        Channel::Pipes => {
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let server = Server::start(command, load.limit())?;
            let (to, from) = server.streams();
            (server, OwnedFd::from(to), OwnedFd::from(from))
        }
        Channel::Sockets => {
            let (to, input) = UnixStream::pair()?;
            let (from, output) = UnixStream::pair()?;
            command.stdin(OwnedFd::from(input)).stdout(OwnedFd::from(output));
            (Server::start(command, load.limit())?, to.into(), from.into())
        }
    };
    Ok((server, Client::new(to, from, load)?))
}

/// One client with several calls in flight.
struct Client {
    to: File,
    from: BufReader<File>,
    line: String,
    template: Template,
    /// Send times of the unanswered requests.
    waiting: HashMap<u64, Instant>,
    sent: u64,
}

impl Client {
    fn new(to: OwnedFd, from: OwnedFd, load: &Load) -> io::Result<Self> {
        let template = load.call.template(load.version);
        let bytes = load.in_flight * (template.with(u64::MAX).len() + 1);
        if bytes > PIPE {
            let message = format!("{bytes} bytes in flight are more than a pipe holds ({PIPE})");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let from = BufReader::with_capacity(PIPE, File::from(from));
        let (line, waiting) = (String::new(), HashMap::new());
        Ok(Self { to: to.into(), from, line, template, waiting, sent: 0 })
    }

    fn open_session(&mut self, version: ProtocolVersion) -> io::Result<()> {
        let Some(handshake) = version.initialize() else {
            return Ok(());
        };
        self.write(handshake.to_string())?;
        self.read()?;
        self.write(ProtocolVersion::initialized().to_string())
    }

    /// Calls until the time is up, then waits for the calls in flight.
    fn run(&mut self, load: &Load, time: Duration) -> io::Result<Outcome> {
        let end = Instant::now() + time;
        let mut outcome = Outcome::default();
        for _ in 0..load.in_flight {
            self.call()?;
        }
        while !self.waiting.is_empty() {
            self.read()?;
            let answer = Answer::parse(&self.line);
            if answer.is_from_server() {
                continue;
            }
            let sent = answer.id().and_then(|id| self.waiting.remove(&id));
            let now = Instant::now();
            let is_correct = sent.is_some() && answer.is_correct(load.call.expected.as_deref());
            let latency = now.duration_since(sent.unwrap_or(now));
            outcome.count(latency, (!is_correct).then_some(&self.line));
            if sent.is_some() && now < end {
                self.call()?;
            }
        }
        Ok(outcome)
    }

    fn call(&mut self) -> io::Result<()> {
        self.sent += 1;
        self.waiting.insert(self.sent, Instant::now());
        self.write(self.template.with(self.sent))
    }

    /// One write per message, as in hosts.
    fn write(&mut self, mut message: String) -> io::Result<()> {
        message.push('\n');
        self.to.write_all(message.as_bytes())
    }

    fn read(&mut self) -> io::Result<()> {
        self.line.clear();
        match self.from.read_line(&mut self.line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}
