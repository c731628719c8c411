//! A program with a log of its calls that stops at a place of its call, so that it can be killed there.
//!
//! `audited LOG EFFECTS PLACE RUN`: the places are `decision`, `tool` and `effect`, where it writes a line to
//! standard output and waits for ever; or `loop`, where it calls again and again, a line each; or `full`,
//! where it writes what becomes of calls until one is rejected.

#![allow(clippy::print_stdout)]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use tool_runtime::audit::{EventLog, OnFailure};
use tool_runtime::prelude::*;
use tool_runtime::{CallView, Decision, Execution, PolicyEngine};

/// Says that the place is reached, and waits to be killed.
fn stop() {
    println!("here");
    std::io::stdout().flush().expect("a reader");
    drop(std::io::stdin().read_to_end(&mut Vec::new()));
}

struct StopsWhenDeciding(bool);

impl PolicyEngine for StopsWhenDeciding {
    fn decide(&self, _: &CallView<'_>) -> Decision {
        if self.0 {
            stop();
        }
        Decision::allow()
    }
}

#[derive(Clone)]
struct Program {
    effects: PathBuf,
    place: String,
}

impl Program {
    /// The effect of the tool is a line in a file.
    fn append(&self, text: &str) -> std::io::Result<()> {
        if self.place == "tool" {
            stop();
        }
        let mut effects = File::options().append(true).create(true).open(&self.effects)?;
        effects.write_all(format!("{text}\n").as_bytes())?;
        if self.place == "effect" {
            stop();
        }
        Ok(())
    }

    fn pool(&self, log: EventLog) -> ToolPool {
        let program = self.clone();
        let append = Tool::builder("append", "Append a line.")
            .input_schema(serde_json::json!({ "type": "object", "properties": { "text": {} } }))
            .handler(move |arguments: serde_json::Map<String, serde_json::Value>| {
                let text = arguments["text"].as_str().unwrap_or_default().to_owned();
                std::future::ready(program.append(&text).map_err(ToolError::from))
            });
        let stops = StopsWhenDeciding(self.place == "decision");
        ToolPool::builder().add(append).policy(stops).install(log).build().expect("a pool")
    }
}

fn open(log: &str, place: &str) -> EventLog {
    let builder = EventLog::builder();
    match place {
        "loop" => builder.rotate_at(2000).keep_records(60),
        "full" => builder.on_failure(OnFailure::Reject),
        _ => builder,
    }
    .open(log)
    .expect("a log")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [log, effects, place, run] = &arguments[..] else { panic!("four arguments") };
    let program = Program { effects: effects.into(), place: place.clone() };
    let pool = program.pool(open(log, place));
    let context = pool.context().in_execution(&Arc::new(Execution::new(run)));
    let call = |text: &str| ToolCall::json("append", serde_json::json!({ "text": text }));
    if place != "loop" && place != "full" {
        pool.call_with(call(run), &context).await;
        return;
    }
    for number in 0.. {
        let result = pool.call_with(call(&format!("{run}-{number}")), &context).await;
        match result.error() {
            None => println!("done"),
            Some(error) => println!("{}: {}", error.class(), error.detail().unwrap_or_default()),
        }
        if place == "full" && result.error().is_some() {
            return;
        }
    }
}
