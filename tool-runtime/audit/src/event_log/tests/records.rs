//! What the records of a call say.

use super::*;
use crate::testing::{TRACE, WebClient};
use tool_runtime_core::govern::{Approval, ApprovalRequest};
use tool_runtime_core::vocabulary::{CancellationToken, Principal, Secret};

#[tokio::test]
async fn each_stage_of_a_call_is_a_record() {
    use RecordKind::{Allowed, Approved, Asked, Denied, Failed, Proposed, Started, Succeeded};
    for (call, expected) in [
        (ToolCall::json("echo", text("a")), vec![Proposed, Allowed, Started, Succeeded]),
        (ToolCall::json("send", text("a")), vec![Proposed, Allowed, Started, Succeeded]),
        (ToolCall::json("send", text("no")), vec![Proposed, Denied, Failed]),
        (ToolCall::json("send", text("ask")), vec![Proposed, Asked, Approved, Started, Succeeded]),
        (ToolCall::new("send", "no JSON"), vec![Proposed, Failed]),
        (ToolCall::new("other", "{}"), vec![Proposed, Failed]),
    ] {
        let log = EventLog::memory();
        let approver = |_: ApprovalRequest| async { Approval::approved().by("ada") };
        let tool = |name: &str| {
            Tool::builder(name, "Give the text back.")
                .input_schema(json!({ "type": "object", "properties": { "text": {} } }))
        };
        let pool = ToolPool::builder()
            .add(tool("echo").read_only(true).handler(|| async { "a" }))
            .add(tool("send").handler(|| async { "a" }))
            .policy(Rules)
            .approver(approver)
            .recorder(log.clone())
            .build()
            .unwrap();
        pool.call(call.clone()).await;
        assert_eq!(kinds(&log).await, expected, "{call:?}");
        let records = records(&log).await;
        assert!(records.iter().all(|record| record.tool == call.name() && record.call > 0));
        let by = records.iter().find(|record| record.kind == Approved).map(|record| &record.by);
        assert!(by.is_none_or(|by| by.as_deref() == Some("ada")));
        let allowed = records.iter().find(|record| record.kind == Allowed);
        assert!(allowed.is_none_or(|record| record.rule.as_deref() == Some("rest")), "{records:?}");
        let has = |kind| expected.contains(&kind);
        let output = crate::calls::Calls::from_records(records)[0].to_string();
        for (kind, text) in [
            (Allowed, "allowed (rule rest)"),
            (Denied, "denied (rule no): not that text"),
            (Asked, "asked (rule ask): Is that right?; approved by ada"),
        ] {
            assert_eq!(output.contains(text), has(kind), "{output}");
        }
    }
}

#[tokio::test]
async fn a_call_shows_its_arguments_and_those_of_the_approver() {
    let log = EventLog::memory();
    let approver =
        |_: ApprovalRequest| async { Approval::approved().with_arguments(r#"{"text":"a dog"}"#) };
    let send = Tool::builder("send", "Send it.")
        .input_schema(json!({ "type": "object", "properties": { "text": {} } }));
    let pool = ToolPool::builder()
        .add(send.handler(|| async { "sent" }))
        .policy(Rules)
        .approver(approver)
        .recorder(log.clone())
        .build()
        .unwrap();
    pool.call(ToolCall::json("send", text("ask"))).await;
    let shown = crate::calls::Calls::from_records(records(&log).await)[0].to_string();
    // The edited arguments are decided again, by another rule.
    let expected = r#"send {"text":"ask"} -> asked (rule ask): Is that right?; approved (rule rest); the arguments are now {"text":"a dog"}; succeeded"#;
    assert!(shown.contains(expected), "{shown}");
}

#[tokio::test]
async fn records_have_what_an_auditor_asks_for() {
    let log = EventLog::memory();
    let pool = pool(&log);
    let context = pool
        .context()
        .with_principal(Principal::new("ada"))
        .with_call_id("call-1")
        .in_execution(&Arc::new(Execution::new("order-17").with_attempt(2)));
    pool.call_with(ToolCall::new("send", r#"{ "text": 1.0, "a": [] }"#), &context).await;
    let records = records(&log).await;
    let [proposed, _, started, ended] = &records[..] else { panic!("{records:?}") };
    assert_eq!(proposed.arguments_text(), r#"{"a":[],"text":1}"#);
    assert_eq!(proposed.principal.as_deref(), Some("ada"));
    assert_eq!(proposed.call_id.as_deref(), Some("call-1"));
    assert_eq!(proposed.source.as_deref(), Some("custom"));
    assert_eq!((proposed.run.as_deref(), proposed.attempt), (Some("order-17"), Some(2)));
    assert_eq!(proposed.step.as_ref().unwrap().len(), 64);
    assert_eq!((started.once, started.arguments.is_none()), (Some(true), true));
    assert!(ended.duration_us.is_some());
    assert_eq!(ended.result.as_ref().unwrap().summary, "1.0");
    assert_eq!(ended.outcome.as_ref().unwrap().get().find("ok"), Some(2));
    let numbers: Vec<u64> = records.iter().map(|record| record.seq).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert!(proposed.process.len() == 16, "{}", proposed.process);
    assert!(records.iter().all(|record| record.process == proposed.process));
    let call = &crate::calls::Calls::from_records(records.clone())[0];
    assert_eq!(
        (&call.process, &call.run, &call.step),
        (&proposed.process, &proposed.run, &proposed.step)
    );
    assert!(call.to_string().contains(" for ada -> "), "{call}");
}

#[tokio::test]
async fn secrets_are_not_recorded() {
    let log = EventLog::builder().secrets([Secret::from("hunter2-hunter2")]).memory().unwrap();
    let schema = json!({ "type": "object", "properties": {
        "token": { "type": "string", "writeOnly": true }, "text": { "type": "string" },
    }});
    let tool = Tool::builder("login", "Log in.").input_schema(schema);
    let handler = |arguments: serde_json::Map<String, serde_json::Value>| async move {
        Err::<(), _>(format!("wrong: {}", arguments["text"]))
    };
    let pool = ToolPool::builder().add(tool.handler(handler)).install(log.clone()).build().unwrap();
    let context = pool.context().in_execution(&Arc::new(Execution::new("one")));
    let call = json!({ "token": "my-token", "text": "hunter2-hunter2" });
    pool.call_with(ToolCall::json("login", call), &context).await;
    pool.call(ToolCall::new("login", r#"{"token": "my-token", "#)).await;
    // Nothing says what is secret in the arguments of a tool that the pool does not have.
    pool.call(ToolCall::json("log_in", json!({ "token": "my-token", "text": { "a": "b" } }))).await;
    pool.call(ToolCall::new("log_in", "my-token")).await;
    let text: String =
        records(&log).await.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
    assert!(text.contains(r#""arguments":{"text":"..","token":".."}"#), "{text}");
    assert_eq!(text.matches(r#""arguments":{"text":"..","token":".."}"#).count(), 2, "{text}");
    assert!(!text.contains("my-token") && !text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn long_arguments_are_cut_and_their_length_and_digest_are_recorded() {
    let secret = Secret::from("hunter2-hunter2");
    let log = EventLog::builder().max_arguments(20).secrets([secret]).memory().unwrap();
    let long = format!("{} hunter2-hunter2", "é".repeat(100));
    pool(&log).call(ToolCall::json("echo", text(&long))).await;
    let proposed = &records(&log).await[0];
    let whole = format!("{{\"text\":\"{} ..\"}}", "é".repeat(100));
    assert_eq!(proposed.arguments_bytes, Some(whole.len() as u64));
    assert_eq!(proposed.arguments_sha256.as_deref(), Some(&*crate::chain::hash(&whole)));
    assert_eq!(proposed.arguments_text(), format!("{{\"text\":\"{}", "é".repeat(5)));
}

#[tokio::test]
async fn arguments_that_are_not_cut_have_no_digest() {
    let log = EventLog::builder().max_arguments(12).memory().unwrap();
    pool(&log).call(ToolCall::new("echo", r#"{"text":"a"}"#)).await;
    let proposed = &records(&log).await[0];
    assert_eq!(proposed.arguments_text(), r#"{"text":"a"}"#);
    assert_eq!((proposed.arguments_bytes, &proposed.arguments_sha256), (None, &None));
}

#[tokio::test]
async fn a_closed_pool_has_written_its_records() {
    let folder = Folder::new();
    let path = folder.file("calls.db");
    let log = EventLog::builder().write_every(Duration::from_secs(3600)).open(&path).unwrap();
    let pool = pool(&log);
    pool.call(ToolCall::new("echo", "{}")).await;
    pool.close().await;
    // A task that holds the pool to the end of the process.
    let _handle = (pool, log);
    assert_eq!(LogReader::open(&path).unwrap().records().count(), 4);
}

#[tokio::test]
async fn a_call_that_the_end_of_the_server_cuts_says_so() {
    let (log, runs) = (EventLog::memory(), Arc::default());
    let pool = counting(&runs, &log);
    for is_stopping in [false, true] {
        let stop = CancellationToken::new();
        let context = pool.context().with_stop(stop.clone());
        let mut call = Box::pin(pool.call_with(ToolCall::new("wait", "{}"), &context));
        let before = runs.load(Order::Relaxed);
        while runs.load(Order::Relaxed) == before {
            tokio::select! { biased; _ = &mut call => {}, () = tokio::task::yield_now() => {} }
        }
        if is_stopping {
            stop.cancel();
        }
        drop(call);
        let expected = match is_stopping {
            true => "the server stopped before the call to `wait` ended",
            false => "the caller went away before the call to `wait` ended",
        };
        assert_eq!(last_reason(&log).await, expected);
    }
}

/// The reason of the last call, which its line says as well.
async fn last_reason(log: &EventLog) -> String {
    let call = crate::calls::Calls::from_records(records(log).await).pop().unwrap();
    let reason = call.reason.clone().unwrap_or_default();
    assert!(call.to_string().contains(&format!(": {reason}")), "{call}");
    reason
}

#[tokio::test]
async fn a_call_that_is_cancelled_says_by_whom() {
    for is_stopping in [false, true] {
        let log = EventLog::memory();
        let (cancel, stop) = (CancellationToken::new(), CancellationToken::new());
        cancel.cancel();
        if is_stopping {
            stop.cancel();
        }
        let pool = pool(&log);
        let context = pool.context().with_cancellation(cancel).with_stop(stop);
        pool.call_with(ToolCall::new("echo", "{}"), &context).await;
        let expected = match is_stopping {
            true => "the server stops",
            false => "the caller cancelled the call or went away",
        };
        assert_eq!(last_reason(&log).await, expected);
    }
}

#[tokio::test]
async fn each_record_of_a_call_names_its_caller_its_sessions_and_its_trace() {
    let (log, runs) = (EventLog::memory(), Arc::default());
    let pool = counting(&runs, &log);
    let session = pool.session();
    let context = session
        .enter(&pool.context())
        .with_principal(Principal::new("ada"))
        .with_peer(Arc::new(WebClient))
        .in_execution(&Arc::new(Execution::new("one")));
    let mut call = Box::pin(pool.call_with(ToolCall::new("wait", "{}"), &context));
    while runs.load(Order::Relaxed) == 0 {
        tokio::select! { biased; _ = &mut call => {}, () = tokio::task::yield_now() => {} }
    }
    drop(call);
    let step = StepId::new(records(&log).await[0].step.clone().unwrap());
    log.resolve(&step, Resolution::NotRun, "eve").await.unwrap();
    let records = records(&log).await;
    let kinds: Vec<RecordKind> = records.iter().map(|record| record.kind).collect();
    use RecordKind::{Allowed, Cancelled, Proposed, Resolved, Started};
    assert_eq!(kinds, [Proposed, Allowed, Started, Cancelled, Resolved]);
    let session = context.session().unwrap().to_string();
    for record in &records {
        let named = (record.principal.as_deref(), record.session.as_deref());
        assert_eq!(named, (Some("ada"), Some(&*session)), "{}", record.kind);
        let sent = (record.trace.as_deref(), record.mcp_session.as_deref());
        assert_eq!(sent, (Some(TRACE), Some("session-7")), "{}", record.kind);
    }
}
