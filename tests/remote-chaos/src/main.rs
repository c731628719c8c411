//! Kills, stops and cuts off the processes of remote calls, and checks that each call has one outcome.
//!
//! One program plays all parts, by its first argument:
//!
//! | Part | Does |
//! |---|---|
//! | `hub FOLDER PORT` | keeps records in a file |
//! | `keeper URL FOLDER` | creates the streams of a NATS server, again and again |
//! | `runner URL FOLDER` | runs the tools `once` and `again`, which write their effects to a file |
//! | `caller URL FOLDER NAME COUNT` | makes COUNT calls, and writes each outcome to a file |
//! | `drive hub\|nats CALLS SEED` | starts the others, disturbs and restarts them, and checks what they wrote |
//!
//! A part ends in order when its standard input does, so none outlives the driver.
//!
//! Negative controls: with `REMOTE_CHAOS_FENCE=none` runners do not write `started` ahead of a call; with `deliveries` a first
//! delivery lets them start instead. The check then fails.

mod caller;
mod check;
mod drive;
mod fence;
mod files;
mod hub;
mod keeper;
mod network;
mod runner;

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
        ["hub", folder, port] => hub::run(folder.as_ref(), port).await,
        ["keeper", url, folder] => keeper::run(url, folder.as_ref()).await,
        ["runner", url, folder] => runner::run(url, folder.as_ref()).await,
        ["caller", url, folder, name, count] => {
            caller::run(url, folder.as_ref(), name, count.parse()?).await
        }
        ["drive", engine, calls, seed] => drive::run(engine, calls.parse()?, seed.parse()?).await,
        _ => Err("usage: hub FOLDER PORT | keeper URL FOLDER | runner URL FOLDER | caller URL FOLDER NAME COUNT | drive hub|nats CALLS SEED".into()),
    }
}
