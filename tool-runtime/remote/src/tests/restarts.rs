//! A runner whose log outlives it.

use super::faulty::{Faults, FaultyBoard};
use super::fleet::*;
use crate::{Remote, Runner};
use std::collections::HashMap;
use std::future::ready;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;
use tool_runtime_core::{
    Begin, BoxFuture, CallEvent, CallStage, ErrorClass, Observation, Receipt, RecordError,
    Recorder, RetryMode, StepId, StepStore, ToolPool, ToolResult,
};

const SECOND: Duration = Duration::from_secs(1);

/// The texts of the results of steps.
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
    let cut = watch::Sender::new(false);
    let board = FaultyBoard::new(fleet.board("runner"), &Faults::new(1, 0), cut.subscribe());
    let runner = fleet.start(Runner::new(board).queue("web".parse().unwrap()), served(&log));
    let pool = pool([]);
    let _remote = Remote::builder(fleet.board("pool1")).connect(&pool).await.unwrap();
    let restart = async {
        sleep(SECOND).await;
        cut.send_replace(true);
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
