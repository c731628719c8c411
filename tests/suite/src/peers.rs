//! Third-party clients, checkers and servers, installed once.
//!
//! Their scripts are in `peers/`, with the pinned versions. A machine that cannot install them fails the
//! tests: skipping a peer silently would hide that it is not supported.

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

/// Longer than the limits of the scripts, so that a hanging script can report where it hangs.
const LIMIT: Duration = Duration::from_secs(300);

/// An installed program: one of Node.js, or one of the Python environment.
#[derive(Clone, Copy, Debug)]
pub enum Program {
    /// A script for Node.js.
    Node(&'static str),
    /// A script for Python.
    Python(&'static str),
    /// A command of a Python package.
    Venv(&'static str),
}

/// Runs an installed program to its end.
///
/// # Panics
/// The program cannot be installed or started.
pub fn peer(program: Program, words: &[&str]) -> Ended {
    peer_in(program, words, &[])
}

/// The same, with variables of the environment.
///
/// # Panics
/// The program cannot be installed or started.
pub fn peer_in(program: Program, words: &[&str], environment: &[(&str, String)]) -> Ended {
    let dir = installed();
    let (interpreter, script) = match program {
        Program::Node(script) => (install::node(dir), Some(script)),
        Program::Python(script) => (dir.join("venv/bin/python"), Some(script)),
        Program::Venv(command) => (dir.join("venv/bin").join(command), None),
    };
    let mut command = Command::new(interpreter);
    command.args(script).args(words).current_dir(dir);
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    run(&mut command, LIMIT).unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// The working directory, which relative arguments refer to.
pub fn folder() -> &'static Path {
    installed()
}
