//! Interrupting calls of toolsets.

use super::super::support::{in_time, text};
use super::{Behaviour, SessionWorkWithTimeoutAction, drain, in_background, session};
use tool_runtime::CancellationToken;
use tool_runtime::prelude::*;

#[tokio::test]
async fn a_cancelled_call_is_interrupted() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone()).with_call_id("c1");
    let call = pool.call_with(ToolCall::new("session.persist", ""), &context);
    let cancel = async {
        assert_eq!(in_time(events.recv()).await, Some("work"));
        token.cancel();
    };
    let (result, ()) = tokio::join!(call, cancel);
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Cancelled);
    assert_eq!(drain(&mut events), ["persist dropped", "interrupt c1"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_times_out_is_interrupted() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let result = pool.call(ToolCall::new("session.work_with_timeout", "").with_call_id("c1")).await;
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Timeout);
    assert_eq!(drain(&mut events), ["work", "interrupt c1"]);
    let error = SessionWorkWithTimeoutAction {}.call(&pool).await.expect_err("too slow");
    assert_eq!(error.class(), ErrorClass::Timeout);
    assert_eq!(drain(&mut events), ["work", "interrupt"]);
}

#[tokio::test]
async fn a_call_whose_future_is_dropped_is_interrupted() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let call = in_background(&pool, ToolCall::new("session.persist", "").with_call_id("c1"));
    assert_eq!(in_time(events.recv()).await, Some("work"));
    call.abort();
    assert!(call.await.is_err());
    assert_eq!(drain(&mut events), ["persist dropped", "interrupt c1"]);
}

#[tokio::test]
async fn a_finished_call_is_not_interrupted() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    assert_eq!(text(&pool, "session.ping", "").await, "pong");
    assert_eq!(drain(&mut events), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_interrupt_loses_no_result() {
    let (pool, mut events) = session(Behaviour::InterruptPanics).await;
    let result = pool.call(ToolCall::new("session.work_with_timeout", "")).await;
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Timeout);
    // If the method panics itself, it is interrupted while the stack unwinds.
    let result = pool.call(ToolCall::new("session.boom", "")).await;
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Internal);
    assert_eq!(text(&pool, "session.ping", "").await, "pong");
    drain(&mut events);
    let call = in_background(&pool, ToolCall::new("session.work", ""));
    assert_eq!(in_time(events.recv()).await, Some("work"));
    pool.close().await;
    assert_eq!(drain(&mut events), ["interrupt", "closed"]);
    assert!(!call.await.expect("no panic").is_error());
}
