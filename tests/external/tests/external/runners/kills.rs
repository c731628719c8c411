//! Calls, when runners or the server end.

use super::place::{LEASE, Place, SOON, class, runner, text};
use serde_json::json;
use std::fs;
use std::time::Duration;
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
