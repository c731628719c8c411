//! Calls, when runners or the server end.

use super::place::{Call, LEASE, Place, SOON, class, runner, text};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tool_runtime::ErrorClass;

pub(super) async fn a_call_that_may_run_once_is_indeterminate_after_a_kill_and_never_runs_again(
    place: Place,
) {
    let pipe = place.slow_file("pipe");
    let victim = place.run(4);
    let caller = place.caller(1).await;
    // More than a pipe holds: the tool stops in the middle of its effect.
    let line = "x".repeat(200_000);
    let (mut call, _) =
        caller.running("files.append", &json!({ "name": "pipe", "line": line }).to_string());
    let reader = pipe.begun().await;
    let _other = place.run(4);
    caller.until(|runners| runners == 2).await;
    victim.kill().await;
    let result = call.within(LEASE).await;
    assert_eq!(class(&result), Some(ErrorClass::Indeterminate), "{}", text(&result));
    assert!(text(&result).contains("is gone"), "{}", text(&result));
    // Another run would hold the pipe open, and begin anew.
    let written = reader.rest().await;
    assert!(written.len() < line.len(), "{} bytes", written.len());
}

pub(super) async fn a_call_that_is_safe_to_retry_is_answered_by_another_replica_after_a_kill(
    place: Place,
) {
    let victim = place.run(4);
    let caller = place.caller(1).await;
    let (mut call, heard) = caller.running("files.wait", r#"{"name":"a"}"#);
    heard.first().await;
    let _other = place.run(4);
    caller.until(|runners| runners == 2).await;
    victim.kill().await;
    fs::write(place.file("a"), "").unwrap();
    assert_eq!(text(&call.within(LEASE).await), "a is there");
}

pub(super) async fn a_runner_that_is_told_to_stop_finishes_its_calls_and_claims_no_more(
    place: Place,
) {
    let leaving = place.run(4);
    let caller = place.caller(1).await;
    let (mut call, heard) = caller.running("files.wait", r#"{"name":"a"}"#);
    heard.first().await;
    let first = caller.remote.status().await.queues[0].runners[0].runner.to_string();
    let _other = place.run(4);
    caller.until(|runners| runners == 2).await;
    leaving.terminate();
    caller.until(|runners| runners == 1).await;
    for number in 0..8 {
        let (mut next, _) = caller.running("math.add", &format!(r#"{{"a":{number},"b":0}}"#));
        assert_eq!(text(&next.within(Duration::from_secs(4)).await), number.to_string());
    }
    fs::write(place.file("a"), "").unwrap();
    let result = call.within(SOON).await;
    assert_eq!((text(&result), runner(&result)), ("a is there".to_owned(), first));
    assert!(leaving.ended().await.success());
}

pub(super) async fn a_runner_that_must_end_gives_its_calls_back(place: Place) {
    let leaving = place.run(4);
    let caller = place.caller(1).await;
    let (mut call, heard) = caller.running("files.wait", r#"{"name":"a"}"#);
    heard.first().await;
    let _other = place.run(4);
    caller.until(|runners| runners == 2).await;
    leaving.terminate();
    assert!(leaving.ended().await.success());
    fs::write(place.file("a"), "").unwrap();
    assert_eq!(text(&call.within(SOON).await), "a is there");
}

/// The queue is in memory, and vanishes with the server.
pub(super) async fn calls_go_on_when_the_server_restarts(mut place: Place) {
    let _runner = place.run(4);
    let caller = place.caller(1).await;
    let (mut call, heard) = caller.running("files.wait", r#"{"name":"a"}"#);
    heard.first().await;
    place.server.restart().await;
    let (mut next, _) = caller.running("files.append", r#"{"name":"b","line":"x"}"#);
    assert_eq!(text(&next.within(LEASE).await), "appended to b");
    fs::write(place.file("a"), "").unwrap();
    assert_eq!(text(&call.within(LEASE).await), "a is there");
    let (mut last, _) = caller.running("math.add", r#"{"a":1,"b":2}"#);
    assert_eq!(text(&last.within(SOON).await), "3");
    assert_eq!(fs::read_to_string(place.file("b")).unwrap(), "x\n");
}

pub(super) async fn no_effect_happens_twice_while_the_server_and_a_runner_are_killed(
    mut place: Place,
) {
    let (mut victim, _other) = (place.run(4), place.run(4));
    let caller = place.caller(2).await;
    let mut calls: Vec<Call> = Vec::new();
    for round in 1..=3 {
        for _ in 0..40 {
            let line = format!("call {}", calls.len());
            let arguments = json!({ "name": "a", "line": line }).to_string();
            calls.push(caller.running("files.append", &arguments).0);
        }
        until_lines(&place.file("a"), 30 * round).await;
        victim.kill().await;
        place.server.restart().await;
        victim = place.run(4);
    }
    let mut outcomes = Vec::new();
    for call in &mut calls {
        outcomes.push(call.within(LEASE).await);
    }
    let lines = lines(&place.file("a"));
    for (number, outcome) in outcomes.iter().enumerate() {
        let effects = lines.iter().filter(|line| **line == format!("call {number}")).count();
        match class(outcome) {
            None => assert_eq!(effects, 1, "call {number}"),
            Some(ErrorClass::Indeterminate) => assert!(effects <= 1, "call {number}: {effects}"),
            Some(_) => panic!("call {number}: {}", text(outcome)),
        }
    }
}

/// Waits until a file has as many lines.
async fn until_lines(file: &Path, least: usize) {
    let enough = async {
        while lines(file).len() < least {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LEASE, enough).await.expect("calls are answered in time");
}

fn lines(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}
