//! A host that starts a server over any kind of channel.

use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use suite::limit::Limit;

/// The channel between host and server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Channel {
    Pipes,
    Sockets,
    /// One pair of sockets for both directions.
    OneSocket,
}

/// A server and the host's ends of its streams.
pub(super) struct Host {
    child: Child,
    to: Option<File>,
    from: BufReader<File>,
    log: BufReader<ChildStderr>,
    _limit: Limit,
}

impl Host {
    pub(super) fn start(channel: Channel) -> Self {
        match channel {
            Channel::Pipes => {
                let (input, to) = std::io::pipe().expect("a pipe");
                let (from, output) = std::io::pipe().expect("a pipe");
                Self::of(input.into(), output.into(), to.into(), from.into())
            }
            Channel::Sockets => {
                let (input, to) = UnixStream::pair().expect("sockets");
                let (from, output) = UnixStream::pair().expect("sockets");
                Self::of(input.into(), output.into(), to.into(), from.into())
            }
            Channel::OneSocket => {
                let (theirs, ours) = UnixStream::pair().expect("sockets");
                let (output, from) = (theirs.try_clone(), ours.try_clone());
                let (output, from) = (output.expect("a duplicate"), from.expect("a duplicate"));
                Self::of(theirs.into(), output.into(), ours.into(), from.into())
            }
        }
    }

    /// A server with these streams, and the other ends of them.
    pub(super) fn of(input: OwnedFd, output: OwnedFd, to: OwnedFd, from: OwnedFd) -> Self {
        let mut child = misbehaving_tools(input.into(), output.into()).spawn().expect("it starts");
        let log = BufReader::new(child.stderr.take().expect("piped"));
        let _limit = Limit::of(&child);
        Self { child, to: Some(to.into()), from: BufReader::new(from.into()), log, _limit }
    }

    /// After the handshake of 2025-11-25.
    pub(super) fn greeted(mut self) -> Self {
        assert_eq!(self.ask(&greeting())["result"]["protocolVersion"], "2025-11-25");
        self.write(greeted().to_string());
        self
    }

    /// Sends bytes as a line.
    pub(super) fn write(&mut self, line: impl AsRef<[u8]>) {
        let line = [line.as_ref(), b"\n"].concat();
        self.to.as_mut().expect("still open").write_all(&line).expect("the server reads");
    }

    /// The next line, which must be a message.
    pub(super) fn read(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("UTF-8");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    pub(super) fn ask(&mut self, message: &Value) -> Value {
        self.write(message.to_string());
        self.read()
    }

    /// Waits until the server logs this on standard error.
    pub(super) fn log_until(&mut self, text: &str) {
        let mut lines = (&mut self.log).lines();
        assert!(lines.any(|line| line.expect("UTF-8").contains(text)), "{text:?} is not logged");
    }

    /// Ends the input.
    pub(super) fn hang_up(&mut self) {
        let input = self.to.take().expect("still open");
        // A duplicate keeps a socket's direction open; pipes cannot be shut down.
        let _ = rustix::net::shutdown(&input, rustix::net::Shutdown::Write);
    }

    /// Ends the input, expects a successful exit, and returns the remaining output.
    pub(super) fn finish(mut self) -> Vec<Value> {
        if self.to.is_some() {
            self.hang_up();
        }
        let mut rest = String::new();
        self.from.read_to_string(&mut rest).expect("UTF-8");
        assert!(self.child.wait().expect("it ends").success());
        messages(&rest)
    }

    /// Closes both directions.
    pub(super) fn leave(mut self) -> Leaving {
        drop(self.to.take());
        self.from = BufReader::new(File::open("/dev/null").expect("it is always there"));
        Leaving(self)
    }
}

/// A server whose host has disconnected.
pub(super) struct Leaving(Host);

impl Leaving {
    pub(super) fn wait(&mut self) -> std::io::Result<ExitStatus> {
        self.0.child.wait()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // Fails only for a process that has exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn misbehaving_tools(input: Stdio, output: Stdio) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_misbehaving_tools"));
    command.arg("serve").stdin(input).stdout(output).stderr(Stdio::piped());
    command
}

/// Parses an output that contains only messages.
pub(super) fn messages(output: &str) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line:?}"));
    output.lines().map(parse).collect()
}

pub(super) fn greeting() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}
    }})
}

pub(super) fn greeted() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

pub(super) fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments}})
}
