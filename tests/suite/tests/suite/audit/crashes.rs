//! Programs that are killed at each point of a call: the log and the effects agree.

use super::{check_chain, effects, records, start};
use crate::support::Directory;
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tool_runtime::audit::{EventLog, RecordKind, Resolution};
use tool_runtime::prelude::*;
use tool_runtime::tool::{Execution, StepId};

/// The number of kills at each point.
const KILLS: u32 = 40;

/// Kills a program once it has written some lines.
fn kill(log: &Path, effects: &Path, point: &str, run: &str, lines: usize) {
    let (mut child, _limit) = start(log, effects, point, run);
    let output = BufReader::new(child.stdout.take().unwrap());
    assert_eq!(output.lines().take(lines).map_while(Result::ok).count(), lines);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The same tool, in the process of the test.
fn pool(log: &EventLog, effects: &Path) -> ToolPool {
    let effects = effects.to_owned();
    let append = move |arguments: serde_json::Map<String, serde_json::Value>| {
        let text = arguments["text"].as_str().unwrap_or_default().to_owned();
        let file = File::options().append(true).create(true).open(&effects);
        let written = file.and_then(|mut file| writeln!(file, "{text}"));
        std::future::ready(written.map_err(ToolError::from))
    };
    let tool = Tool::builder("append", "Append a line.")
        .input_schema(serde_json::json!({ "type": "object", "properties": { "text": {} } }));
    ToolPool::builder().add(tool.handler(append)).install(log.clone()).build().unwrap()
}

/// The second attempt of a run: the class of its error.
async fn second_attempt(pool: &ToolPool, run: &str) -> Option<ErrorClass> {
    let execution = Execution::new(run).with_attempt(2);
    let context = pool.context().in_execution(&Arc::new(execution));
    let call = ToolCall::json("append", serde_json::json!({ "text": run }));
    pool.call_with(call, &context).await.error().map(|error| error.class())
}

/// Kills a program at a point many times, with one log.
fn kill_runs(directory: &Directory, log: &str, point: &str) -> (PathBuf, PathBuf, Vec<String>) {
    let (log, effects) = (directory.file(log), directory.file("effects"));
    let runs: Vec<String> = (0..KILLS).map(|kill| format!("{point}-{kill}")).collect();
    for run in &runs {
        kill(&log, &effects, point, run, 1);
        check_chain(&log);
    }
    (log, effects, runs)
}

#[tokio::test]
async fn a_call_killed_before_its_start_runs_once_when_its_run_is_repeated() {
    let directory = Directory::new();
    let (log, file, runs) = kill_runs(&directory, "calls.db", "decision");
    assert_eq!(effects(&file), [""; 0]);
    assert!(records(&log).iter().all(|record| record.kind != RecordKind::Started));
    let reopened = EventLog::open(&log).unwrap();
    let pool = pool(&reopened, &file);
    for run in &runs {
        assert_eq!(second_attempt(&pool, run).await, None);
        assert_eq!(second_attempt(&pool, run).await, None, "replayed");
    }
    assert_eq!(effects(&file), runs);
}

#[tokio::test]
async fn a_call_killed_between_start_and_effect_is_rejected_until_it_is_resolved() {
    let directory = Directory::new();
    let (log, file, runs) = kill_runs(&directory, "calls.db", "tool");
    assert_eq!(effects(&file), [""; 0]);
    let reopened = EventLog::open(&log).unwrap();
    let pool = pool(&reopened, &file);
    for run in &runs {
        assert_eq!(second_attempt(&pool, run).await, Some(ErrorClass::Indeterminate));
        assert_eq!(second_attempt(&pool, run).await, Some(ErrorClass::Indeterminate));
        let unresolved = reopened.reader().await.unwrap().run(run).unwrap().unresolved;
        let [step] = &unresolved[..] else { panic!("{unresolved:?}") };
        reopened.resolve(&StepId::new(step), Resolution::NotRun, "ada").await.unwrap();
        assert_eq!(second_attempt(&pool, run).await, None);
    }
    assert_eq!(effects(&file), runs);
    drop((pool, reopened));
    check_chain(&log);
}

#[tokio::test]
async fn a_call_killed_between_effect_and_success_never_runs_twice() {
    let directory = Directory::new();
    let (log, file, runs) = kill_runs(&directory, "calls.db", "effect");
    assert_eq!(effects(&file), runs);
    let reopened = EventLog::open(&log).unwrap();
    let pool = pool(&reopened, &file);
    for run in &runs {
        assert_eq!(second_attempt(&pool, run).await, Some(ErrorClass::Indeterminate));
    }
    assert_eq!(effects(&file), runs);
    drop((pool, reopened));
    check_chain(&log);
    assert!(all_effects_started(&log, &file));
}

/// Whether each effect has the record of its start.
fn all_effects_started(log: &Path, file: &Path) -> bool {
    let records = records(log);
    let started: HashSet<(&str, u64)> = records
        .iter()
        .filter(|record| record.kind == RecordKind::Started)
        .map(|record| (&*record.process, record.call))
        .collect();
    let texts: HashSet<String> = records
        .iter()
        .filter(|record| started.contains(&(&*record.process, record.call)))
        .map(|record| record.arguments_text().into_owned())
        .collect();
    let json = |text: &String| serde_json::json!({ "text": text }).to_string();
    effects(file).iter().all(|effect| texts.contains(&json(effect)))
}

/// SQLite removes old records meanwhile.
#[test]
fn a_log_killed_while_it_is_written_stays_whole() {
    for name in ["calls.jsonl", "calls.db"] {
        let directory = Directory::new();
        let (log, file) = (directory.file(name), directory.file("effects"));
        for kill_number in 0..KILLS {
            let run = format!("loop-{kill_number}");
            let before = effects(&file).len();
            kill(&log, &file, "loop", &run, 3 + kill_number as usize % 7);
            check_chain(&log);
            // The newest records are never removed: the start of the last effect is there.
            let reopened = effects(&file).split_off(before);
            let json = serde_json::json!({ "text": reopened.last().unwrap() }).to_string();
            let last = records(&log).into_iter().rfind(|record| record.arguments_text() == json);
            let process = last.unwrap().process;
            assert!(
                records(&log).iter().any(|record| {
                    record.process == process && record.kind == RecordKind::Started
                })
            );
        }
    }
}
