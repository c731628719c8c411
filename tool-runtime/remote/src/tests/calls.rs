//! Calls, and what happens to them when processes end.

use super::faulty::{Cut, Faults, FaultyBoard};
use super::fleet::*;
use crate::{LEASE, Nobody, Remote};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tool_runtime::tool;
use tool_runtime_core::tool::{Execution, Source, Tool, ToolCall};
use tool_runtime_core::vocabulary::error::ErrorClass;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn remote_tools_are_listed_and_called_like_others() {
    let fleet = Fleet::new();
    let _runner = fleet.run([ping()]);
    let (pool, _remote) = fleet.connect().await;
    assert_eq!(names(&pool), ["ping"]);
    let report = pool.report();
    assert_eq!(report.tools[0].source, Source::runner("web"));
    let result = call(&pool, "ping").await;
    assert_eq!(text(&result), "pong");
    let runner = &result.observation().meta().unwrap()["tool-runtime/runner"];
    assert!(runner["id"].as_str().unwrap().starts_with("web."), "{runner}");
    let calls = [ToolCall::new("ping", ""), ToolCall::new("pong", "")];
    let results = pool.call_all(calls).await;
    assert_eq!(text(&results[0]), "pong");
    assert!(text(&results[1]).contains("did you mean `ping`?"), "{}", text(&results[1]));
}

#[tokio::test(start_paused = true)]
async fn errors_and_issues_cross_the_hop() {
    /// Add one.
    #[tool]
    async fn add(
        /// The number.
        a: i64,
    ) -> i64 {
        a + 1
    }
    let fleet = Fleet::new();
    let _runner = fleet.run([Tool::from_action::<AddAction>()]);
    let (pool, _remote) = fleet.connect().await;
    let result = pool.call(ToolCall::new("add", r#"{"a":"x"}"#)).await;
    assert_eq!(class(&result), Some(ErrorClass::Input));
    assert_eq!(result.error().unwrap().issues()[0].path(), "a");
    assert_eq!(text(&pool.call(ToolCall::new("add", r#"{"a":1}"#)).await), "2");
    assert_eq!(class(&pool.call(ToolCall::new("add", "{")).await), Some(ErrorClass::Input));
}

/// Give it back.
#[tool]
async fn echo(
    /// The text.
    a: String,
) -> String {
    a
}

#[tokio::test(start_paused = true)]
async fn large_arguments_and_results_travel_as_blobs() {
    let fleet = Fleet::new();
    let _runner = fleet.run([Tool::from_action::<EchoAction>()]);
    let (pool, _remote) = fleet.connect().await;
    let long = "x".repeat(1_000_000);
    let arguments = serde_json::json!({ "a": long }).to_string();
    assert_eq!(text(&pool.call(ToolCall::new("echo", arguments)).await), long);
}

#[tokio::test(start_paused = true)]
async fn a_call_with_large_arguments_waits_for_the_board_like_others() {
    let fleet = Fleet::new();
    let _runner = fleet.run([Tool::from_action::<EchoAction>()]);
    let (pool, cut) = (pool([]), Cut::default());
    let board = FaultyBoard::new(fleet.board("pool1"), &Faults::new(1, 0), cut.clone());
    let _remote = Remote::builder(board).trust(true).connect(&pool).await.unwrap();
    for long in ["x".to_owned(), "x".repeat(1_000_000)] {
        cut.set(true);
        let arguments = serde_json::json!({ "a": long }).to_string();
        let calls = pool.clone();
        let calling =
            tokio::spawn(async move { calls.call(ToolCall::new("echo", arguments)).await });
        sleep(3 * SECOND).await;
        cut.set(false);
        assert_eq!(text(&calling.await.unwrap()).len(), long.len());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_may_run_once_is_indeterminate_when_its_runner_dies() {
    let (fleet, runs) = (Fleet::new(), Arc::default());
    let runner = fleet.run([slow("pay", false, 60 * SECOND, &runs)]);
    let (pool, _remote) = fleet.connect().await;
    let start = Instant::now();
    let pay = call(&pool, "pay");
    let kill = async {
        sleep(SECOND).await;
        runner.kill().await;
        // Another runner must not run it.
        let _other = fleet.run([slow("pay", false, SECOND, &runs)]);
        sleep(100 * SECOND).await;
    };
    tokio::select! {
        result = pay => {
            assert_eq!(class(&result), Some(ErrorClass::Indeterminate), "{}", text(&result));
            assert!(text(&result).contains("check whether it had its effect"), "{}", text(&result));
        }
        () = kill => panic!("no outcome after {:?}", start.elapsed()),
    }
    assert!(start.elapsed() < LEASE + 16 * SECOND, "{:?}", start.elapsed());
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_safe_to_retry_runs_elsewhere_when_its_runner_dies() {
    let (fleet, runs) = (Fleet::new(), Arc::default());
    let runner = fleet.run([slow("read", true, 20 * SECOND, &runs)]);
    let (pool, _remote) = fleet.connect().await;
    let read = call(&pool, "read");
    let kill = async {
        sleep(SECOND).await;
        runner.kill().await;
        let _other = fleet.run([slow("read", true, SECOND, &runs)]);
        sleep(100 * SECOND).await;
    };
    tokio::select! {
        result = read => assert_eq!(text(&result), "done"),
        () = kill => panic!("no outcome"),
    }
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_stops_the_tool_at_its_runner() {
    struct OnDrop(Arc<AtomicUsize>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&dropped);
    let wait = Tool::builder("wait", "Wait without end.").handler(move || {
        let guard = OnDrop(Arc::clone(&counted));
        async move {
            std::future::pending::<()>().await;
            drop(guard);
        }
    });
    let fleet = Fleet::new();
    let _runner = fleet.run([wait]);
    let (pool, remote) = fleet.connect().await;
    assert!(timeout(SECOND, call(&pool, "wait")).await.is_err());
    assert_eq!(dropped.load(Ordering::SeqCst), 0);
    sleep(SECOND).await;
    assert_eq!(dropped.load(Ordering::SeqCst), 1, "well before the next beat");
    drop(remote);
}

#[tokio::test(start_paused = true)]
async fn limits_are_exact() {
    let (fleet, runs) = (Fleet::new(), Arc::default());
    let _runner = fleet.run([slow("long", false, 600 * SECOND, &runs)]);
    let (pool, _remote) = fleet.connect().await;
    let start = Instant::now();
    let context = pool.context().with_deadline((start + 7 * SECOND).into_std());
    let result = pool.call_with(ToolCall::new("long", "{}"), &context).await;
    assert_eq!(class(&result), Some(ErrorClass::Timeout), "{}", text(&result));
    let over = start.elapsed().checked_sub(7 * SECOND).expect("not before its time");
    assert!(over <= Duration::from_millis(100), "{over:?}");
}

#[tokio::test(start_paused = true)]
async fn a_repeated_execution_gets_the_outcome_of_the_call_that_went_on() {
    let (fleet, runs) = (Fleet::new(), Arc::default());
    let _runner = fleet.run([slow("pay", false, 10 * SECOND, &runs)]);
    let (pool, remote) = fleet.connect().await;
    let order = |attempt| Arc::new(Execution::new("order-17").with_attempt(attempt));
    let context = pool.context().in_execution(&order(1));
    let first = pool.call_with(ToolCall::new("pay", "{}"), &context);
    // The process of the caller ends: nothing is settled.
    let first = timeout(SECOND, async {
        assert!(first.await.is_error(), "its pool is closed");
    });
    let ended = async {
        sleep(SECOND / 2).await;
        pool.close().await;
    };
    drop(tokio::join!(first, ended));
    drop(remote);
    let (pool, _remote) = fleet.connect().await;
    let context = pool.context().in_execution(&order(2));
    let result = pool.call_with(ToolCall::new("pay", "{}"), &context).await;
    assert_eq!(text(&result), "done");
    let context = pool.context().in_execution(&order(3));
    let again = pool.call_with(ToolCall::new("pay", "{}"), &context).await;
    assert_eq!(text(&again), "done");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_queue_with_calls_and_no_runner_is_a_problem_for_those_who_come_later() {
    let fleet = Fleet::new();
    let runner = fleet.run([ping()]);
    let (waiting, _one) = fleet.connect().await;
    runner.stop().await;
    let waits = tokio::spawn(async move { call(&waiting, "ping").await });
    let (_pool, later) = fleet.connect().await;
    let status = later.status().await;
    assert!(status.to_string().contains("queue web: 0 runners, 0 tools, 1 queued"), "{status}");
    assert_eq!(status.queues[0].problems, ["no runner serves it"]);
    waits.abort();
}

#[tokio::test(start_paused = true)]
async fn without_a_runner_a_call_waits_or_fails_as_configured() {
    let fleet = Fleet::new();
    let runner = fleet.run([ping()]);
    let (waiting, _one) = fleet.connect().await;
    let failing = pool([]);
    let _two = fleet.caller().nobody(Nobody::Fail).connect(&failing).await.unwrap();
    runner.stop().await;
    sleep(SECOND).await;
    let result = call(&failing, "ping").await;
    assert_eq!(class(&result), Some(ErrorClass::Transient));
    assert!(text(&result).contains("no runner of queue `web` is there"), "{}", text(&result));
    let (result, _runner) = tokio::join!(call(&waiting, "ping"), async {
        sleep(5 * SECOND).await;
        fleet.run([ping()])
    });
    assert_eq!(text(&result), "pong");
}

#[tokio::test(start_paused = true)]
async fn tools_come_and_go_with_their_runners() {
    let fleet = Fleet::new();
    let served = pool([ping()]);
    let runner = fleet.run_pool(served.clone());
    let (pool, _remote) = fleet.connect().await;
    let mut changes = pool.changes();
    let skills = Source::owner("skills");
    let hello = Tool::builder("hello", "Say hello.").handler(|| async { "hello" });
    served.add_tools(&skills, [hello]).unwrap();
    assert_eq!(changes.next().await.unwrap().added, ["hello"]);
    served.remove_tools(&skills, &"*".parse().unwrap()).unwrap();
    assert_eq!(changes.next().await.unwrap().removed, ["hello"]);
    runner.kill().await;
    sleep(LEASE + 40 * SECOND).await;
    assert_eq!(names(&pool), ["ping"], "a restart goes unnoticed");
    assert_eq!(changes.next().await.unwrap().removed, ["ping"]);
    let absent = call(&pool, "ping").await;
    assert!(text(&absent).contains("no runner of queue `web` was heard for"), "{}", text(&absent));
    assert!(pool.report().to_string().contains("runner:web"), "{}", pool.report());
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_is_connected_has_the_tools_of_all_queues() {
    let fleet = Fleet::new();
    let _web = fleet.run([ping()]);
    let files = async {
        // Later than the first one by less than answers to one roll call differ.
        sleep(Duration::from_millis(300)).await;
        let runner = fleet.runner().queue("files".parse().unwrap());
        fleet.start(runner, pool([slow("read", true, SECOND, &Arc::default())]))
    };
    let ((caller, _remote), _files) = tokio::join!(fleet.connect(), files);
    assert_eq!(names(&caller), ["ping", "read"]);
}

#[tokio::test(start_paused = true)]
async fn a_rolling_restart_is_not_noticed() {
    let fleet = Fleet::new();
    let mut runners = [fleet.run([ping()]), fleet.run([ping()])];
    let (pool, _remote) = fleet.connect().await;
    let mut changes = pool.changes();
    let calls = async {
        for _ in 0..200 {
            let result = call(&pool, "ping").await;
            assert_eq!(text(&result), "pong");
            sleep(SECOND / 10).await;
        }
    };
    let restart = async {
        for runner in &mut runners {
            sleep(5 * SECOND).await;
            let new = fleet.run([ping()]);
            std::mem::replace(runner, new).stop().await;
        }
    };
    tokio::join!(calls, restart);
    assert!(changes.try_next().is_none());
}

#[tokio::test(start_paused = true)]
async fn two_versions_of_a_tool_are_reported_and_the_call_finds_its_own() {
    let version = |scope: &str| {
        let scope = scope.to_owned();
        Tool::builder("deploy", "Deploy it.").scopes([scope.clone()]).handler(move || {
            let scope = scope.clone();
            async move { scope }
        })
    };
    let fleet = Fleet::new();
    let _old = [fleet.run([version("a")]), fleet.run([version("a")])];
    let _new = fleet.run([version("b")]);
    let (pool, remote) = fleet.connect().await;
    sleep(SECOND).await;
    let principal = tool_runtime_core::vocabulary::Principal::new("ada").with_scopes(["a"]);
    for _ in 0..10 {
        let context = pool.context().with_principal(principal.clone());
        let result = pool.call_with(ToolCall::new("deploy", "{}"), &context).await;
        assert_eq!(text(&result), "a");
    }
    let status = remote.status().await;
    assert!(status.to_string().contains("2 versions of `deploy`"), "{status}");
    assert!(!status.is_healthy());
}

#[tokio::test(start_paused = true)]
async fn a_runner_of_the_next_version_leaves_calls_to_those_that_it_has_not_heard_yet() {
    let version = |is_new: bool| {
        let tool = Tool::builder("deploy", "Deploy it.").read_only(true).open_world(is_new);
        tool.handler(move || async move { if is_new { "new" } else { "old" } })
    };
    let fleet = Fleet::new();
    let _old = [fleet.run([version(false)]), fleet.run([version(false)])];
    let (pool, _remote) = fleet.connect().await;
    sleep(SECOND).await;
    let _new = fleet.run([version(true)]);
    let calls = futures_util::future::join_all((0..20).map(|_| call(&pool, "deploy"))).await;
    for result in calls {
        assert_eq!(text(&result), "old");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_for_the_last_runner_of_a_version_are_answered_by_it() {
    let version = |is_new: bool, time: Duration| {
        let tool = Tool::builder("deploy", "Deploy it.").read_only(true).open_world(is_new);
        tool.handler(move || async move {
            sleep(time).await;
            if is_new { "new" } else { "old" }
        })
    };
    for (count, time) in [(16, SECOND), (6, 4 * SECOND)] {
        let fleet = Fleet::new();
        let old = fleet.start(fleet.runner().slots(2), pool([version(false, time)]));
        let (pool, _remote) = fleet.connect().await;
        sleep(SECOND).await;
        let _new = fleet.run([version(true, time)]);
        let calls = futures_util::future::join_all((0..count).map(|_| call(&pool, "deploy")));
        let stop = async {
            sleep(SECOND).await;
            old.stop().await;
        };
        for result in tokio::join!(calls, stop).0 {
            assert_eq!(text(&result), "old");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_tool_id_belongs_to_one_queue() {
    let fleet = Fleet::new();
    let _web = fleet.run([ping()]);
    let other = fleet.runner().queue("other".parse().unwrap());
    let _other = fleet.start(other, pool([ping()]));
    let (pool, remote) = fleet.connect().await;
    sleep(SECOND).await;
    let report = pool.report().to_string();
    // That of the queue that was heard first.
    assert_eq!(report.matches("has a tool of this name").count(), 1, "{report}");
    assert!(!remote.status().await.is_healthy());
    assert_eq!(text(&call(&pool, "ping").await), "pong");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_in_use_is_not_taken_over_by_another_queue() {
    let fleet = Fleet::new();
    let web = fleet.run([ping()]);
    let (pool, _remote) = fleet.connect().await;
    let evil = Tool::builder("ping", "Answer at once.").handler(|| async { "evil" });
    let other = fleet.runner().queue("aaa".parse().unwrap());
    let _evil = fleet.start(other, super::fleet::pool([evil]));
    sleep(10 * SECOND).await;
    assert_eq!(text(&call(&pool, "ping").await), "pong");
    // Not while a restart may go unnoticed, and then it is the tool of the other queue.
    web.stop().await;
    sleep(30 * SECOND).await;
    let report = pool.report().to_string();
    assert!(report.contains("queue `web` has a tool of this name"), "{report}");
    sleep(60 * SECOND).await;
    assert_eq!(text(&call(&pool, "ping").await), "evil");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_moves_to_another_queue_comes_back() {
    let fleet = Fleet::new();
    let alpha = fleet.start(fleet.runner().queue("alpha".parse().unwrap()), pool([ping()]));
    let (callers, _remote) = fleet.connect().await;
    let _beta = fleet.start(fleet.runner().queue("beta".parse().unwrap()), pool([ping()]));
    sleep(SECOND).await;
    alpha.stop().await;
    sleep(80 * SECOND).await;
    assert_eq!(text(&call(&callers, "ping").await), "pong");
}

#[tokio::test(start_paused = true)]
async fn a_tool_gets_its_name_when_another_one_leaves_it() {
    let fleet = Fleet::new();
    let callers = pool([]);
    let own = Source::owner("own");
    callers.add_tools(&own, [ping()]).unwrap();
    let _runner = fleet.run([ping()]);
    let _remote = fleet.caller().connect(&callers).await.unwrap();
    assert!(callers.report().to_string().contains("another tool (of owner:own)"));
    callers.remove_tools(&own, &"*".parse().unwrap()).unwrap();
    sleep(3 * SECOND).await;
    let result = call(&callers, "ping").await;
    assert!(result.observation().meta().is_some(), "it is the runner's: {}", text(&result));
}

/// What a runner says reaches the terminal of an operator.
#[tokio::test(start_paused = true)]
async fn the_status_shows_no_control_characters() {
    let fleet = Fleet::new();
    let runner =
        fleet.runner().program("web\u{1b}[31m\nqueue fake: 3 runners").label("a", "\u{1b}[2J");
    let _runner = fleet.start(runner, pool([ping()]));
    let (_pool, remote) = fleet.connect().await;
    let status = remote.status().await.to_string();
    assert!(!status.contains('\u{1b}'), "{status:?}");
    assert_eq!(status.lines().filter(|line| line.starts_with("queue")).count(), 1, "{status}");
}
