//! Compares calls of an external server's tool through the pool with calls through rmcp's client. Also measures
//! the time in which many servers start together, and the memory of an idle one.

mod callers;
mod idle;
mod start;

use callers::{Caller, PoolClient, RmcpClient};
use std::cmp::Ordering;
use std::error::Error;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Number of rounds; both clients are measured in each. The result is the median of all rounds: a round is
/// short enough for both measurements to see the same noise.
const ROUNDS: usize = 61;
/// Duration of one measurement.
const TIME: Duration = Duration::from_millis(60);

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[expect(clippy::print_stdout, reason = "the result is the output of the program")]
fn main() -> Outcome<()> {
    build()?;
    // One thread: with more, the measurement is dominated by thread wake-ups.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        println!("| A call by | in flight | rmcp's client | the pool | pool / rmcp |");
        println!("|---|---:|---:|---:|---:|");
        for transport in [Transport::Memory, Transport::Stdio] {
            let (rmcp, pooled) =
                (RmcpClient::connect(transport).await?, PoolClient::connect(transport).await?);
            for in_flight in [1, 64] {
                let Comparison { rmcp, pooled, ratio } = compare(&rmcp, &pooled, in_flight).await?;
                let (name, rmcp, pooled) = (transport.name(), micros(rmcp), micros(pooled));
                println!("| {name} | {in_flight} | {rmcp:.1} us | {pooled:.1} us | {ratio:.2} |");
            }
        }
        println!();
        start::measure().await?;
        idle::measure().await
    })
}

/// The transport.
#[derive(Clone, Copy)]
enum Transport {
    /// A server in this process.
    Memory,
    /// A separate process.
    Stdio,
}

impl Transport {
    fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory, one process",
            Self::Stdio => "stdio",
        }
    }
}

/// Times of both clients, measured side by side.
struct Comparison {
    rmcp: Duration,
    pooled: Duration,
    ratio: f64,
}

/// Measures one call with each client, and the ratio.
async fn compare(
    rmcp: &impl Caller,
    pooled: &impl Caller,
    in_flight: usize,
) -> Outcome<Comparison> {
    let mut rounds = Vec::with_capacity(ROUNDS);
    for round in 0..ROUNDS {
        // The second client profits from the caches of the first.
        let (rmcp, pooled) = if round % 2 == 0 {
            let rmcp = mean_time(rmcp, in_flight).await?;
            (rmcp, mean_time(pooled, in_flight).await?)
        } else {
            let pooled = mean_time(pooled, in_flight).await?;
            (mean_time(rmcp, in_flight).await?, pooled)
        };
        rounds.push((rmcp, pooled));
    }
    let ratio = |(rmcp, pooled): &(Duration, Duration)| pooled.as_secs_f64() / rmcp.as_secs_f64();
    Ok(Comparison {
        rmcp: median(rounds.iter().map(|round| round.0), Duration::cmp),
        pooled: median(rounds.iter().map(|round| round.1), Duration::cmp),
        ratio: median(rounds.iter().map(ratio), f64::total_cmp),
    })
}

fn median<T: Copy>(values: impl Iterator<Item = T>, order: impl Fn(&T, &T) -> Ordering) -> T {
    let mut values: Vec<T> = values.collect();
    values.sort_by(order);
    values[values.len() / 2]
}

/// The mean time of a call, over as many calls as fit into the duration.
async fn mean_time(caller: &impl Caller, in_flight: usize) -> Outcome<Duration> {
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

/// A program in the directory of this one.
fn program(name: &str) -> Outcome<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(name))
}

/// `cargo run` builds only this program.
fn build() -> Outcome<()> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", "load", "--bins"]);
    cargo.args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    if cargo.status()?.success() { Ok(()) } else { Err("the servers were not built".into()) }
}
