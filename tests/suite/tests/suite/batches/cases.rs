//! One batch: results, limits, order, conflicts.

use super::jobs::{Job, Nested, builder, is_before, overlap, pool, span};
use crate::support::{class, in_time};
use futures_util::StreamExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tool_runtime::prelude::*;
use tool_runtime::{Access, CancellationToken};

async fn run(pool: &ToolPool, jobs: &[Nested]) -> Vec<ToolResult> {
    in_time(pool.call_all(jobs.iter().map(Nested::call))).await
}

fn texts(results: &[ToolResult]) -> Vec<String> {
    results.iter().map(|result| result.observation().to_text()).collect()
}

#[tokio::test(start_paused = true)]
async fn an_empty_batch_has_no_results_and_one_call_has_one() {
    let pool = pool();
    assert!(run(&pool, &[]).await.is_empty());
    assert!(pool.batch([]).stream().next().await.is_none());
    assert_eq!(texts(&run(&pool, &[Job::new(7, 1).undeclared_job()]).await), ["did 7"]);
}

#[tokio::test(start_paused = true)]
async fn results_are_in_call_order() {
    let pool = pool();
    let jobs: Vec<Nested> =
        [50, 10, 40, 1, 30].map(|ms| Job::new(ms as usize, ms).read_only_job()).into();
    let results = run(&pool, &jobs).await;
    assert_eq!(texts(&results), ["did 50", "did 10", "did 40", "did 1", "did 30"]);
    let ids: Vec<&str> = results.iter().map(ToolResult::call_id).collect();
    assert_eq!(ids, ["50", "10", "40", "1", "30"]);
    assert!(is_before(&pool, 1, 10) || overlap(&pool, 1, 10));
    assert!(span(&pool, 1).1 < span(&pool, 50).1, "they did not run together");
}

#[tokio::test(start_paused = true)]
async fn a_stream_yields_results_as_they_finish_with_their_index() {
    let pool = pool();
    let calls = [30, 10, 20].map(|ms| Job::new(ms as usize, ms).read_only_job().call());
    let stream = pool.batch(calls).stream();
    let finished: Vec<(usize, String)> =
        in_time(stream.map(|(index, result)| (index, result.call_id().to_owned())).collect()).await;
    assert_eq!(finished, [(1, "10".into()), (2, "20".into()), (0, "30".into())]);
}

/// Number of running calls, and the maximum so far.
#[derive(Default)]
struct Load(AtomicUsize, AtomicUsize);

/// Run for a while.
#[tool(read_only, register = false)]
async fn count_running(load: &Load) {
    let running = load.0.fetch_add(1, Ordering::SeqCst) + 1;
    load.1.fetch_max(running, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(5)).await;
    load.0.fetch_sub(1, Ordering::SeqCst);
}

async fn max_concurrent(batch_limit: Option<usize>, limit: Option<usize>, count: usize) -> usize {
    let builder = ToolPool::builder().tool::<CountRunningAction>().state(Load::default());
    let builder = match batch_limit {
        Some(limit) => builder.batch_limit(limit),
        None => builder,
    };
    let pool = builder.build().expect("a pool");
    let batch = pool.batch(vec![ToolCall::new("count_running", ""); count]);
    let batch = match limit {
        Some(limit) => batch.limit(limit),
        None => batch,
    };
    let results = in_time(batch.run()).await;
    assert_eq!(results.iter().filter(|result| !result.is_error()).count(), count);
    pool.context().get::<Load>().expect("state").1.load(Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn ten_calls_run_concurrently_by_default() {
    assert_eq!(max_concurrent(None, None, 25).await, 10);
    assert_eq!(max_concurrent(None, None, 3).await, 3);
    assert_eq!(max_concurrent(Some(4), None, 25).await, 4);
    assert_eq!(max_concurrent(Some(4), Some(7), 25).await, 7);
    assert_eq!(max_concurrent(None, Some(1), 5).await, 1);
    assert_eq!(max_concurrent(Some(0), None, 5).await, 1);
    assert_eq!(max_concurrent(None, Some(0), 5).await, 1);
    assert_eq!(max_concurrent(None, Some(usize::MAX), 25).await, 25);
    assert_eq!(max_concurrent(Some(usize::MAX), None, 25).await, 25);
}

#[tokio::test(start_paused = true)]
async fn waiting_calls_take_no_slot_of_running_ones() {
    let pool = pool();
    let jobs = [
        Job::new(0, 50).writing("a").keyed_job(),
        Job::new(1, 1).writing("a").keyed_job(),
        Job::new(2, 1).writing("a").keyed_job(),
        Job::new(3, 1).writing("b").keyed_job(),
    ];
    let results = in_time(pool.batch(jobs.iter().map(Nested::call)).limit(2).run()).await;
    assert!(results.iter().all(|result| !result.is_error()));
    assert!(span(&pool, 3).1 < span(&pool, 0).1);
}

#[tokio::test(start_paused = true)]
async fn a_writer_waits_for_earlier_calls_and_blocks_later_ones() {
    let pool = pool();
    let jobs = [
        Job::new(0, 30).read_only_job(),
        Job::new(1, 10).read_only_job(),
        Job::new(2, 20).undeclared_job(),
        Job::new(3, 30).read_only_job(),
        Job::new(4, 10).read_only_job(),
        Job::new(5, 1).undeclared_job(),
        Job::new(6, 1).undeclared_job(),
    ];
    let results = run(&pool, &jobs).await;
    assert!(results.iter().all(|result| !result.is_error()));
    assert!(overlap(&pool, 0, 1) && overlap(&pool, 3, 4));
    for (first, second) in [(0, 2), (1, 2), (2, 3), (2, 4), (3, 5), (4, 5), (5, 6)] {
        assert!(is_before(&pool, first, second), "{first} and {second}");
    }
}

#[tokio::test(start_paused = true)]
async fn declared_keys_decide_whether_calls_conflict() {
    let pool = pool();
    let jobs = [
        Job::new(0, 30).reading("k:a").keyed_job(),
        Job::new(1, 30).reading("k:a").keyed_job(),
        Job::new(2, 30).writing("k:a").keyed_job(),
        Job::new(3, 30).writing("k:b").keyed_job(),
        Job::new(4, 30).reading("k:a").writing("k:c").keyed_job(),
        Job::new(5, 30).keyed_job(),
    ];
    run(&pool, &jobs).await;
    for free in [0, 3, 5] {
        assert!(overlap(&pool, free, 1), "{free}");
    }
    for (first, second) in [(0, 2), (1, 2), (2, 4)] {
        assert!(is_before(&pool, first, second), "{first} and {second}");
    }
}

#[tokio::test(start_paused = true)]
async fn undeclared_calls_conflict_with_all_but_readers() {
    let pool = pool();
    let jobs = [
        Job::new(0, 30).read_only_job(),
        Job::new(1, 30).reading("k:a").keyed_job(),
        Job::new(2, 30).writing("k:a").keyed_job(),
        Job::new(3, 30).undeclared_job(),
        Job::new(4, 30).keyed_job(),
    ];
    run(&pool, &jobs).await;
    assert!(overlap(&pool, 0, 1));
    for (first, second) in [(0, 2), (1, 2), (2, 3), (3, 4)] {
        assert!(is_before(&pool, first, second), "{first} and {second}");
    }
}

#[tokio::test(start_paused = true)]
async fn spellings_of_a_path_are_one_key() {
    let pool = pool();
    let here = std::env::current_dir().expect("a folder").join("a");
    let paths = ["a", "./a", "b/../a", here.to_str().expect("UTF-8")];
    let jobs: Vec<Nested> = paths
        .iter()
        .enumerate()
        .map(|(id, path)| Job::new(id, 10).writing(&format!("file:{path}")).keyed_job())
        .chain([Job::new(9, 10).writing("file:c").keyed_job()])
        .collect();
    run(&pool, &jobs).await;
    for (first, second) in [(0, 1), (1, 2), (2, 3)] {
        assert!(is_before(&pool, first, second), "{first} and {second}");
    }
    assert!(overlap(&pool, 0, 9));
}

/// Files by name.
#[derive(Default)]
struct Files(std::sync::Mutex<std::collections::HashMap<String, String>>);

/// Write a file.
#[tool(register = false, writes("file:{path}"))]
async fn write_file(
    /// The place.
    path: String,
    /// The text.
    text: String,
    files: &Files,
) {
    tokio::time::sleep(Duration::from_millis(50)).await;
    files.0.lock().unwrap().insert(path.replace("./", ""), text);
}

/// Read a file.
#[tool(read_only, register = false, reads("file:{path}"))]
async fn read_file(
    /// The place.
    path: String,
    files: &Files,
) -> String {
    files.0.lock().unwrap().get(&path.replace("./", "")).cloned().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn writing_and_then_reading_a_file_keeps_the_order() {
    let pool = ToolPool::builder()
        .tool::<WriteFileAction>()
        .tool::<ReadFileAction>()
        .state(Files::default())
        .build()
        .expect("a pool");
    let results = in_time(pool.call_all([
        ToolCall::new("read_file", r#"{"path":"a.txt"}"#),
        ToolCall::new("write_file", r#"{"path":"a.txt","text":"one"}"#),
        ToolCall::new("read_file", r#"{"path":"./a.txt"}"#),
        ToolCall::new("write_file", r#"{"path":"./a.txt","text":"two"}"#),
        ToolCall::new("read_file", r#"{"path":"a.txt"}"#),
    ]))
    .await;
    assert_eq!(texts(&results), ["", "", "one", "", "two"]);
}

/// Panic.
#[tool(register = false)]
async fn panic_in_call() {
    panic!("boom");
}

/// Panic in the declaration of resources.
#[tool(register = false, access = undeclared)]
async fn panic_in_access() {}

fn undeclared(_: &PanicInAccessAction) -> Access {
    panic!("boom");
}

#[tokio::test(start_paused = true)]
async fn every_failure_is_a_result_at_its_index() {
    let pool = builder()
        .tool::<PanicInCallAction>()
        .tool::<PanicInAccessAction>()
        .build()
        .expect("a pool");
    let results = in_time(pool.call_all([
        Job::new(0, 10).undeclared_job().call(),
        ToolCall::new("lok", "{}").with_call_id("unknown"),
        ToolCall::new("read_only_job", r#"{"id":"x"}"#).with_call_id("wrong"),
        ToolCall::new("read_only_job", "[").with_call_id("no JSON"),
        ToolCall::new("panic_in_call", "").with_call_id("panic"),
        ToolCall::new("panic_in_access", "").with_call_id("panic before"),
        ToolCall::new("keyed_job", r#"{"reads":7}"#).with_call_id("wrong keys"),
        Job::new(1, 10).read_only_job().call(),
    ]))
    .await;
    let ids: Vec<&str> = results.iter().map(ToolResult::call_id).collect();
    let expected = ["0", "unknown", "wrong", "no JSON", "panic", "panic before", "wrong keys", "1"];
    assert_eq!(ids, expected);
    let classes: Vec<Option<ErrorClass>> =
        results.iter().map(|result| result.error().map(|error| error.class())).collect();
    use ErrorClass::{Input, Internal, NotFound};
    let expected = [
        None,
        Some(NotFound),
        Some(Input),
        Some(Input),
        Some(Internal),
        Some(Internal),
        Some(Input),
        None,
    ];
    assert_eq!(classes, expected);
    assert!(!results[4].observation().to_text().contains("boom"));
    assert!(!results[5].observation().to_text().contains("boom"));
}

/// Report the start, and wait forever.
#[tool(read_only, register = false)]
async fn hang(began: &Notify) {
    began.notify_one();
    std::future::pending::<()>().await;
}

fn hanging_pool() -> ToolPool {
    builder().tool::<HangAction>().state(Notify::new()).build().expect("a pool")
}

/// One call that finishes, one that runs, one that waits for a key, one that waits for a permit.
fn all_stages() -> [ToolCall; 4] {
    let hang = ToolCall::new("hang", "").with_call_id("runs");
    [
        Job::new(0, 0).read_only_job().call(),
        hang,
        Job::new(1, 0).undeclared_job().call(),
        Job::new(2, 0).read_only_job().call(),
    ]
}

#[tokio::test(start_paused = true)]
async fn cancellation_gives_each_call_its_one_result() {
    let pool = hanging_pool();
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone());
    let batch = pool.batch(all_stages()).context(&context).run();
    let cancel = async {
        context.get::<Notify>().expect("state").notified().await;
        token.cancel();
    };
    let (results, ()) = in_time(async { tokio::join!(batch, cancel) }).await;
    assert_eq!(results.len(), 4);
    assert_eq!(results[0].observation().to_text(), "did 0");
    assert!(results[1..].iter().all(|result| class(result) == ErrorClass::Cancelled));
    let log = context.get::<super::jobs::Log>().expect("a log");
    assert!(log.span(1).is_none() && log.span(2).is_none(), "cancelled calls began");
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_was_cancelled_before_runs_nothing() {
    let pool = pool();
    let token = CancellationToken::new();
    token.cancel();
    let context = pool.context().with_cancellation(token);
    let jobs = [
        Job::new(0, 0).read_only_job(),
        Job::new(1, 0).undeclared_job(),
        Job::new(2, 0).keyed_job(),
    ];
    let results = pool.batch(jobs.iter().map(Nested::call)).context(&context).run().await;
    assert_eq!(results.len(), 3);
    assert!(results.iter().all(|result| class(result) == ErrorClass::Cancelled));
    let log = context.get::<super::jobs::Log>().expect("a log");
    assert!((0..3).all(|id| log.span(id).is_none()));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_gives_each_call_its_one_result() {
    let pool = hanging_pool();
    let deadline = Instant::now() + Duration::from_secs(600);
    let context = pool.context().with_deadline(deadline);
    let results = in_time(pool.batch(all_stages()).context(&context).run()).await;
    assert_eq!(results.len(), 4);
    assert_eq!(results[0].observation().to_text(), "did 0");
    assert!(results[1..].iter().all(|result| class(result) == ErrorClass::Timeout));
    let late = pool.context().with_deadline(Instant::now() - Duration::from_secs(1));
    for result in pool.batch(all_stages()).context(&late).run().await {
        assert_eq!(class(&result), ErrorClass::Timeout);
        let text = result.observation().to_text();
        assert!(!text.contains("0ns"), "{text}");
    }
}

/// Wait longer than the time limit of a second.
#[tool(register = false, timeout = "1s")]
async fn sleep_past_timeout() {
    tokio::time::sleep(Duration::from_millis(900)).await;
}

#[tokio::test(start_paused = true)]
async fn waiting_for_resources_does_not_count_towards_the_timeout() {
    let pool = ToolPool::builder().tool::<SleepPastTimeoutAction>().build().expect("a pool");
    let results = in_time(pool.call_all(vec![ToolCall::new("sleep_past_timeout", ""); 5])).await;
    assert!(results.iter().all(|result| !result.is_error()), "{results:?}");
}

#[tokio::test(start_paused = true)]
async fn dropping_a_batch_drops_its_calls_and_their_resources() {
    let pool = pool();
    let jobs = [
        Job::new(0, 1_000).writing("k:a").keyed_job(),
        Job::new(1, 1_000).read_only_job(),
        Job::new(2, 1_000).writing("k:a").keyed_job(),
    ];
    let batch = pool.call_all(jobs.iter().map(Nested::call));
    assert!(tokio::time::timeout(Duration::from_millis(10), batch).await.is_err());
    let context = pool.context();
    let log = context.get::<super::jobs::Log>().expect("a log");
    assert!(log.span(0).is_some() && log.span(1).is_none() && log.span(2).is_none());
    let again = run(&pool, &[Job::new(3, 0).writing("k:a").keyed_job()]).await;
    assert_eq!(texts(&again), ["did 3"]);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_stream_ends_the_remaining_calls() {
    let pool = pool();
    let calls = [1, 500, 500].map(|ms| Job::new(ms as usize, ms).read_only_job().call());
    let mut stream = Box::pin(pool.batch(calls[..2].to_vec()).stream());
    let (index, first) = in_time(stream.next()).await.expect("a result");
    assert_eq!((index, first.call_id()), (0, "1"));
    drop(stream);
    assert!(span(&pool, 500).1 > 0, "what ran was dropped");
}

#[tokio::test(start_paused = true)]
async fn closing_the_pool_ends_the_rest_of_a_batch() {
    let pool = pool();
    let close = Tool::builder("close", "Close the pool.").handler({
        let pool = pool.clone();
        move || {
            let pool = pool.clone();
            async move { pool.close().await }
        }
    });
    pool.add_tools(&tool_runtime::pool::Source::owner("test"), [close]).expect("it fits");
    let calls = [
        Job::new(0, 0).read_only_job().call(),
        ToolCall::new("close", ""),
        Job::new(1, 0).read_only_job().call(),
        Job::new(2, 0).undeclared_job().call(),
    ];
    let results = in_time(pool.call_all(calls)).await;
    assert!(!results[0].is_error() && !results[1].is_error());
    assert_eq!(class(&results[2]), ErrorClass::Cancelled);
    assert_eq!(class(&results[3]), ErrorClass::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn images_in_a_batch_reach_the_model() {
    let draw = Tool::builder("draw", "Draw.").handler(|| async {
        vec![ContentBlock::text("here"), ContentBlock::image("AAAA", "image/png")]
    });
    let pool = ToolPool::builder().add(draw).build().expect("a pool");
    let results = pool.call_all(vec![ToolCall::new("draw", ""); 2]).await;
    for result in &results {
        let blocks = result.observation().content();
        assert!(matches!(blocks, [ContentBlock::Text(_), ContentBlock::Image(_)]), "{blocks:?}");
    }
}
