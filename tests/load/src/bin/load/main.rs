//! Measures calls per second of an MCP server, and its CPU time and memory: see [`options::USAGE`].

mod options;

use load::table;
use options::{Options, Target};
use std::error::Error;
use std::process::{Command, ExitCode};

#[expect(clippy::print_stdout, reason = "the result is the output of the program")]
fn main() -> Result<ExitCode, Box<dyn Error>> {
    let options = Options::read()?;
    let load = &options.load;
    let outcome = match &options.target {
        Target::Help => {
            print!("{}", options::USAGE);
            return Ok(ExitCode::SUCCESS);
        }
        Target::Table { stdio, http } => {
            tables(&options, *stdio, *http)?;
            return Ok(ExitCode::SUCCESS);
        }
        Target::Stdio(channel, command) => load::stdio(program(command), *channel, load)?,
        Target::Http(command) => load::http(program(command), load)?,
        Target::Url(url, process) => load::http_at(url, *process, load)?,
    };
    println!("{outcome}");
    Ok(if outcome.wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn program(words: &[std::ffi::OsString]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

/// Builds the servers, which `cargo run` does not build, and prints the tables.
fn tables(options: &Options, stdio: bool, http: bool) -> Result<(), Box<dyn Error>> {
    build()?;
    table::check_equal_answers()?;
    if stdio {
        table::stdio(options.effort)?;
    }
    if http {
        table::http(options.effort)?;
    }
    Ok(())
}

fn build() -> Result<(), Box<dyn Error>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", "load", "--bins"]);
    cargo.args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    match cargo.status()? {
        status if status.success() => Ok(()),
        status => Err(format!("building the servers: {status}").into()),
    }
}
