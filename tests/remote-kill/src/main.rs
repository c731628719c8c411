//! Kills and stops the processes of remote calls, and checks that each call has one outcome.
//!
//! One program plays all parts, by its first argument:
//!
//! | Part | Does |
//! |---|---|
//! | `hub FILE PORT` | keeps records in FILE |
//! | `runner URL EFFECTS` | runs the tools `once` and `again`, which write their effects to a file |
//! | `caller URL OUTCOMES NAME COUNT` | makes COUNT calls, and writes each outcome to a file |
//! | `drive CALLS SEED` | starts the others, kills, restarts and stops them, and checks what they wrote |
//!
//! A part ends in order when its standard input does, so none outlives the driver.
//!
//! Negative control: with `REMOTE_KILL_UNMARKED=1` runners do not write `started` ahead of a call, and the check fails.

mod caller;
mod check;
mod drive;
mod files;
mod hub;
mod network;
mod runner;
mod unmarked;

use std::env;
use std::error::Error;
use std::process::ExitCode;

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{} failed: {error}", arguments.join(" "));
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &[String]) -> Result<(), Failure> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["hub", file, port] => hub::run(file, port).await,
        ["runner", url, effects] => runner::run(url, effects).await,
        ["caller", url, outcomes, name, count] => {
            caller::run(url, outcomes, name, count.parse()?).await
        }
        ["drive", calls, seed] => drive::run(calls.parse()?, seed.parse()?).await,
        _ => Err("usage: hub FILE PORT | runner URL EFFECTS | caller URL OUTCOMES NAME COUNT | drive CALLS SEED".into()),
    }
}
