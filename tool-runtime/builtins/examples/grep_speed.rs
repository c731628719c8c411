//! Compares `Grep` with ripgrep, side by side, on one directory:
//!
//! ```text
//! cargo run --release -p tool-runtime-builtins --features search --example grep_speed -- ~/.cargo/registry/src
//! ```
//!
//! Each search runs alternately five times after a first one of each that reads the files; the fastest counts.

use serde_json::json;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tool_runtime::prelude::*;
use tool_runtime_builtins::{Builtins, Workspace};

const ROUNDS: usize = 5;
const PATTERNS: [&str; 4] =
    ["PhantomData", r"fn \w+_unchecked", "(?i)deadlock", r"\bunsafe\s+impl\b"];
/// The mode of `Grep` and the option of ripgrep.
const MODES: [(&str, &str); 3] = [("files_with_matches", "-l"), ("count", "-c"), ("content", "-n")];

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("give a directory")?;
    let workspace = Workspace::builder().root(&directory).build()?;
    let pool = ToolPool::builder().install(Builtins::new(workspace).search()).build()?;
    let mut output = std::io::stdout().lock();
    writeln!(output, "{:<20} {:<20} {:>8} {:>8}  rg / Grep", "pattern", "mode", "Grep", "rg")?;
    for pattern in PATTERNS {
        for (mode, option) in MODES {
            let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
            for round in 0..=ROUNDS {
                let (grep, rg) =
                    (grep(&pool, pattern, mode).await, rg(&directory, pattern, option)?);
                if round > 0 {
                    (ours, theirs) = (ours.min(grep), theirs.min(rg));
                }
            }
            let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
            let (ours, theirs) = (ours.as_millis(), theirs.as_millis());
            writeln!(output, "{pattern:<20} {mode:<20} {ours:>5} ms {theirs:>5} ms  {ratio:.2}")?;
        }
    }
    Ok(())
}

async fn grep(pool: &ToolPool, pattern: &str, mode: &str) -> Duration {
    let started = Instant::now();
    let arguments = json!({ "pattern": pattern, "output_mode": mode });
    let result = pool.call(ToolCall::json("Grep", arguments)).await;
    assert!(!result.is_error(), "{}", result.observation().to_text());
    started.elapsed()
}

fn rg(directory: &str, pattern: &str, option: &str) -> std::io::Result<Duration> {
    let started = Instant::now();
    let mut command = Command::new("rg");
    command.args([option, "-e", pattern, directory]).stdin(Stdio::null()).stdout(Stdio::null());
    command.status()?;
    Ok(started.elapsed())
}
