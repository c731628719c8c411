//! The log of a runner, which outlives it.

use super::faulty::{Cut, Faults, FaultyBoard};
use super::fleet::*;
use crate::{Remote, Runner};
use std::collections::HashMap;
use std::future::ready;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;
use tool_runtime_core::govern::{
    Begin, CallEvent, CallStage, Receipt, RecordError, Recorder, StepStore,
};
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::{Execution, Observation, StepId, ToolCall, ToolResult};
use tool_runtime_core::vocabulary::error::ErrorClass;
use tool_runtime_core::vocabulary::{BoxFuture, CancellationToken, RetryMode};

const SECOND: Duration = Duration::from_secs(1);

/// The outputs of the results of steps.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<HashMap<StepId, String>>>);

impl Recorder for Log {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        if let (CallStage::Finished { outcome: Ok(it), .. }, Some(step)) =
            (event.stage, event.call.step())
        {
            self.0.lock().unwrap().insert(step.clone(), it.to_text());
        }
        Receipt::recorded()
    }
}

impl StepStore for Log {
    fn begin<'a>(
        &'a self,
        step: &'a StepId,
        _: RetryMode,
    ) -> BoxFuture<'a, Result<Begin, RecordError>> {
        let found = self.0.lock().unwrap().get(step).cloned();
        let replay = |text: String| Begin::Replay(Ok(Observation::text(text)));
        Box::pin(ready(Ok(found.map_or(Begin::Run, replay))))
    }
}

/// A runner is cut off while its tool runs, and killed when that has ended. Another one starts, with a log of its own, or
/// with that of the first.
async fn result_after_restart(keeps_log: bool) -> (ToolResult, usize) {
    let (fleet, runs, log) = (Fleet::new(), Arc::<AtomicUsize>::default(), Log::default());
    let served = |log: &Log| {
        let tool = slow("pay", false, 2 * SECOND, &runs);
        let pool = ToolPool::builder().add(tool).recorder(log.clone()).step_store(log.clone());
        pool.build().unwrap()
    };
    let cut = Cut::default();
    let board = FaultyBoard::new(fleet.board("runner"), &Faults::new(1, 0), cut.clone());
    let runner = fleet.start(Runner::new(board).queue("web".parse().unwrap()), served(&log));
    let pool = pool([]);
    let _remote = Remote::builder(fleet.board("pool1")).connect(&pool).await.unwrap();
    let restart = async {
        sleep(SECOND).await;
        cut.set(true);
        sleep(3 * SECOND).await;
        runner.kill().await;
        // Then the caller is in doubt before the other one may decide.
        sleep(8 * SECOND).await;
        let log = if keeps_log { log.clone() } else { Log::default() };
        fleet.run_pool(served(&log))
    };
    let (result, _runner) = tokio::join!(call(&pool, "pay"), restart);
    (result, runs.load(Ordering::SeqCst))
}

#[tokio::test(start_paused = true)]
async fn a_runner_that_restarts_answers_from_its_log() {
    let (result, runs) = result_after_restart(true).await;
    assert_eq!((text(&result).as_str(), runs), ("done", 1));
}

#[tokio::test(start_paused = true)]
async fn without_that_log_the_outcome_is_unknown() {
    let (result, runs) = result_after_restart(false).await;
    assert_eq!((class(&result), runs), (Some(ErrorClass::Indeterminate), 1));
}

#[tokio::test(start_paused = true)]
async fn an_execution_of_one_caller_does_not_answer_another_one() {
    let (fleet, runs, log) = (Fleet::new(), Arc::<AtomicUsize>::default(), Log::default());
    let tool = slow("pay", false, SECOND, &runs);
    let served = ToolPool::builder().add(tool).recorder(log.clone()).step_store(log.clone());
    let _runner = fleet.run_pool(served.build().unwrap());
    for (caller, expected) in [("pool1", 1), ("pool2", 2), ("pool1", 2)] {
        let pool = pool([]);
        let remote = Remote::builder(fleet.board(caller)).connect(&pool).await.unwrap();
        let context = pool.context().in_execution(&Arc::new(Execution::new("nightly")));
        let result = pool.call_with(ToolCall::new("pay", "{}"), &context).await;
        assert_eq!((text(&result).as_str(), runs.load(Ordering::SeqCst)), ("done", expected));
        remote.close().await;
        // The hub forgets it.
        sleep(48 * 3600 * SECOND).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_runner_that_could_not_report_an_outcome_says_so_when_it_ends() {
    let (fleet, runs) = (Fleet::new(), Arc::<AtomicUsize>::default());
    let (cut, end) = (Cut::default(), CancellationToken::new());
    let board = FaultyBoard::new(fleet.board("runner"), &Faults::new(1, 0), cut.clone());
    let runner = Runner::new(board).queue("web".parse().unwrap());
    let served = pool([slow("pay", false, 2 * SECOND, &runs)]);
    let token = end.clone();
    let serving = tokio::spawn(async move { runner.serve_until(&served, &token).await });
    let (pool, _remote) = fleet.connect().await;
    let stop = async {
        sleep(SECOND).await;
        cut.set(true);
        end.cancel();
        serving.await.unwrap().unwrap_err().to_string()
    };
    let (_, error) = tokio::join!(call(&pool, "pay"), stop);
    assert_eq!(error, "the runner ends before it could report the outcomes of 1 of its calls");
}

#[tokio::test(start_paused = true)]
async fn each_attempt_of_an_execution_gets_the_same_reason_for_an_unknown_outcome() {
    let (fleet, runs) = (Fleet::new(), Arc::<AtomicUsize>::default());
    let served = || pool([slow("pay", false, 60 * SECOND, &runs)]);
    let runner = fleet.run_pool(served());
    let (first, remote) = fleet.connect().await;
    let attempt = async |pool: &ToolPool, attempt| {
        let execution = Execution::new("nightly").with_attempt(attempt);
        let context = pool.context().in_execution(&Arc::new(execution));
        pool.call_with(ToolCall::new("pay", "{}"), &context).await
    };
    let kill = async {
        sleep(SECOND).await;
        runner.kill().await;
    };
    // No other runner is there, so the caller writes the outcome.
    let (result, ()) = tokio::join!(attempt(&first, 1), kill);
    assert_eq!(class(&result), Some(ErrorClass::Indeterminate));
    remote.close().await;
    let _runner = fleet.run_pool(served());
    let (second, _remote) = fleet.connect().await;
    assert_eq!(text(&attempt(&second, 2).await), text(&result));
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

/// A runner is cut off when it has claimed a call, before it could write that it starts. Another one runs it. The first one is
/// connected again when the outcome would have expired, or when the time of the call is over.
#[tokio::test(start_paused = true)]
async fn a_runner_that_was_cut_off_for_long_does_not_start_what_another_one_has_done() {
    for seconds in [700, 4000] {
        let runs = runs_after_cut(seconds * SECOND).await;
        assert_eq!(runs, 1, "after {seconds} s");
    }
}

async fn runs_after_cut(time: Duration) -> usize {
    let (fleet, runs) = (Fleet::new(), Arc::<AtomicUsize>::default());
    let served = || pool([slow("pay", false, SECOND, &runs)]);
    let cut = Cut::default();
    let board = FaultyBoard::new(fleet.board("runner"), &Faults::new(1, 0), cut.clone());
    let _first = fleet.start(Runner::new(board).queue("web".parse().unwrap()), served());
    let (pool, _remote) = fleet.connect().await;
    let other = async {
        let (hub, queue) = (fleet.board("keeper"), "web".parse().unwrap());
        while crate::Board::depth(&hub, &queue).await.unwrap().claimed == 0 {
            sleep(SECOND / 1000).await;
        }
        cut.set(true);
        fleet.run_pool(served())
    };
    let (result, _second) = tokio::join!(call(&pool, "pay"), other);
    assert_eq!((text(&result).as_str(), runs.load(Ordering::SeqCst)), ("done", 1));
    sleep(time).await;
    cut.set(false);
    sleep(20 * SECOND).await;
    runs.load(Ordering::SeqCst)
}
