//! Callers and runners that hear messages of other versions, or none at all: they go on.

use super::fleet::*;
use crate::catalogue::Catalogue;
use crate::message::{self, About, Control, Note, Order, Presence, Roll};
use crate::payload::{Json, Payload};
use crate::record::{Record, Revision};
use crate::{Board as _, LocalBoard, Queue, RunnerId, StepKey, Topic};
use bytes::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::sleep;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::{StepId, ToolCall, ToolResult};
use tool_runtime_core::vocabulary::error::ErrorClass;

fn web() -> Queue {
    "web".parse().unwrap()
}

/// What a message becomes in other programs: of a newer version, with unknown members, of an unknown kind; and noise.
fn variations(message: &Bytes, kind: &str) -> Vec<Bytes> {
    let known: Value = serde_json::from_slice(message).unwrap();
    let (mut longer, mut other) = (known.clone(), known);
    longer["member_of_a_newer_program"] = json!([1]);
    other[kind] = json!("dance");
    let noise = ["", "{}", "[[[", "null", "\u{0}"].map(Bytes::from);
    [newer(message), longer.to_string().into(), other.to_string().into()]
        .into_iter()
        .chain(noise)
        .collect()
}

fn newer(message: &Bytes) -> Bytes {
    let mut newer: Value = serde_json::from_slice(message).unwrap();
    newer["v"] = json!(2);
    newer.to_string().into()
}

async fn say(board: &LocalBoard, topic: &Topic, message: &Bytes, kind: &str) {
    for variation in variations(message, kind) {
        board.send(topic, variation).await.unwrap();
    }
}

/// Calls a tool of a step that is known here.
async fn call_step(pool: &ToolPool, tool: &str, step: &StepKey) -> ToolResult {
    let context = pool.context().as_step(step.step.clone());
    pool.call_with(ToolCall::new(tool, "{}"), &context).await
}

fn step() -> StepKey {
    StepKey::new(web(), "pool1".parse().unwrap(), StepId::new("0123456789abcdef"))
}

#[tokio::test(start_paused = true)]
async fn a_call_goes_on_when_its_ends_hear_messages_of_other_versions() {
    let (fleet, runs) = (Fleet::new(), Arc::default());
    let _runner = fleet.run([slow("read", true, Duration::from_secs(30), &runs)]);
    let (pool, remote) = fleet.connect().await;
    let (board, step) = (fleet.board("pool1"), step());
    let runner = remote.status().await.queues[0].runners[0].runner.clone();
    let note = message::write(&Note::new(&runner, 1, About::Alive));
    let order = message::write(&Control::new(&step, Order::Look));
    let roll = message::write(&Roll::new(None));
    let blob = board.put(Bytes::from_static(b"{}")).await.unwrap();
    let presence = message::write(&Presence::new(runner, web(), 1, blob));
    let speak = async {
        sleep(Duration::from_secs(1)).await;
        say(&board, &Topic::Step(step.clone()), &note, "note").await;
        say(&board, &Topic::Control(web()), &order, "do").await;
        say(&board, &Topic::Roll, &roll, "catalogue").await;
        board.send(&Topic::Presence(web()), newer(&presence)).await.unwrap();
    };
    let (result, ()) = tokio::join!(call_step(&pool, "read", &step), speak);
    assert_eq!(text(&result), "done");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    let problems = remote.status().await.problems;
    let is_told = |it: &String| {
        it.contains(
            "a presence cannot be read: it has version 2, and this program reads up to version 1",
        )
    };
    assert!(problems.iter().any(is_told), "{problems:?}");
}

/// A runner of a newer version, by hand.
#[tokio::test(start_paused = true)]
async fn an_error_of_an_unknown_class_is_internal_and_keeps_its_text() {
    let fleet = Fleet::new();
    let board = fleet.board("runner");
    let tools = board.put(message::write(&Catalogue::from_pool(&pool([ping()])))).await.unwrap();
    let runner = RunnerId::from("web.h1-1");
    let presence = message::write(&Presence::new(runner.clone(), web(), 1, tools));
    let newer_runner = async {
        let mut roll = board.listen(&Topic::Roll).await.unwrap();
        roll.next().await.unwrap();
        board.send(&Topic::Presence(web()), presence).await.unwrap();
        let claim = board.claim(&web(), 1).await.unwrap().remove(0);
        let key = StepKey::new(web(), claim.caller().clone(), claim.job().step().clone());
        let outcome = Json::read(r#"{"error":{"class":"haunted","message":"a ghost","level":7}}"#);
        let done = Record::by_runner(1, &runner, Payload::Inline(outcome.unwrap()), Some(1));
        board.swap(&key, &done, Revision::NONE, Duration::from_secs(60)).await.unwrap();
    };
    let caller = async {
        let (pool, _remote) = fleet.connect().await;
        call(&pool, "ping").await
    };
    let (result, ()) = tokio::join!(caller, newer_runner);
    assert_eq!(class(&result), Some(ErrorClass::Internal));
    assert_eq!(text(&result), "a ghost");
}
