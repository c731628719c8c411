//! What a call of an external server's tool costs through the pool, beside rmcp's bare client;
//! how long many servers take to start together; what an idle one holds.

mod callers;
mod idle;
mod start;

use callers::{Bare, Caller, Pooled};
use std::error::Error;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// How often both are measured, in turn. The best of each counts: noise only adds.
const ROUNDS: usize = 15;
/// How long one measurement takes.
const TIME: Duration = Duration::from_millis(300);

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[expect(clippy::print_stdout, reason = "what it prints is what it is for")]
fn main() -> Outcome<()> {
    build()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        println!("| A call by | in flight | rmcp's client | the pool | pool / rmcp |");
        println!("|---|---:|---:|---:|---:|");
        for over in [Over::Memory, Over::Stdio] {
            let (bare, pooled) = (Bare::connect(over).await?, Pooled::connect(over).await?);
            for in_flight in [1, 64] {
                let (bare, pooled) = beside(&bare, &pooled, in_flight).await?;
                println!(
                    "| {} | {in_flight} | {:.1} us | {:.1} us | {:.2} |",
                    over.name(),
                    micros(bare),
                    micros(pooled),
                    pooled.as_secs_f64() / bare.as_secs_f64()
                );
            }
        }
        println!();
        start::measure().await?;
        idle::measure().await
    })
}

/// What carries the messages.
#[derive(Clone, Copy)]
enum Over {
    /// A server of this process.
    Memory,
    /// A process of its own.
    Stdio,
}

impl Over {
    fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory, one process",
            Self::Stdio => "stdio",
        }
    }
}

/// The time of one call by each, the best of all rounds.
async fn beside(
    bare: &impl Caller,
    pooled: &impl Caller,
    in_flight: usize,
) -> Outcome<(Duration, Duration)> {
    let (mut first, mut second) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        first = first.min(each(bare, in_flight).await?);
        second = second.min(each(pooled, in_flight).await?);
    }
    Ok((first, second))
}

/// The time of one call, of as many as are done in the time.
async fn each(caller: &impl Caller, in_flight: usize) -> Outcome<Duration> {
    let (began, mut calls) = (Instant::now(), 0_u32);
    while began.elapsed() < TIME {
        let round = (0..in_flight).map(|number| caller.add(i64::try_from(number).unwrap_or(0)));
        for result in futures_util::future::join_all(round).await {
            result?;
            calls += 1;
        }
    }
    Ok(began.elapsed() / calls)
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// A program that lies beside this one.
fn program(name: &str) -> Outcome<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(name))
}

/// `cargo run` builds this program alone.
fn build() -> Outcome<()> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", "load", "--bins"]);
    cargo.args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    if cargo.status()?.success() { Ok(()) } else { Err("the servers were not built".into()) }
}
