//! Closing toolsets whose tools were removed from the pool.

use super::super::support::{in_time, text};
use super::{Behaviour, Probe, ProbeParams, Session, build, drain, in_background, rest, session};
use std::sync::Arc;
use tokio::runtime::Builder;
use tokio::sync::Notify;
use tool_runtime::CancellationToken;
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;

#[tokio::test]
async fn a_toolset_whose_last_tool_is_removed_closes_when_its_calls_have_ended() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone());
    let other = pool.clone();
    let call = tokio::spawn(async move {
        other.call_with(ToolCall::new("session.persist", ""), &context).await
    });
    assert_eq!(in_time(events.recv()).await, Some("work"));
    let remove = |pattern: &str| {
        let pattern = pattern.parse().expect("a pattern");
        pool.remove_tools(&Source::Custom, &pattern).expect("its own")
    };
    remove("session.p*");
    remove("*");
    assert!(pool.tools().is_empty());
    tokio::task::yield_now().await;
    assert_eq!(drain(&mut events), [""; 0]);
    token.cancel();
    assert!(call.await.expect("no panic").is_error());
    assert_eq!(rest(events).await, ["persist dropped", "interrupt", "closed"]);
}

/// References that could keep a removed tool alive: a long call of another tool, restrictions
/// in force and lifted, in unused scopes.
#[tokio::test]
async fn only_its_own_calls_keep_a_removed_toolset_open() {
    let (probe, events) = Probe::new(Behaviour::Fine);
    let (started, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (send, wait) = (Arc::clone(&started), Arc::clone(&go));
    let slow = Tool::builder("slow", "Wait.").handler(move || {
        let (send, wait) = (Arc::clone(&send), Arc::clone(&wait));
        async move {
            send.notify_one();
            wait.notified().await;
        }
    });
    let params = ProbeParams { probe: Some(probe) };
    let builder = ToolPool::builder().toolset::<Session>(params);
    let pool = builder.add(slow).build().await.expect("a pool");
    let (past, narrowed) = (pool.scope(), pool.scope().scope());
    drop(past.restrict(["session.*"]).expect("patterns"));
    let _guard = narrowed.restrict(["*"]).expect("patterns");
    assert_eq!((past.tools().len(), narrowed.tools().len()), (6, 6));
    let call = in_background(&pool, ToolCall::new("slow", ""));
    in_time(started.notified()).await;
    pool.remove_tools(&Source::Custom, &"session.*".parse().expect("a pattern")).expect("its own");
    assert_eq!(rest(events).await, ["closed"]);
    go.notify_one();
    assert!(!call.await.expect("no panic").is_error());
}

#[test]
fn close_may_use_the_pool_that_removed_the_tools() {
    let (probe, mut events) = Probe::new(Behaviour::Fine);
    let pool_slot = Arc::clone(&probe.pool);
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let pool = runtime.block_on(build(probe)).expect("a pool");
    drop(runtime);
    *pool_slot.lock().expect("no panic") = Some(pool.clone());
    // Without a runtime, dropping waits until the value is closed.
    pool.remove_tools(&Source::Custom, &"*".parse().expect("a pattern")).expect("its own");
    assert_eq!(drain(&mut events), ["closed"]);
}

#[test]
fn close_of_rejected_tools_may_use_the_pool() {
    let (probe, mut events) = Probe::new(Behaviour::Fine);
    let pool_slot = Arc::clone(&probe.pool);
    let ping = Tool::builder("session.ping", "Answer.").handler(|| async { "pong" });
    let pool = ToolPool::builder().add(ping).build().expect("a pool");
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let tools = runtime.block_on(build(probe)).expect("a pool").tools();
    // The pool that created the tools is dropped, but its tools still exist.
    *pool_slot.lock().expect("no panic") = Some(pool.clone());
    drop(runtime);
    assert!(pool.add_tools(&Source::owner("late"), tools).is_err());
    assert_eq!(drain(&mut events), ["closed"]);
    assert_eq!(pool.tools().len(), 1);
}

#[tokio::test]
async fn tools_outlive_their_pool() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let tools = pool.tools();
    drop(pool);
    let pool = ToolPool::builder().add_from(&Source::Custom, tools).build().expect("a pool");
    assert_eq!(text(&pool, "session.ping", "").await, "pong");
    assert_eq!(drain(&mut events), [""; 0]);
    drop(pool);
    assert_eq!(rest(events).await, ["closed"]);
}
