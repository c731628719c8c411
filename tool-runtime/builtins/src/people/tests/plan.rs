use super::{PeopleParams, builder, error, text};
use serde_json::json;
use std::sync::{Arc, Mutex};
use tool_runtime::ToolPoolBuilder;
use tool_runtime::approvals::AskCaller;
use tool_runtime::govern::{Approval, ApprovalRequest};
use tool_runtime::policy::{PermissionMode, Permissions};
use tool_runtime::prelude::*;
use tool_runtime::testing::{Reply, TestClient};
use tool_runtime::transform::ToolTransform;

fn planning() -> ToolPoolBuilder {
    let permissions = Permissions::new(PermissionMode::Bypass);
    let write = Tool::builder("Write", "Write a file.").handler(|| async { "written" });
    let read = Tool::builder("Read", "Read a file.").read_only(true).handler(|| async { "read" });
    builder(PeopleParams::new().permissions(permissions)).add(write).add(read)
}

#[tokio::test]
async fn a_session_only_reads_until_a_person_has_approved_its_plan() {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let answers = Mutex::new(vec![Approval::approved(), Approval::rejected("too risky")]);
    let visuals = Arc::clone(&asked);
    let approver = move |request: ApprovalRequest| {
        visuals.lock().unwrap().push(request.visual().to_owned());
        let answer = answers.lock().unwrap().pop().unwrap();
        async move { answer }
    };
    let pool = planning().approver(approver).build().unwrap();
    let (session, other) = (pool.session(), pool.session());
    let pool = session.pool();
    let plan = json!({ "plan": "1. Write it." });
    assert!(error(pool, "ExitPlanMode", plan.clone()).await.contains("did not begin"));
    assert!(asked.lock().unwrap().is_empty(), "nothing was planned");

    assert!(text(pool, "EnterPlanMode", json!({})).await.starts_with("plan mode began:"));
    assert!(text(pool, "EnterPlanMode", json!({})).await.contains("already"));
    assert!(error(pool, "Write", json!({})).await.contains("only tools that read may run"));
    assert_eq!(text(pool, "Read", json!({})).await, "read");
    assert_eq!(text(other.pool(), "Write", json!({})).await, "written", "another session");

    assert!(error(pool, "ExitPlanMode", plan.clone()).await.contains("too risky"));
    assert!(error(pool, "Write", json!({})).await.contains("only tools that read may run"));
    assert!(text(pool, "ExitPlanMode", plan).await.contains("approved"));
    assert_eq!(text(pool, "Write", json!({})).await, "written");
    assert_eq!(*asked.lock().unwrap(), ["1. Write it.", "1. Write it."]);
}

#[tokio::test]
async fn a_model_sees_how_a_person_has_changed_its_plan() {
    let approver = |_: ApprovalRequest| async {
        Approval::approved().with_arguments(r#"{"plan": "1. Test it first."}"#)
    };
    let pool = planning().approver(approver).build().unwrap();
    let session = pool.session();
    text(session.pool(), "EnterPlanMode", json!({})).await;
    let left = text(session.pool(), "ExitPlanMode", json!({ "plan": "1. Write it." })).await;
    assert!(left.contains("approved") && left.ends_with(":\n1. Test it first."), "{left}");
}

#[tokio::test]
async fn only_a_person_approves_a_plan() {
    let plan = json!({ "plan": "1. Write it." });
    let pool = planning().build().unwrap();
    let session = pool.session();
    text(session.pool(), "EnterPlanMode", json!({})).await;
    error(session.pool(), "ExitPlanMode", plan.clone()).await;
    assert!(error(session.pool(), "Write", json!({})).await.contains("only tools that read"));
    let model = json!({ "plan": "1. Write it.", "approved": true });
    assert!(error(session.pool(), "ExitPlanMode", model).await.contains("`approved`"));

    // Under another name the hook that asks does not run.
    let renamed = ToolTransform::new().name("leave");
    let yes = |_: ApprovalRequest| async { Approval::approved() };
    let pool = planning().approver(yes).transform("ExitPlanMode", renamed).build().unwrap();
    let session = pool.session();
    text(session.pool(), "EnterPlanMode", json!({})).await;
    let left = error(session.pool(), "leave", plan).await;
    assert!(left.contains("no person has approved the plan"), "{left}");
    error(session.pool(), "Write", json!({})).await;
}

#[tokio::test]
async fn the_user_of_a_client_approves_a_plan() {
    let pool = planning().approver(AskCaller::new()).build().unwrap();
    let client = TestClient::builder(&pool)
        .protocol_version(tool_runtime::testing::ProtocolVersion::V2025_11_25)
        .answer(|_| async { Reply::accept(json!({ "decision": "approve" })) })
        .connect()
        .await;
    client.call("EnterPlanMode", json!({})).await.unwrap();
    assert!(client.call("Write", json!({})).await.unwrap().is_error());
    let left = client.call("ExitPlanMode", json!({ "plan": "1. Write it." })).await.unwrap();
    assert!(!left.is_error(), "{}", left.to_text());
    assert!(client.questions()[0].message().contains("1. Write it."));
    assert_eq!(client.call("Write", json!({})).await.unwrap().to_text(), "written");
    client.close().await;
}

#[tokio::test]
async fn plan_mode_needs_permissions_and_a_session() {
    let pool = builder(PeopleParams::new()).build().unwrap();
    assert!(pool.get("EnterPlanMode").is_none());
    let report = pool.report().to_string();
    assert!(
        report.contains("no permissions; give them by `PeopleParams::permissions`"),
        "{report}"
    );
    let pool = planning().build().unwrap();
    let none = error(&pool, "EnterPlanMode", json!({})).await;
    assert!(none.contains("belongs to a session"), "{none}");
}
