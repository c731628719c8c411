//! Other people's clients, checkers and servers, installed once.
//!
//! What they do is written in `peers/`, in their languages; the pinned versions stand there too. A
//! machine that cannot install them fails the tests: a peer that is skipped quietly is a peer that
//! is not supported.

mod clients;
mod install;
mod servers;

pub use clients::{CLIENTS, Client, Lifecycle, Transport};
pub use servers::Server;

use crate::process::{Ended, run};
use install::installed;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// More than the scripts allow themselves, so that a hang is reported by the script that knows where it hung.
const LIMIT: Duration = Duration::from_secs(180);

/// A program of the installation: one of Node.js, or one of the Python environment.
#[derive(Clone, Copy, Debug)]
pub enum Program {
    /// A script, run by Node.js.
    Node(&'static str),
    /// A script, run by Python.
    Python(&'static str),
    /// A command that a Python package brings.
    Venv(&'static str),
}

/// Runs a program of the installation to its end.
///
/// # Panics
/// It cannot be installed or started.
pub fn peer(program: Program, words: &[&str]) -> Ended {
    let dir = installed();
    let (interpreter, script) = match program {
        Program::Node(script) => (install::node(dir), Some(script)),
        Program::Python(script) => (dir.join("venv/bin/python"), Some(script)),
        Program::Venv(command) => (dir.join("venv/bin").join(command), None),
    };
    let mut command = Command::new(interpreter);
    command.args(script).args(words).current_dir(dir);
    run(&mut command, LIMIT).unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// The directory that relative paths of a program's words start from.
pub fn folder() -> &'static Path {
    installed()
}
