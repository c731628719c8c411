//! Records of calls from their proposal to their end, in every place of a log.

mod absent;
#[cfg(unix)]
mod files;
mod open_calls;

use super::*;
use crate::event::now_us;
use crate::testing::{Folder, fill, kinds, pool, problems, records};
use crate::{LogProblem, OnFailure};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering as Order};
use std::time::Duration;
use tool_runtime_core::{
    Approval, ApprovalRequest, CallView, Decision, ErrorClass, Execution, PolicyEngine, Secret,
    Tool, ToolCall, ToolPool, ToolResult,
};

struct Rules;

impl PolicyEngine for Rules {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        match call.argument("text").and_then(|text| text.as_str()) {
            Some("no") => Decision::deny("not that text").with_rule("no"),
            Some("ask") => Decision::ask("Is that right?").with_rule("ask"),
            _ => Decision::allow().with_rule("rest"),
        }
    }
}

fn text(text: &str) -> serde_json::Value {
    json!({ "text": text })
}

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
        let shown = crate::calls::Calls::of(records)[0].to_string();
        for (kind, text) in [
            (Allowed, "allowed (rule rest)"),
            (Denied, "denied (rule no): not that text"),
            (Asked, "asked (rule ask): Is that right?; approved by ada"),
        ] {
            assert_eq!(shown.contains(text), has(kind), "{shown}");
        }
    }
}

#[tokio::test]
async fn records_have_what_an_auditor_asks_for() {
    let log = EventLog::memory();
    let pool = pool(&log);
    let context = pool
        .context()
        .with_principal(tool_runtime_core::Principal::new("ada"))
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
    let call = &crate::calls::Calls::of(records.clone())[0];
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
async fn each_record_of_a_call_names_its_principal_and_session() {
    let (log, runs) = (EventLog::memory(), Arc::default());
    let pool = counting(&runs, &log);
    let session = pool.session();
    let context = session
        .enter(&pool.context())
        .with_principal(tool_runtime_core::Principal::new("ada"))
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
    }
}

#[tokio::test]
async fn logs_in_files_continue_when_they_are_opened_again() {
    let folder = Folder::new();
    for name in ["a.db", "a.jsonl"] {
        let path = folder.file(name);
        for times in 1..=3 {
            let log = EventLog::open(&path).unwrap();
            fill(&log, 2).await;
            assert_eq!(records(&log).await.len(), 8 * times);
        }
        assert_eq!(problems(&path), [""; 0]);
    }
}

#[tokio::test]
async fn nothing_is_lost_when_the_last_handle_is_dropped() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    let log = EventLog::builder().write_every(Duration::from_secs(3600)).open(&path).unwrap();
    let pool = pool(&log);
    drop(log);
    for _ in 0..100 {
        pool.call(ToolCall::new("echo", "{}")).await;
    }
    drop(pool);
    assert_eq!(LogReader::open(&path).unwrap().records().count(), 400);
}

#[tokio::test]
async fn several_logs_share_a_sqlite_file_and_a_jsonl_file_has_one() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    let (one, other) = (EventLog::open(&path).unwrap(), EventLog::open(&path).unwrap());
    tokio::join!(fill(&one, 50), fill(&other, 50));
    fill(&one, 1).await;
    assert_eq!(LogReader::open(&path).unwrap().records().count(), 404);
    assert_eq!(problems(&path), [""; 0]);
    let early = EventLog::open(folder.file("a.jsonl")).unwrap();
    let first = EventLog::open(folder.file("a.jsonl")).unwrap();
    let _pool = pool(&first);
    let error = EventLog::open(folder.file("a.jsonl")).unwrap_err();
    assert_eq!(error.kind(), LogErrorKind::Busy);
    let error = ToolPool::builder().allow_empty().install(early).build().unwrap_err().to_string();
    assert!(error.contains("a.jsonl` is written by another process"), "{error}");
}

fn counting(runs: &Arc<AtomicU32>, log: &EventLog) -> ToolPool {
    let count = |runs: &Arc<AtomicU32>| {
        let runs = Arc::clone(runs);
        move || std::future::ready(runs.fetch_add(1, Order::Relaxed) + 1)
    };
    let (once, fails) = (count(runs), count(runs));
    ToolPool::builder()
        .add(Tool::builder("once", "Count.").handler(once))
        .add(Tool::builder("fails", "Count and fail.").handler(move || {
            let run = fails();
            async move { Err::<(), _>(format!("run {} failed", run.await)) }
        }))
        .add(Tool::builder("wait", "Wait.").handler({
            let runs = count(runs);
            move || {
                drop(runs());
                std::future::pending::<()>()
            }
        }))
        .add(Tool::builder("wait_safely", "Wait.").read_only(true).handler({
            let runs = count(runs);
            move || {
                let run = runs();
                async move {
                    if run.await == 1 {
                        std::future::pending::<()>().await;
                    }
                }
            }
        }))
        .install(log.clone())
        .build()
        .unwrap()
}

async fn attempt(pool: &ToolPool, tool: &str) -> ToolResult {
    let context = pool.context().in_execution(&Arc::new(Execution::new("one").with_attempt(2)));
    pool.call_with(ToolCall::new(tool, "{}"), &context).await
}

/// Starts a call that does not end, and forgets it, as a crash does.
async fn broken_off(pool: &ToolPool, tool: &str, log: &EventLog) {
    let context = pool.context().in_execution(&Arc::new(Execution::new("one")));
    let mut call = Box::pin(pool.call_with(ToolCall::new(tool, "{}"), &context));
    loop {
        tokio::select! {
            biased;
            _ = &mut call => panic!("it ended"),
            found = kinds(log) => if found.contains(&RecordKind::Started) { break },
        }
    }
    std::mem::forget((call, context.clone()));
}

#[tokio::test]
async fn results_and_errors_of_a_repeated_run_are_given_back() {
    let folder = Folder::new();
    for name in ["a.db", "a.jsonl"] {
        let (path, runs) = (folder.file(name), Arc::default());
        let mut texts = Vec::new();
        for _ in 0..3 {
            let log = EventLog::open(&path).unwrap();
            let pool = counting(&runs, &log);
            for tool in ["once", "fails"] {
                texts.push(attempt(&pool, tool).await.observation().to_text());
            }
        }
        assert_eq!(texts, ["1", "run 2 failed", "1", "run 2 failed", "1", "run 2 failed"]);
    }
}

#[tokio::test]
async fn a_step_that_broke_off_is_refused_until_it_is_resolved() {
    let (log, runs) = (EventLog::memory(), Arc::default());
    let first = counting(&runs, &log);
    broken_off(&first, "wait", &log).await;
    let pool = counting(&runs, &log);
    let class = |result: &ToolResult| result.error().map(|error| error.class());
    for _ in 0..2 {
        let refused = attempt(&pool, "wait").await;
        assert_eq!(class(&refused), Some(ErrorClass::Indeterminate));
    }
    let all = records(&log).await;
    let class = |record: &LogRecord| (record.kind, record.class.clone());
    let refused = (RecordKind::Indeterminate, Some("indeterminate".to_owned()));
    assert_eq!(all.iter().filter(|record| class(record) == refused).count(), 2, "{all:?}");
    let step = StepId::new(all[0].step.clone().unwrap());
    log.resolve(&step, Resolution::Ran(Observation::text("sent")), "ada").await.unwrap();
    assert_eq!(attempt(&pool, "wait").await.observation().to_text(), "sent");
    let again = log.resolve(&step, Resolution::NotRun, "ada").await.unwrap_err();
    assert_eq!(again.kind(), LogErrorKind::NotFound);
}

#[tokio::test]
async fn a_step_whose_process_ended_is_noted_once() {
    let (folder, runs) = (Folder::new(), Arc::default());
    let path = folder.file("a.db");
    let first = EventLog::open(&path).unwrap();
    broken_off(&counting(&runs, &first), "wait", &first).await;
    let log = EventLog::open(&path).unwrap();
    let pool = counting(&runs, &log);
    for _ in 0..2 {
        attempt(&pool, "wait").await;
    }
    let all = records(&log).await;
    let says = |record: &&LogRecord| {
        record.message.as_deref() == Some("the call started, and its end is not recorded")
    };
    let noted: Vec<&LogRecord> = all.iter().filter(says).collect();
    let [noted] = noted[..] else { panic!("{all:?}") };
    assert_eq!((noted.kind, &*noted.tool), (RecordKind::Indeterminate, "wait"));
    assert_eq!((noted.call, &noted.step), (all[0].call, &all[0].step));
    assert_eq!(noted.process, all.last().unwrap().process);
    assert!(noted.process != all[0].process && noted.time_us >= all[0].time_us);
}

#[tokio::test]
async fn a_step_that_is_safe_to_repeat_runs_again() {
    let (log, runs) = (EventLog::memory(), Arc::default());
    broken_off(&counting(&runs, &log), "wait_safely", &log).await;
    let result = attempt(&counting(&runs, &log), "wait_safely").await;
    assert!(result.error().is_none(), "{result:?}");
    assert_eq!(runs.load(Order::Relaxed), 2);
}

#[tokio::test]
async fn a_step_that_was_cancelled_is_indeterminate_and_may_be_released() {
    let (log, runs) = (EventLog::memory(), Arc::<AtomicU32>::default());
    let pool = counting(&runs, &log);
    let context = pool.context().in_execution(&Arc::new(Execution::new("one")));
    let mut call = Box::pin(pool.call_with(ToolCall::new("wait", "{}"), &context));
    // A call that is dropped before the tool runs has had no effect.
    while runs.load(Order::Relaxed) == 0 {
        tokio::select! { biased; _ = &mut call => {}, () = tokio::task::yield_now() => {} }
    }
    drop(call);
    let refused = attempt(&pool, "wait").await;
    assert_eq!(refused.error().map(|error| error.class()), Some(ErrorClass::Indeterminate));
    let step = StepId::new(records(&log).await[0].step.clone().unwrap());
    log.resolve(&step, Resolution::NotRun, "ada").await.unwrap();
    let mut again = Box::pin(attempt(&pool, "wait"));
    while runs.load(Order::Relaxed) < 2 {
        tokio::select! { biased; _ = &mut again => {}, () = tokio::task::yield_now() => {} }
    }
}

/// Fails while it is told to.
struct Faulty(crate::memory::MemoryLog, Arc<std::sync::atomic::AtomicBool>);

impl crate::LogBackend for Faulty {
    fn append(
        &mut self,
        chain: &mut dyn FnMut(crate::Head) -> Vec<crate::LogLine>,
    ) -> Result<(), LogError> {
        match self.1.load(Order::Relaxed) {
            true => Err(LogError::new(LogErrorKind::Full, "the disk is full")),
            false => self.0.append(chain),
        }
    }

    fn step(&mut self, step: &str) -> Result<Vec<crate::LogLine>, LogError> {
        self.0.step(step)
    }

    fn reader(&self) -> Result<Box<dyn crate::LogRead>, LogError> {
        self.0.reader()
    }
}

#[tokio::test]
async fn while_the_log_fails_calls_are_rejected_or_go_on_as_configured() {
    for on_failure in [OnFailure::Reject, OnFailure::Continue] {
        let fails = Arc::new(true.into());
        let backend = Faulty(crate::memory::MemoryLog::default(), Arc::clone(&fails));
        let log = EventLog::builder().on_failure(on_failure).backend(backend).unwrap();
        let pool = pool(&log);
        // The first safe call may run before the failure is known.
        log.flush().await.unwrap_or_default();
        pool.call(ToolCall::new("send", "{}")).await;
        for tool in ["send", "echo"] {
            let result = pool.call(ToolCall::new(tool, "{}")).await;
            let class = result.error().map(|error| error.class());
            let expected = (on_failure == OnFailure::Reject).then_some(ErrorClass::Transient);
            assert_eq!(class, expected, "{tool}");
        }
        assert!(log.status().error.is_some_and(|error| error.kind() == LogErrorKind::Full));
        fails.store(false, Order::Relaxed);
        log.flush().await.unwrap();
        assert!(log.status().error.is_none());
        assert!(pool.call(ToolCall::new("send", "{}")).await.error().is_none());
        // Also what happened meanwhile is written.
        let ended = kinds(&log).await.into_iter().filter(|kind| kind.is_end()).count();
        assert_eq!(ended, 4);
    }
}

#[tokio::test]
async fn a_call_that_waits_for_a_full_queue_is_rejected_or_goes_on_as_configured() {
    let arguments = json!({ "text": "x".repeat(crate::writer::MAX_QUEUED_BYTES) }).to_string();
    for on_failure in [OnFailure::Reject, OnFailure::Continue] {
        for tool in ["send", "echo"] {
            let backend = Faulty(crate::memory::MemoryLog::default(), Arc::new(true.into()));
            let log = EventLog::builder().on_failure(on_failure).backend(backend).unwrap();
            let result = pool(&log).call(ToolCall::new(tool, &*arguments)).await;
            let class = result.error().map(|error| error.class());
            let is_rejected = class == Some(ErrorClass::Transient);
            assert_eq!(is_rejected, on_failure == OnFailure::Reject, "{tool}: {class:?}");
        }
    }
}

/// The rest of a rotation that ended after the old file was renamed.
#[tokio::test]
async fn a_rotation_that_was_not_completed_is_completed() {
    let folder = Folder::new();
    let path = folder.file("calls.jsonl");
    let log = EventLog::builder().rotate_at(1).write_every(Duration::from_secs(3600));
    let log = log.open(&path).unwrap();
    fill(&log, 1).await;
    std::fs::rename(&path, folder.file("calls.00000000000000000001.jsonl")).unwrap();
    fill(&log, 1).await;
    assert_eq!(records(&log).await.len(), 8);
    drop(log);
    assert_eq!(problems(&path), Vec::<String>::new());
}

#[tokio::test]
async fn records_that_are_given_up_are_counted_once() {
    let fails = Arc::new(true.into());
    let backend = Faulty(crate::memory::MemoryLog::default(), Arc::clone(&fails));
    let log = EventLog::builder().on_failure(OnFailure::Continue).backend(backend).unwrap();
    let pool = pool(&log);
    for _ in 0..10 {
        pool.call(ToolCall::new("echo", "{}")).await;
    }
    log.flush().await.unwrap_err();
    assert_eq!((log.status().unwritten, log.status().lost), (32, 8));
    fails.store(false, Order::Relaxed);
    for _ in 0..2 {
        log.flush().await.unwrap();
        pool.call(ToolCall::new("echo", "{}")).await;
    }
    let lost = records(&log).await.into_iter().filter(|record| record.lost.is_some());
    let lost: Vec<_> = lost.map(|record| (record.kind, record.lost)).collect();
    assert_eq!(lost, [(RecordKind::Lost, Some(8))]);
    // All failures are counted.
    fails.store(true, Order::Relaxed);
    for _ in 0..10 {
        pool.call(ToolCall::new("echo", "{}")).await;
    }
    log.flush().await.unwrap_err();
    assert_eq!(log.status().lost, 16);
}

#[tokio::test]
async fn a_backend_that_panics_ends_the_log_and_calls_are_rejected() {
    struct Panics;
    impl crate::LogBackend for Panics {
        fn append(
            &mut self,
            _: &mut dyn FnMut(crate::Head) -> Vec<crate::LogLine>,
        ) -> Result<(), LogError> {
            panic!("as asked")
        }
        fn step(&mut self, _: &str) -> Result<Vec<crate::LogLine>, LogError> {
            Ok(Vec::new())
        }
        fn reader(&self) -> Result<Box<dyn crate::LogRead>, LogError> {
            Err(LogError::new(LogErrorKind::Other, "none"))
        }
    }
    let log = EventLog::builder().backend(Panics).unwrap();
    let pool = pool(&log);
    for tool in ["send", "send", "echo"] {
        assert!(pool.call(ToolCall::new(tool, "{}")).await.error().is_some());
    }
    assert!(log.flush().await.is_err());
}

#[tokio::test]
async fn removed_records_are_recorded_and_the_chain_stays_whole() {
    let folder = Folder::new();
    for name in ["a.db", "a.jsonl"] {
        let path = folder.file(name);
        let log = EventLog::builder().rotate_at(2000).open(&path).unwrap();
        for _ in 0..10 {
            fill(&log, 2).await;
        }
        log.prune(50).await.unwrap();
        let found = log.reader().await.unwrap().verify(None).unwrap();
        assert_eq!(found.problems, [], "{name}");
        assert!(found.first > 1 && found.first <= 51, "{name}: {}", found.first);
        assert_eq!((found.head.seq, found.is_tail_checked), (81, false));
        drop(log);
        let log = EventLog::open(&path).unwrap();
        fill(&log, 1).await;
        assert_eq!(problems(&path), [""; 0]);
    }
}

/// Transactions of any size would not stay in the caches of the processor.
#[tokio::test]
async fn many_events_are_several_transactions() {
    let (sender, heads) = std::sync::mpsc::channel();
    let builder = EventLog::builder().write_every(Duration::from_secs(3600));
    let log = builder.on_head(move |head| sender.send(head.seq).unwrap()).memory().unwrap();
    fill(&log, 600).await;
    let transactions: Vec<u64> = heads.try_iter().collect();
    assert_eq!(transactions, [2048, 2400]);
}

#[tokio::test]
async fn the_end_of_a_call_is_durable_before_its_answer_if_asked_for() {
    let folder = Folder::new();
    for (name, is_durable) in [("a.db", true), ("b.db", false)] {
        let builder = EventLog::builder().write_every(Duration::from_secs(3600));
        let builder = if is_durable { builder.durable() } else { builder };
        let log = builder.open(folder.file(name)).unwrap();
        pool(&log).call(ToolCall::new("send", "{}")).await;
        let records = LogReader::open(folder.file(name)).unwrap().records().count();
        assert_eq!(records, if is_durable { 4 } else { 3 });
    }
}

#[test]
fn a_log_is_written_without_a_runtime() {
    let fails = Arc::new(true.into());
    let backend = Faulty(crate::memory::MemoryLog::default(), Arc::clone(&fails));
    let log = EventLog::builder().backend(backend).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(pool(&log).call(ToolCall::new("echo", "{}")));
    assert_eq!(log.flush_blocking().unwrap_err().kind(), LogErrorKind::Full);
    fails.store(false, Order::Relaxed);
    log.flush_blocking().unwrap();
    assert_eq!(log.status().written, 4);
}

#[tokio::test]
async fn a_result_with_more_than_a_text_is_given_back_whole() {
    let (log, runs) = (EventLog::memory(), Arc::<AtomicU32>::default());
    let observation = || Observation::json(&json!({ "a": 1 })).unwrap();
    let pool = {
        let runs = Arc::clone(&runs);
        let get = move || {
            runs.fetch_add(1, Order::Relaxed);
            let text = observation().with_content(tool_runtime_core::ContentBlock::text("one"));
            std::future::ready(text.with_meta("tool-runtime/cost", 0.25))
        };
        let pool = ToolPool::builder().add(Tool::builder("get", "Get.").handler(get));
        pool.install(log.clone()).build().unwrap()
    };
    for _ in 0..2 {
        let result = attempt(&pool, "get").await;
        let observation = result.observation();
        assert_eq!(observation.structured(), Some(&json!({ "a": 1 })));
        assert_eq!(observation.content().len(), 1);
    }
    assert_eq!(runs.load(Order::Relaxed), 1);
    let costs = records(&log).await.into_iter().filter_map(|record| record.cost_micros);
    assert_eq!(costs.take(1).collect::<Vec<_>>(), [250_000]);
}

/// Else the head that is kept elsewhere would be that of a removed record.
#[tokio::test]
async fn the_head_is_announced_after_records_were_removed() {
    let folder = Folder::new();
    for name in ["a.db", "a.jsonl"] {
        let (sender, heads) = std::sync::mpsc::channel();
        let builder = EventLog::builder().rotate_at(1);
        let builder = builder.on_head(move |head| sender.send(head.clone()).unwrap());
        let log = builder.open(folder.file(name)).unwrap();
        fill(&log, 2).await;
        fill(&log, 2).await;
        log.prune(8).await.unwrap();
        let found = log.reader().await.unwrap().verify(None).unwrap();
        assert!(found.first > 1, "{name}");
        assert_eq!(heads.try_iter().last(), Some(found.head), "{name}");
        assert_eq!(log.status().written, 17, "{name}");
        let records = records(&log).await;
        let (before, last) = (&records[records.len() - 2], records.last().unwrap());
        assert_eq!((last.kind, &last.process), (RecordKind::Pruned, &before.process));
        assert!(last.time_us >= before.time_us);
    }
}

#[tokio::test]
async fn a_backend_that_cannot_remove_records_says_so() {
    let backend = Faulty(crate::memory::MemoryLog::default(), Arc::default());
    let log = EventLog::builder().backend(backend).unwrap();
    fill(&log, 1).await;
    let error = log.prune(2).await.unwrap_err();
    assert_eq!(error.to_string(), "this log does not remove records");
}

#[tokio::test]
async fn old_records_go_by_themselves() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    let log = EventLog::builder().keep_records(40).open(&path).unwrap();
    for _ in 0..30 {
        fill(&log, 1).await;
    }
    let found = log.reader().await.unwrap().verify(None).unwrap();
    assert!(found.is_intact() && found.records < 70, "{found:?}");
}

#[tokio::test]
async fn records_go_by_age() {
    let folder = Folder::new();
    for name in ["a.db", "a.jsonl"] {
        let path = folder.file(name);
        let days = Arc::new(AtomicU64::new(0));
        let clock = {
            let days = Arc::clone(&days);
            move || now_us() + days.load(Order::Relaxed) * 86_400_000_000
        };
        let builder = EventLog::builder().rotate_at(2000).keep_for(Duration::from_secs(7 * 86_400));
        let log = builder.clock(clock).open(&path).unwrap();
        let first = async || {
            log.flush().await.unwrap();
            let found = log.reader().await.unwrap().verify(None).unwrap();
            assert_eq!(found.problems, [], "{name}");
            found.first
        };
        fill(&log, 10).await;
        days.store(6, Order::Relaxed);
        fill(&log, 1).await;
        assert_eq!(first().await, 1, "{name}");
        days.store(8, Order::Relaxed);
        fill(&log, 1).await;
        let kept = first().await;
        assert!(kept > 30, "{name}: {kept}");
        // The age is not looked at again within a part of it.
        fill(&log, 10).await;
        assert_eq!(first().await, kept, "{name}");
    }
}

#[tokio::test]
async fn a_head_that_is_kept_elsewhere_shows_that_the_end_was_cut() {
    let (folder, elsewhere) = (Folder::new(), Folder::new());
    let (path, head) = (folder.file("a.db"), elsewhere.file("head"));
    let log = EventLog::builder().head_file(&head).open(&path).unwrap();
    fill(&log, 3).await;
    drop(log);
    let head = crate::head_file::read(&head).unwrap();
    assert_eq!(head.seq, 12);
    let verify = || LogReader::open(&path).unwrap().verify(Some(&head)).unwrap().problems;
    assert_eq!(verify(), []);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("DELETE FROM records WHERE seq > 10", []).unwrap();
    assert_eq!(verify(), [LogProblem::TailCut { last: 10, head: 12 }]);
    assert_eq!(problems(&path), [""; 0], "the rest of the chain is whole");
    let beside = EventLog::builder().head_file(folder.file("head")).open(&path).unwrap_err();
    assert!(beside.to_string().contains("in the folder of the log"), "{beside}");
}
