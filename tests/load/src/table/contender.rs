//! The compared servers. Cargo builds them into the directory of this program.

use std::io;
use std::process::Command;

/// A server and its command line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contender {
    pub(super) name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
}

const fn by_hand(arguments: &'static [&'static str]) -> Contender {
    Contender { name: "by hand", program: "by-hand", arguments }
}

const fn rmcp(name: &'static str, arguments: &'static [&'static str]) -> Contender {
    Contender { name, program: "rmcp-baseline", arguments }
}

const fn ours(name: &'static str, arguments: &'static [&'static str]) -> Contender {
    Contender { name, program: "ours", arguments }
}

/// Over standard input and output.
/// The upper bound comes first.
pub(super) const STDIO: [Contender; 4] = [
    by_hand(&["stdio"]),
    rmcp("rmcp `stdio()`", &["stdio"]),
    rmcp("rmcp `stdio_pipes()`", &["pipes"]),
    ours("here", &["serve"]),
];

/// Over HTTP.
/// The upper bound comes first.
pub(super) const HTTP: [Contender; 6] = [
    by_hand(&["http", "0"]),
    rmcp("rmcp, as in its examples", &["http", "0", "nagle"]),
    rmcp("rmcp, `TCP_NODELAY`", &["http", "0"]),
    rmcp("rmcp, JSON, no sessions", &["http", "0", "json", "stateless"]),
    ours("here", &["serve", "--http", "127.0.0.1:0"]),
    ours("here, `--no-sessions`", &["serve", "--http", "127.0.0.1:0", "--no-sessions"]),
];

impl Contender {
    pub(super) fn command(&self) -> io::Result<Command> {
        let program = std::env::current_exe()?.with_file_name(self.program);
        let mut command = Command::new(program);
        command.args(self.arguments);
        Ok(command)
    }
}
