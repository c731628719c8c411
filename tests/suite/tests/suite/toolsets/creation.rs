//! Toolsets that fail to start, or are unusable.

use super::super::support::error_text;
use super::{Behaviour, Probe, ProbeParams, Session, build, rest, session};
use tool_runtime::pool::{PoolProblem, ToolStatus};
use tool_runtime::prelude::*;

#[tokio::test]
async fn a_failed_create_fails_the_build_with_name_and_reason() {
    for (behaviour, reason) in [
        (Behaviour::CreateFails, "no such shell"),
        (Behaviour::CreatePanics, "`create` panicked: create"),
    ] {
        let error = build(Probe::new(behaviour).0).await.expect_err("not made");
        assert_eq!(error.to_string().lines().last(), Some(&*format!("- `session`: {reason}")));
        assert!(matches!(error.problems(), [PoolProblem::CreationFailed { .. }]), "{error}");
    }
}

#[tokio::test]
async fn a_failed_build_closes_the_toolsets() {
    let (probe, events) = Probe::new(Behaviour::Fine);
    let params = ProbeParams { probe: Some(probe) };
    let builder = ToolPool::builder().toolset::<Session>(params);
    assert!(builder.allow(["["]).build().await.is_err());
    assert_eq!(rest(events).await, ["closed"]);
}

#[tokio::test]
async fn an_unusable_toolset_is_hidden_with_the_reason() {
    for (behaviour, reason) in [
        (Behaviour::Unusable, "`tmux` is not installed"),
        (Behaviour::CheckPanics, "its `is_usable` panicked"),
    ] {
        let (pool, _) = session(behaviour).await;
        assert!(pool.tools().is_empty());
        let report = pool.report();
        assert_eq!(report.tools.len(), 5);
        for tool in &report.tools {
            assert_eq!(tool.status, ToolStatus::Unusable { reason: reason.to_owned() });
        }
        assert!(report.to_string().contains(&format!("unusable: {reason}")), "{report}");
        let answer = error_text(&pool, "session.ping", "").await;
        assert_eq!(answer, format!("`session.ping` cannot be used here: {reason}"));
    }
}
