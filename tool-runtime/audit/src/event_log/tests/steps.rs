//! Repeated runs: which steps run again, which are given back, which are refused.

use super::*;
use tool_runtime_core::tool::{ToolContext, ToolResult};
use tool_runtime_core::vocabulary::content::ContentBlock;

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
    let (path, runs) = (folder.file("a.db"), Arc::default());
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

#[tokio::test]
async fn a_jsonl_log_looks_up_no_steps_and_says_so_when_the_pool_is_built() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl");
    let log = EventLog::open(&path).unwrap();
    let empty = || ToolPool::builder().allow_empty();
    for pool in [empty().install(log.clone()), empty().step_store(log.clone())] {
        let error = pool.build().unwrap_err().to_string();
        assert!(error.contains("looks up no steps of repeated runs: use a SQLite file"), "{error}");
        assert_eq!(error.matches("a.jsonl").count(), 1, "{error}");
    }
    let error = log.resolve(&StepId::new("a"), Resolution::NotRun, "ada").await.unwrap_err();
    assert!(error.to_string().contains("looks up no steps"), "{error}");
}

#[tokio::test]
async fn a_log_that_only_records_lets_a_repeated_run_call_its_tools_again() {
    let folder = Folder::new();
    for name in ["a.db", "a.jsonl"] {
        let (path, runs) = (folder.file(name), Arc::default());
        let log = EventLog::builder().record_only().open(&path).unwrap();
        let pool = counting(&runs, &log);
        for expected in ["1", "2"] {
            assert_eq!(attempt(&pool, "once").await.observation().to_text(), expected, "{name}");
        }
        let attempts: Vec<_> = records(&log).await.into_iter().map(|it| it.attempt).collect();
        assert_eq!(attempts, [Some(2); 8], "{name}");
        drop((pool, log));
        assert!(problems(&path).is_empty(), "{name}");
    }
}

#[tokio::test]
async fn a_result_with_more_than_a_text_is_given_back_whole() {
    let (log, runs) = (EventLog::memory(), Arc::<AtomicU32>::default());
    let observation = || Observation::json(&json!({ "a": 1 })).unwrap();
    let pool = {
        let runs = Arc::clone(&runs);
        let get = move || {
            runs.fetch_add(1, Order::Relaxed);
            let text = observation().with_content(ContentBlock::text("one"));
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

#[tokio::test]
async fn a_log_answers_for_a_tool_that_is_gone_and_keeps_no_mark_of_one_that_never_ran() {
    use RecordKind::{Failed, Proposed, Succeeded};
    let (log, runs) = (EventLog::memory(), Arc::default());
    let (full, empty) = (counting(&runs, &log), ToolPool::builder().allow_empty());
    let empty = empty.install(log.clone()).build().unwrap();
    let unknown = attempt(&empty, "once").await;
    assert_eq!(unknown.error().unwrap().class(), ErrorClass::NotFound);
    assert_eq!(kinds(&log).await, [Proposed, Failed]);

    let first = attempt(&full, "once").await.observation().to_text();
    let before = kinds(&log).await.len();
    let again = attempt(&empty, "once").await;
    assert_eq!(again.observation().to_text(), first);
    let records = records(&log).await.split_off(before);
    assert_eq!(records.iter().map(|it| it.kind).collect::<Vec<_>>(), [Proposed, Succeeded]);
    assert_eq!(records[1].replayed, Some(true));
    assert_eq!(attempt(&full, "once").await.observation().to_text(), first, "nothing ran again");
}

/// Calls a tool as a step that was made elsewhere.
async fn given(pool: &ToolPool, tool: &str, context: ToolContext) -> ToolResult {
    let context = context.as_step(StepId::new("made-elsewhere"));
    pool.call_with(ToolCall::new(tool, "{}"), &context).await
}

#[tokio::test]
async fn a_step_without_a_run_is_recorded_and_not_given_back() {
    let folder = Folder::new();
    let (path, runs) = (folder.file("a.db"), Arc::default());
    let mut answers = Vec::new();
    for attempt in 1..=2 {
        let log = EventLog::open(&path).unwrap();
        let pool = counting(&runs, &log);
        answers.push(given(&pool, "once", pool.context()).await.observation().to_text());
        given(&pool, "fails", pool.context()).await;
        if attempt == 1 {
            let records = records(&log).await;
            assert_eq!(records.len(), 8);
            for record in records {
                assert_eq!(record.step.as_deref(), Some("made-elsewhere"));
                assert_eq!((record.run, record.attempt), (None, None));
                assert!(record.outcome.is_none(), "only a run needs it");
            }
        }
    }
    assert_eq!(answers, ["1", "3"]);
    assert!(problems(&path).is_empty());
}

#[tokio::test]
async fn a_step_of_a_run_is_another_one_than_a_step_without_a_run() {
    let folder = Folder::new();
    let (path, runs) = (folder.file("b.db"), Arc::default());
    let mut answers = Vec::new();
    for _ in 0..2 {
        let log = EventLog::open(&path).unwrap();
        let pool = counting(&runs, &log);
        let run = pool.context().in_execution(&Arc::new(Execution::new("one")));
        for context in [pool.context(), run] {
            answers.push(given(&pool, "once", context).await.observation().to_text());
        }
    }
    assert_eq!(answers, ["1", "2", "3", "2"]);
}

#[tokio::test]
async fn a_step_without_a_run_cannot_be_resolved() {
    let (log, runs) = (EventLog::memory(), Arc::default());
    let pool = counting(&runs, &log);
    let mut call = Box::pin(given(&pool, "wait", pool.context()));
    while runs.load(Order::Relaxed) == 0 {
        tokio::select! { biased; _ = &mut call => {}, () = tokio::task::yield_now() => {} }
    }
    drop(call);
    let step = StepId::new("made-elsewhere");
    let error = log.resolve(&step, Resolution::NotRun, "ada").await.unwrap_err();
    assert!(error.to_string().contains("is not one of a run"), "{error}");
}

#[tokio::test]
async fn the_id_of_a_step_without_a_run_is_bounded_and_printable() {
    let log = EventLog::memory();
    let context = pool(&log).context().as_step(StepId::new("\u{1b}[2J".repeat(1000)));
    pool(&log).call_with(ToolCall::new("echo", "{}"), &context).await;
    let step = records(&log).await[0].step.clone().unwrap();
    assert!(step.len() < 300 && !step.contains('\u{1b}'), "{step}");
}
