//! A program that ends between an approval and the call neither loses the call nor makes it twice.

use super::super::support::{class, in_time};
use super::inbox::question;
use super::{Directory, Removed, builder, remove_call};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tool_runtime::BoxFuture;
use tool_runtime::approvals::{ApprovalAnswer, ApprovalStore, FileStore, Inbox};
use tool_runtime::govern::{
    Begin, CallEvent, CallStage, Receipt, RecordError, Recorder, StepStore,
};
use tool_runtime::prelude::*;
use tool_runtime::tool::{Execution, RetryMode, StepId};

/// The started and ended steps, which outlive the program. A start may wait.
#[derive(Clone, Default)]
struct Steps {
    known: Arc<Mutex<HashMap<StepId, Option<String>>>>,
    /// Notified when a start waits for its record, which then never comes.
    waits: Option<Arc<Notify>>,
    is_recorded: bool,
}

impl Recorder for Steps {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        let Some(step) = event.call.step() else { return Receipt::recorded() };
        match event.stage {
            CallStage::Started { .. } => {
                if self.waits.is_none() || self.is_recorded {
                    self.known.lock().unwrap().insert(step.clone(), None);
                }
                if let Some(waits) = &self.waits {
                    waits.notify_one();
                    return Receipt::pending(std::future::pending());
                }
            }
            CallStage::Finished { outcome: Ok(observation), duration: Some(_), .. } => {
                self.known.lock().unwrap().insert(step.clone(), Some(observation.to_text()));
            }
            _ => {}
        }
        Receipt::recorded()
    }
}

impl StepStore for Steps {
    fn begin<'a>(
        &'a self,
        step: &'a StepId,
        mode: RetryMode,
    ) -> BoxFuture<'a, Result<Begin, RecordError>> {
        let begin = match (self.known.lock().unwrap().get(step), mode) {
            (None, _) | (Some(None), RetryMode::SafeToRetry) => Begin::Run,
            (Some(None), _) => Begin::Indeterminate,
            (Some(Some(text)), _) => Begin::Replay(Ok(Observation::text(text))),
        };
        Box::pin(std::future::ready(Ok(begin)))
    }
}

/// One start of the program.
struct Program {
    pool: ToolPool,
    store: FileStore,
}

impl Program {
    fn start(directory: &Directory, removed: &Removed, steps: &Steps) -> Self {
        let store = FileStore::open(&directory.0).unwrap().poll_interval(Duration::from_millis(5));
        let pool = builder(removed, |decision| decision).approver(Inbox::new(store.clone()));
        let pool = pool.step_store(steps.clone()).recorder(steps.clone()).build().unwrap();
        Self { pool, store }
    }

    async fn run(&self) -> ToolResult {
        let context = self.pool.context().in_execution(&Arc::new(Execution::new("order-17")));
        in_time(self.pool.call_with(remove_call("a"), &context)).await
    }

    /// Runs until `end`, and drops the call then, as a crash does.
    async fn run_until(&self, end: impl Future<Output = ()>) {
        tokio::select! {
            result = self.run() => panic!("it ended: {result:?}"),
            () = end => {}
        }
    }

    async fn approve(&self) {
        let id = question(&self.store).await.request.id;
        self.store.answer(&id, ApprovalAnswer::approve()).await.unwrap();
    }
}

/// Runs an approved call until its start waits for its record, and drops it then.
async fn crash_at_the_start(
    directory: &Directory,
    removed: &Removed,
    steps: &Steps,
    is_recorded: bool,
) {
    let waits = Arc::new(Notify::new());
    let crashing = Steps { waits: Some(Arc::clone(&waits)), is_recorded, ..steps.clone() };
    let program = Program::start(directory, removed, &crashing);
    let started = async {
        program.approve().await;
        waits.notified().await;
    };
    program.run_until(started).await;
    assert!(removed.all().is_empty());
}

async fn check_one_run_without_a_question(directory: &Directory, removed: &Removed, steps: &Steps) {
    for _ in 0..2 {
        let again = Program::start(directory, removed, steps).run().await;
        assert_eq!(again.observation().to_text(), "removed a");
        assert_eq!(removed.all(), ["a by hunter2"], "it ran once");
    }
}

#[tokio::test]
async fn an_answer_that_comes_after_the_end_of_the_program_counts() {
    let (directory, removed) = (Directory::new("late"), Removed::default());
    let steps = Steps::default();
    let first = Program::start(&directory, &removed, &steps);
    first.run_until(async { drop(question(&first.store).await) }).await;
    first.approve().await;
    check_one_run_without_a_question(&directory, &removed, &steps).await;
}

#[tokio::test]
async fn a_crash_between_the_approval_and_the_start_does_not_lose_the_call() {
    let (directory, removed) = (Directory::new("before"), Removed::default());
    let steps = Steps::default();
    crash_at_the_start(&directory, &removed, &steps, false).await;
    check_one_run_without_a_question(&directory, &removed, &steps).await;
}

#[tokio::test]
async fn a_crash_after_the_start_does_not_repeat_the_call() {
    let (directory, removed) = (Directory::new("after"), Removed::default());
    let steps = Steps::default();
    crash_at_the_start(&directory, &removed, &steps, true).await;
    let again = Program::start(&directory, &removed, &steps).run().await;
    assert_eq!(class(&again), ErrorClass::Indeterminate);
    assert!(removed.all().is_empty());
}

#[tokio::test]
async fn a_denial_applies_to_the_repeated_step() {
    let (directory, removed) = (Directory::new("denied"), Removed::default());
    let steps = Steps::default();
    let first = Program::start(&directory, &removed, &steps);
    let deny = async {
        let id = question(&first.store).await.request.id;
        first.store.answer(&id, ApprovalAnswer::deny("no".to_owned())).await.unwrap();
    };
    let (result, ()) = tokio::join!(first.run(), deny);
    assert_eq!(class(&result), ErrorClass::ApprovalRejected);
    let again = Program::start(&directory, &removed, &steps).run().await;
    assert_eq!(class(&again), ErrorClass::ApprovalRejected);
    assert!(removed.all().is_empty());
}
