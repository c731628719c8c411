//! Records: every call, and each of its stages once.

use super::{Budget, Events, Paths, builder};
use crate::support::{class, in_time};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tool_runtime::CancellationToken;
use tool_runtime::govern::{
    Approval, ApprovalRequest, CallEvent, CallStage, Receipt, RecordError, Recorder,
};
use tool_runtime::hook::{After, AfterCall, Before, Hook, HookCall};
use tool_runtime::prelude::*;

const A: &str = r#"{"path":"a"}"#;

/// The events of one call of a pool with a policy, a hook and an approver.
async fn events(call: ToolCall) -> Vec<String> {
    let events = Events::default();
    let hook = Hook::before("write", |call: HookCall| async move {
        match call.view().argument("path").and_then(|path| path.as_str()) {
            Some("no") => Before::deny("never"),
            Some("other") => Before::rewrite(A),
            _ => Before::proceed(),
        }
    });
    let approver = |request: ApprovalRequest| async move {
        if request.tool() == "read" {
            Approval::approved().by("ada")
        } else {
            Approval::rejected("no").by("bob")
        }
    };
    let pool = builder().policy(Paths::default()).hook(hook).approver(approver);
    let pool = pool.recorder(events.clone()).build().unwrap();
    in_time(pool.call(call)).await;
    events.all()
}

#[tokio::test]
async fn a_success_is_proposed_decided_started_and_finished() {
    assert_eq!(
        events(ToolCall::new("read", A)).await,
        [
            r#"read proposed {"path":"a"}"#,
            "read decided allow",
            r#"read started {"path":"a"}"#,
            "read finished read a, ran",
        ]
    );
}

#[tokio::test]
async fn rewritten_arguments_are_recorded_from_then_on() {
    assert_eq!(
        events(ToolCall::new("write", r#"{"path":"other"}"#)).await,
        [
            r#"write proposed {"path":"other"}"#,
            "write decided allow",
            r#"write started {"path":"a"}"#,
            "write finished wrote a, ran",
        ]
    );
}

#[tokio::test]
async fn a_rejection_at_each_stage_is_recorded() {
    for (call, expected) in [
        (ToolCall::new("read", r#"{"path":1}"#), &["finished input"] as &[_]),
        (
            ToolCall::new("read", r#"{"path":"secret"}"#),
            &["decided deny rule s", "finished denied"],
        ),
        (ToolCall::new("write", r#"{"path":"no"}"#), &["decided deny", "finished denied"]),
        (
            ToolCall::new("write", r#"{"path":"odd"}"#),
            &["decided ask rule o", "decided deny by bob", "finished approval_rejected"],
        ),
        (ToolCall::new("unknown", r#"{"path":1}"#), &["finished not_found"]),
    ] {
        let events_of_call = events(call.clone()).await;
        let name = call.name();
        assert_eq!(events_of_call[0], format!("{name} proposed {}", call.arguments()));
        let expected: Vec<String> = expected.iter().map(|line| format!("{name} {line}")).collect();
        assert_eq!(events_of_call[1..], expected);
    }
}

#[tokio::test]
async fn an_approval_is_recorded_with_its_approver() {
    assert_eq!(
        events(ToolCall::new("read", r#"{"path":"odd"}"#)).await[1..3],
        ["read decided ask rule o", "read decided allow rule o by ada"]
    );
}

#[tokio::test]
async fn a_call_beyond_its_limit_and_one_that_is_restricted_are_recorded() {
    let events = Events::default();
    let pool = builder().limiter(Budget::new(0)).recorder(events.clone()).build().unwrap();
    pool.call(ToolCall::new("read", A)).await;
    let expected = [r#"proposed {"path":"a"}"#, "decided deny", "finished rate_limited"];
    assert_eq!(events.of_tool("read"), expected);
    let _restriction = pool.restrict(["read"]).unwrap();
    pool.call(ToolCall::new("write", A)).await;
    assert_eq!(events.of_tool("write"), [r#"proposed {"path":"a"}"#, "finished denied"]);
}

#[tokio::test]
async fn a_panic_and_a_timeout_are_recorded_as_the_end_of_a_call_that_ran() {
    assert_eq!(
        events(ToolCall::new("fail", r#"{"panic":true}"#)).await[2..],
        [r#"fail started {"panic":true}"#, "fail finished internal, ran"]
    );
    assert_eq!(
        events(ToolCall::new("fail", r#"{"panic":false}"#)).await[2..],
        [r#"fail started {"panic":false}"#, "fail finished timeout, ran"]
    );
}

#[tokio::test]
async fn a_cancelled_call_and_a_dropped_one_are_recorded() {
    let wait = Tool::builder("wait", "Wait.").handler(std::future::pending::<()>);
    let events = Events::default();
    let pool = ToolPool::builder().add(wait).recorder(events.clone()).build().unwrap();
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone());
    let mut call = Box::pin(pool.call_with(ToolCall::new("wait", "{}"), &context));
    assert!(futures_util::poll!(&mut call).is_pending());
    token.cancel();
    in_time(call).await;
    let mut dropped = Box::pin(pool.call(ToolCall::new("wait", "{}")));
    assert!(futures_util::poll!(&mut dropped).is_pending());
    drop(dropped);
    let one = ["proposed {}", "decided allow", "started {}", "finished cancelled, ran"];
    assert_eq!(events.of_tool("wait"), [one, one].concat());
}

#[tokio::test]
async fn the_outcome_is_recorded_as_the_caller_gets_it() {
    let events = Events::default();
    let hook = Hook::after("*", |_: HookCall, _: AfterCall| async {
        After::replace(Observation::text("(withheld)"))
    });
    let pool = builder().hook(hook).recorder(events.clone()).build().unwrap();
    pool.call(ToolCall::new("read", A)).await;
    assert_eq!(events.of_tool("read").last().unwrap(), "finished (withheld), ran");
}

#[tokio::test]
async fn a_nested_call_names_its_parent() {
    /// A tool, the number of its call and the number of the parent call.
    type Numbered = (String, u64, Option<u64>);
    #[derive(Clone, Default)]
    struct Parents(Arc<Mutex<Vec<Numbered>>>);
    impl Recorder for Parents {
        fn record(&self, event: CallEvent<'_>) -> Receipt {
            if let CallStage::Proposed = event.stage {
                let call = event.call;
                let parent = call.parent().map(|parent| parent.get());
                self.0.lock().unwrap().push((call.name().to_owned(), call.number().get(), parent));
            }
            Receipt::recorded()
        }
    }
    let outer = Tool::builder("outer", "Call others.").handler(
        |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| async move {
            let calls = [ToolCall::new("read", A), ToolCall::new("nothing", "")];
            context.call_all(calls).await.len()
        },
    );
    let parents = Parents::default();
    let pool = builder().add(outer).recorder(parents.clone()).build().unwrap();
    pool.call(ToolCall::new("outer", "")).await;
    let seen = parents.0.lock().unwrap().clone();
    let (_, number, parent) = &seen[0];
    assert_eq!((seen[0].0.as_str(), *parent), ("outer", None));
    assert_eq!(seen.len(), 3);
    assert!(seen[1..].iter().all(|(_, _, parent)| *parent == Some(*number)), "{seen:?}");
}

/// Fails to record anything but the proposal, or panics.
struct Full(bool);

impl Recorder for Full {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        match event.stage {
            CallStage::Proposed => Receipt::recorded(),
            _ if self.0 => panic!("disk on fire"),
            _ => Receipt::pending(async { Err(RecordError::new("disk full")) }),
        }
    }
}

#[tokio::test]
async fn only_repeatable_calls_run_without_a_record() {
    for panics in [false, true] {
        let pool = builder().recorder(Full(panics)).build().unwrap();
        let write = pool.call(ToolCall::new("write", A)).await;
        assert_eq!(class(&write), ErrorClass::Transient);
        assert_eq!(
            write.observation().to_text(),
            "`write` was not run, because the call could not be recorded; try again later"
        );
        assert!(write.error().unwrap().detail().unwrap().contains("disk"));
        assert_eq!(pool.call(ToolCall::new("read", A)).await.observation().to_text(), "read a");
    }
}

#[tokio::test]
async fn a_tool_starts_when_its_record_is_durable() {
    #[derive(Clone, Default)]
    struct Slow(Arc<Mutex<Vec<tokio::sync::oneshot::Sender<()>>>>);
    impl Recorder for Slow {
        fn record(&self, _: CallEvent<'_>) -> Receipt {
            let (sender, receiver) = tokio::sync::oneshot::channel();
            self.0.lock().unwrap().push(sender);
            Receipt::pending(async { receiver.await.map_err(|_| RecordError::new("gone")) })
        }
    }
    let (slow, ran) = (Slow::default(), Arc::new(AtomicBool::new(false)));
    let flag = Arc::clone(&ran);
    let run = Tool::builder("run", "Run.").handler(move || {
        flag.store(true, Ordering::Relaxed);
        std::future::ready("done")
    });
    let pool = ToolPool::builder().add(run).recorder(slow.clone()).build().unwrap();
    let mut call = Box::pin(pool.call(ToolCall::new("run", "")));
    assert!(futures_util::poll!(&mut call).is_pending());
    assert_eq!(slow.0.lock().unwrap().len(), 3);
    for sender in slow.0.lock().unwrap().drain(..) {
        assert!(!ran.load(Ordering::Relaxed));
        sender.send(()).unwrap();
    }
    assert!(futures_util::poll!(&mut call).is_pending(), "its end is not recorded yet");
    assert!(ran.load(Ordering::Relaxed));
    slow.0.lock().unwrap().drain(..).for_each(|sender| sender.send(()).unwrap());
    assert_eq!(in_time(call).await.observation().to_text(), "done");
}

/// Confirms no end before five calls have ended.
#[derive(Clone)]
struct Group {
    ended: Arc<tokio::sync::Semaphore>,
    confirmed: Arc<AtomicU32>,
}

impl Recorder for Group {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        if !matches!(event.stage, CallStage::Finished { .. }) {
            return Receipt::recorded();
        }
        self.ended.add_permits(1);
        let Self { ended, confirmed } = self.clone();
        Receipt::pending(async move {
            drop(ended.acquire_many(5).await);
            confirmed.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
    }
}

/// Without that, the log would wait for the third call, and the third call for the log, until a call gives up
/// the wait.
#[tokio::test(start_paused = true)]
async fn calls_of_a_batch_that_wait_for_the_log_let_the_next_ones_run() {
    for is_read_only in [true, false] {
        let tool = Tool::builder("ping", "Answer.").read_only(is_read_only);
        let ended = Arc::new(tokio::sync::Semaphore::new(0));
        let group = Group { ended, confirmed: Arc::default() };
        let pool = ToolPool::builder().add(tool.handler(|| async { "pong" }));
        let pool = pool.recorder(group.clone()).build().unwrap();
        let results = pool.batch(vec![ToolCall::new("ping", ""); 5]).limit(2).run().await;
        assert!(results.iter().all(|result| !result.is_error()));
        assert_eq!(group.confirmed.load(Ordering::Relaxed), 5);
    }
}

/// The outer call of a batch has not ended when a call that it makes has.
#[tokio::test]
async fn a_call_that_a_tool_makes_with_its_context_does_not_end_the_turn_of_the_tool() {
    let running = Arc::new(AtomicBool::new(false));
    let own = Arc::clone(&running);
    let handler = move |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| {
        let running = Arc::clone(&own);
        async move {
            let was_running = running.swap(true, Ordering::Relaxed);
            let pool = context.pool().expect("a pool");
            pool.call_with(ToolCall::new("ping", ""), &context).await;
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            running.store(false, Ordering::Relaxed);
            was_running
        }
    };
    let pool = ToolPool::builder()
        .add(Tool::builder("ping", "Answer.").handler(|| async { "pong" }))
        .add(Tool::builder("outer", "Ping.").handler(handler))
        .recorder(Events::default())
        .build()
        .unwrap();
    let results = in_time(pool.call_all(vec![ToolCall::new("outer", ""); 3])).await;
    assert!(results.iter().all(|result| result.observation().to_text() == "false"), "{results:?}");
}
