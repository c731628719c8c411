//! Calls that are steps: of an execution, made elsewhere, or of a tool of another process.

use crate::govern::approval::{Approval, ApprovalRequest, Approver};
use crate::govern::hook::{Before, Hook, HookCall};
use crate::govern::rounds::CallRounds;
use crate::govern::{Begin, CallEvent, CallStage, Receipt, RecordError, Recorder, StepStore};
use crate::pool::{ToolPool, ToolPoolBuilder};
use crate::tool::arguments::Arguments;
use crate::tool::call::{ToolCall, ToolResult};
use crate::tool::context::{Execution, StepId, ToolContext};
use crate::tool::offering::prompt::Prompt;
use crate::tool::offering::text_arguments::TextArguments;
use crate::tool::results::observation::Observation;
use crate::tool::tool::definition::ToolDefinition;
use crate::tool::tool::transform::ToolTransform;
use crate::tool::tool::{Executor, Tool};
use crate::vocabulary::annotations::RetryMode;
use crate::vocabulary::error::{CallError, ErrorClass};
use crate::vocabulary::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::future::{pending, ready};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

/// What was seen, in order.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn push(&self, what: &str, step: Option<&StepId>) {
        let step = step.map_or("none", StepId::as_str);
        self.0.lock().unwrap().push(format!("{what}: {step}"));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Recorder for Seen {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        let stage = match event.stage {
            CallStage::Proposed => "proposed",
            CallStage::Decided { .. } => "decided",
            CallStage::Started { .. } => "started",
            CallStage::Finished { .. } => "finished",
            _ => "other",
        };
        self.push(stage, event.call.step());
        Receipt::recorded()
    }
}

/// Notes the step of its call.
struct Note(Seen);

impl Executor for Note {
    fn call<'a>(
        &'a self,
        _: Arguments<'a>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        self.0.push("ran", context.step());
        Box::pin(ready(Ok(Observation::text("done"))))
    }
}

fn new_step() -> StepId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    StepId::new(format!("random-{}", NEXT.fetch_add(1, Ordering::Relaxed)))
}

fn remote(name: &str, executor: impl Executor) -> Tool {
    Tool::remote(Arc::new(ToolDefinition::new(name, "Do it elsewhere.")), executor, new_step)
}

/// A tool on the plain path.
fn plain(name: &str, seen: &Seen) -> Tool {
    let seen = seen.clone();
    Tool::builder(name, "Do it here.").handler(
        move |_: Map<String, Value>, context: ToolContext| {
            seen.push("ran", context.step());
            ready("done")
        },
    )
}

fn pool(tools: impl IntoIterator<Item = Tool>) -> ToolPoolBuilder {
    tools.into_iter().fold(ToolPool::builder(), ToolPoolBuilder::add)
}

async fn call(pool: &ToolPool, name: &str, context: &ToolContext) -> ToolResult {
    pool.call_with(ToolCall::new(name, "{}"), context).await
}

fn step_context(pool: &ToolPool) -> ToolContext {
    pool.context().as_step(StepId::new("given"))
}

fn order(pool: &ToolPool) -> ToolContext {
    pool.context().in_execution(&Arc::new(Execution::new("order-17")))
}

#[tokio::test]
async fn a_given_step_is_that_of_one_call() {
    let seen = Seen::default();
    let pool = pool([plain("here", &seen), Tool::new(custom("own"), Note(seen.clone()))]).build();
    let pool = pool.unwrap();
    for name in ["here", "own"] {
        let context = step_context(&pool);
        assert_eq!(context.step(), None, "it is that of the next call");
        call(&pool, name, &context).await;
        call(&pool, name, &context).await;
        assert_eq!(seen.take(), ["ran: given", "ran: none"], "{name}");
        step_context(&pool).call(ToolCall::new(name, "{}")).await;
        assert_eq!(seen.take(), ["ran: given"], "{name}");
    }
}

fn custom(name: &str) -> ToolDefinition {
    ToolDefinition::new(name, "Do it.")
}

#[tokio::test]
async fn a_hook_that_calls_another_tool_does_not_use_the_step_of_its_call() {
    let seen = Seen::default();
    let other = pool([plain("other", &seen)]).build().unwrap();
    let hook = Hook::before("first", move |call: HookCall| {
        let other = other.clone();
        async move {
            other.call_with(ToolCall::new("other", "{}"), call.context()).await;
            call.context().call(ToolCall::new("second", "{}")).await;
            Before::proceed()
        }
    });
    let pool = pool([plain("first", &seen), plain("second", &seen)]).hook(hook).build().unwrap();
    call(&pool, "first", &step_context(&pool)).await;
    assert_eq!(seen.take(), ["ran: none", "ran: none", "ran: given"]);
}

/// Calls `here` of its own pool, and of another pool with its own context.
struct Relay {
    other: ToolPool,
    seen: Seen,
}

impl Executor for Relay {
    fn call<'a>(
        &'a self,
        _: Arguments<'a>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move {
            self.seen.push("relay", context.step());
            context.call(ToolCall::new("here", "{}")).await;
            call(&self.other, "here", context).await;
            call(&self.other, "own", context).await;
            Ok(Observation::text("done"))
        })
    }
}

#[tokio::test]
async fn calls_of_a_tool_do_not_have_its_step() {
    let seen = Seen::default();
    let own = || Tool::new(custom("own"), Note(seen.clone()));
    let other = pool([plain("here", &seen), own()]).build().unwrap();
    let relay = Relay { other, seen: seen.clone() };
    let pool = pool([Tool::new(custom("relay"), relay), plain("here", &seen)]).build().unwrap();
    call(&pool, "relay", &step_context(&pool)).await;
    assert_eq!(seen.take(), ["relay: given", "ran: none", "ran: none", "ran: none"]);
}

#[tokio::test]
async fn prompts_and_resources_are_no_steps() {
    let seen = Seen::default();
    let prompt = |seen: Seen| {
        Prompt::builder("greet", "Greet.").handler(move |_: TextArguments, context: ToolContext| {
            seen.push("greeted", context.step());
            ready("Hello")
        })
    };
    for is_governed in [false, true] {
        let builder = ToolPool::builder().add_prompt(prompt(seen.clone()));
        let records = Seen::default();
        let builder = if is_governed { builder.recorder(records) } else { builder };
        let pool = builder.build().unwrap();
        let context = step_context(&pool).within_step(Arc::new(StepId::new("outer")));
        for context in [context, step_context(&pool)] {
            pool.get_prompt("greet", &TextArguments::new(), &context).await.unwrap();
            assert_eq!(seen.take(), ["greeted: none"]);
        }
    }
}

#[tokio::test]
async fn a_call_in_an_execution_has_the_same_step_whatever_governs_it() {
    let (seen, records) = (Seen::default(), Seen::default());
    let bare = pool([plain("here", &seen)]).build().unwrap();
    let recorded = pool([plain("here", &seen)]).recorder(records.clone()).build().unwrap();
    call(&bare, "here", &order(&bare)).await;
    call(&recorded, "here", &order(&recorded)).await;
    let ran = seen.take();
    assert_eq!(ran[0], ran[1]);
    assert_eq!(ran[0].replace("ran:", "proposed:"), records.take()[0]);
}

#[tokio::test]
async fn a_remote_tool_has_a_random_step_that_its_recorder_sees_from_the_proposal_to_the_end() {
    let (seen, records) = (Seen::default(), Seen::default());
    let pool = pool([remote("far", Note(seen.clone()))]).recorder(records.clone()).build().unwrap();
    for _ in 0..2 {
        call(&pool, "far", &pool.context()).await;
    }
    let (ran, recorded) = (seen.take(), records.take());
    assert!(ran[0].starts_with("ran: random-"), "{ran:?}");
    assert_ne!(ran[0], ran[1]);
    for (ran, recorded) in ran.iter().zip(recorded.chunks(4)) {
        let of = |stage| ran.replace("ran:", &format!("{stage}:"));
        assert_eq!(recorded, ["proposed", "decided", "started", "finished"].map(of));
    }
}

#[tokio::test]
async fn the_step_of_a_remote_tool_is_given_or_else_of_the_execution_or_else_random() {
    let (seen, local) = (Seen::default(), Seen::default());
    let tools = [remote("far", Note(seen.clone())), plain("here", &local)];
    let pool = pool(tools).build().unwrap();
    call(&pool, "far", &order(&pool).as_step(StepId::new("given"))).await;
    call(&pool, "far", &order(&pool)).await;
    call(&pool, "far", &order(&pool)).await;
    call(&pool, "far", &pool.context()).await;
    call(&pool, "here", &pool.context()).await;
    let ran = seen.take();
    assert_eq!(ran[0], "ran: given");
    assert_eq!(ran[1], ran[2], "the repeated execution");
    assert!(!ran[1].contains("random") && ran[3].contains("random"), "{ran:?}");
    assert_eq!(local.take(), ["ran: none"], "a tool of this process");
}

#[tokio::test]
async fn a_transform_of_a_remote_tool_is_remote() {
    let seen = Seen::default();
    let far = remote("far", Note(seen.clone()));
    let near = far.transform(&ToolTransform::new().name("near")).unwrap();
    let pool = pool([near]).build().unwrap();
    call(&pool, "near", &step_context(&pool)).await;
    call(&pool, "near", &pool.context()).await;
    let ran = seen.take();
    assert_eq!(ran[0], "ran: given");
    assert!(ran[1].starts_with("ran: random-"), "{ran:?}");
}

#[tokio::test(start_paused = true)]
async fn a_remote_tool_keeps_its_own_time_and_its_results_are_checked() {
    struct Slow;
    impl Executor for Slow {
        fn call<'a>(
            &'a self,
            _: Arguments<'a>,
            _: &'a ToolContext,
        ) -> BoxFuture<'a, Result<Observation, CallError>> {
            Box::pin(async {
                tokio::time::sleep(Duration::from_secs(60)).await;
                Ok(Observation::json(&json!({ "sum": "three" })).unwrap())
            })
        }
    }
    let schema = json!({ "type": "object", "properties": { "sum": { "type": "integer" } } });
    let mut definition = custom("far");
    definition.output_schema = schema.as_object().cloned();
    let far = Tool::remote(Arc::new(definition), Slow, new_step);
    assert!(!far.declares_access());
    let near = far.transform(&ToolTransform::new().name("near")).unwrap();
    let pool = pool([far, near]).timeout(Duration::from_secs(1)).build().unwrap();
    for name in ["far", "near"] {
        let result = call(&pool, name, &pool.context()).await;
        let error = result.error().unwrap();
        assert_eq!(error.class(), ErrorClass::Internal, "{error}");
        assert!(error.detail().unwrap().contains("output schema"), "{error:?}");
    }
}

/// Waits in its first call, and notes the step of each.
struct WaitOnce {
    seen: Seen,
    has_waited: AtomicBool,
    waits: Arc<Notify>,
}

impl Executor for WaitOnce {
    fn call<'a>(
        &'a self,
        _: Arguments<'a>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move {
            self.seen.push("ran", context.step());
            if !self.has_waited.swap(true, Ordering::SeqCst) {
                self.waits.notify_one();
                pending::<()>().await;
            }
            Ok(Observation::text("done"))
        })
    }
}

#[tokio::test]
async fn all_rounds_of_a_call_are_one_step_also_without_a_record() {
    for is_recorded in [false, true] {
        let (seen, waits) = (Seen::default(), Arc::new(Notify::new()));
        let has_waited = AtomicBool::new(false);
        let executor = WaitOnce { seen: seen.clone(), has_waited, waits: Arc::clone(&waits) };
        let builder = pool([remote("far", executor)]);
        let builder = if is_recorded { builder.recorder(Seen::default()) } else { builder };
        let pool = builder.build().unwrap();
        let rounds = Arc::new(CallRounds::default());
        let context = pool.context().with_rounds(Arc::clone(&rounds) as _);
        tokio::select! {
            _ = call(&pool, "far", &context) => panic!("the first round has no answer"),
            () = async { waits.notified().await; rounds.interrupt() } => {}
        }
        rounds.resume();
        call(&pool, "far", &context).await;
        let ran = seen.take();
        assert!(ran[0].starts_with("ran: random-"), "{ran:?}");
        assert_eq!(ran[0], ran[1]);
        assert!(rounds.has_effect(), "it would run again with another step");
    }
}

/// Lets only calls run that are safe to retry. Notes what is looked up.
#[derive(Clone)]
struct Interrupted(Seen);

impl StepStore for Interrupted {
    fn begin<'a>(
        &'a self,
        step: &'a StepId,
        mode: RetryMode,
    ) -> BoxFuture<'a, Result<Begin, RecordError>> {
        self.0.push("looked up", Some(step));
        Box::pin(ready(Ok(match mode {
            RetryMode::SafeToRetry => Begin::Run,
            RetryMode::AtMostOnce => Begin::Indeterminate,
        })))
    }
}

#[tokio::test]
async fn an_interrupted_call_of_a_remote_tool_is_taken_up_again() {
    let (seen, store) = (Seen::default(), Interrupted(Seen::default()));
    let far = remote("far", Note(seen.clone()));
    let near = far.transform(&ToolTransform::new().name("near")).unwrap();
    let tools = [far, near, Tool::new(custom("own"), Note(seen.clone()))];
    let pool = pool(tools).step_store(store).build().unwrap();
    for (name, runs) in [("far", true), ("near", true), ("own", false)] {
        let result = call(&pool, name, &order(&pool)).await;
        let class = result.error().map(CallError::class);
        assert_eq!(class, (!runs).then_some(ErrorClass::Indeterminate), "{name}");
    }
    assert_eq!(seen.take().len(), 2);
}

#[tokio::test]
async fn a_step_without_an_execution_is_not_looked_up() {
    let (seen, looked_up) = (Seen::default(), Seen::default());
    let tools = [remote("far", Note(seen.clone())), Tool::new(custom("own"), Note(seen.clone()))];
    let pool = pool(tools).step_store(Interrupted(looked_up.clone())).build().unwrap();
    call(&pool, "far", &pool.context()).await;
    call(&pool, "own", &step_context(&pool)).await;
    assert_eq!(seen.take().len(), 2);
    assert!(looked_up.take().is_empty());
    call(&pool, "far", &order(&pool).as_step(StepId::new("given"))).await;
    assert_eq!(looked_up.take(), ["looked up: given"]);
}

#[tokio::test]
async fn a_question_has_the_step_of_an_execution_alone() {
    struct Ask(Seen);
    impl Approver for Ask {
        fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
            self.0.push("asked", request.step());
            Box::pin(ready(Approval::approved()))
        }
    }
    let asked = Seen::default();
    let hook = Hook::before("*", |_: HookCall| async { Before::ask("Do it?") });
    let builder = pool([remote("far", Note(Seen::default()))]).hook(hook);
    let pool = builder.approver(Ask(asked.clone())).build().unwrap();
    call(&pool, "far", &pool.context()).await;
    call(&pool, "far", &step_context(&pool)).await;
    call(&pool, "far", &order(&pool).as_step(StepId::new("given"))).await;
    assert_eq!(asked.take(), ["asked: none", "asked: none", "asked: given"]);
}

#[tokio::test]
async fn work_that_outlives_its_call_is_no_step() {
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let running = pool.context().within_step(Arc::new(StepId::new("one")));
    assert_eq!(running.step().map(StepId::as_str), Some("one"));
    assert_eq!(running.detached().step(), None);
    assert!(!step_context(&pool).detached().makes_steps());
}
