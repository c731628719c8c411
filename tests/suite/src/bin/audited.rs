//! A program that logs its calls and stops at a chosen point of a call, so that a test can kill it
//! there.
//!
//! `audited LOG EFFECTS POINT RUN`: at the points `decision`, `tool` and `effect` the program
//! prints a line and waits forever. With `loop` it calls again and again and prints a line per call.

#![allow(clippy::print_stdout)]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use tool_runtime::audit::EventLog;
use tool_runtime::govern::{CallView, Decision, PolicyEngine};
use tool_runtime::prelude::*;
use tool_runtime::tool::Execution;

/// Reports that the point is reached, and waits to be killed.
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
    point: String,
}

impl Program {
    /// The effect of the tool is a line in a file.
    fn append(&self, text: &str) -> std::io::Result<()> {
        if self.point == "tool" {
            stop();
        }
        let mut effects = File::options().append(true).create(true).open(&self.effects)?;
        effects.write_all(format!("{text}\n").as_bytes())?;
        if self.point == "effect" {
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
        let stops = StopsWhenDeciding(self.point == "decision");
        ToolPool::builder().add(append).policy(stops).install(log).build().expect("a pool")
    }
}

/// A loop in SQLite removes old records; JSONL only records.
fn open(log: &str, point: &str) -> EventLog {
    let builder = EventLog::builder();
    match point {
        _ if log.ends_with(".jsonl") => builder.record_only(),
        "loop" => builder.keep_records(60),
        _ => builder,
    }
    .open(log)
    .expect("a log")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [log, effects, point, run] = &arguments[..] else { panic!("four arguments") };
    let program = Program { effects: effects.into(), point: point.clone() };
    let pool = program.pool(open(log, point));
    let context = pool.context().in_execution(&Arc::new(Execution::new(run)));
    let call = |text: &str| ToolCall::json("append", serde_json::json!({ "text": text }));
    if point != "loop" {
        pool.call_with(call(run), &context).await;
        return;
    }
    for number in 0.. {
        let result = pool.call_with(call(&format!("{run}-{number}")), &context).await;
        assert!(result.error().is_none(), "{result:?}");
        println!("done");
    }
}
