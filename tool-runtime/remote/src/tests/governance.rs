//! Both sides govern a call.

use super::faulty::FaultyBoard;
use super::fleet::*;
use crate::Remote;
use std::sync::{Arc, Mutex};
use tool_runtime::tool;
use tool_runtime_core::govern::{
    CallEvent, CallStage, CallView, Decision, PolicyEngine, Receipt, Recorder,
};
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::{Tool, ToolCall};
use tool_runtime_core::vocabulary::Principal;
use tool_runtime_core::vocabulary::error::ErrorClass;

/// Keeps the step of each event, by the names of the events.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<Vec<Recorded>>>);

/// The name of an event, and its step.
type Recorded = (String, Option<String>);

impl Recorder for Steps {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        let stage = match event.stage {
            CallStage::Proposed => "proposed",
            CallStage::Started { .. } => "started",
            CallStage::Finished { .. } => "finished",
            _ => return Receipt::recorded(),
        };
        let step = event.call.step().map(ToString::to_string);
        self.0.lock().unwrap().push((stage.to_owned(), step));
        Receipt::recorded()
    }
}

impl Steps {
    fn taken(&self) -> Vec<Recorded> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

struct Deny;

impl PolicyEngine for Deny {
    fn decide(&self, _: &CallView<'_>) -> Decision {
        Decision::deny("not here").with_rule("runner-rule")
    }
}

/// Names its caller; needs a scope.
fn whoami() -> Tool {
    Tool::builder("whoami", "Name the caller.").scopes(["web"]).handler(
        |_: serde_json::Map<String, serde_json::Value>,
         context: tool_runtime_core::tool::ToolContext| async move {
            context.principal().id().to_owned()
        },
    )
}

#[tokio::test(start_paused = true)]
async fn both_logs_have_the_same_step_without_an_execution_too() {
    let (here, there) = (Steps::default(), Steps::default());
    let fleet = Fleet::new();
    let served = ToolPool::builder().add(ping()).recorder(there.clone()).build().unwrap();
    let _runner = fleet.run_pool(served);
    let pool = ToolPool::builder().allow_empty().recorder(here.clone()).build().unwrap();
    let _remote = fleet.caller().connect(&pool).await.unwrap();
    call(&pool, "ping").await;
    let (here, there) = (here.taken(), there.taken());
    assert_eq!(here, there);
    assert_eq!(here.len(), 3);
    assert!(here[0].1.as_ref().is_some_and(|step| step.len() == 32), "{here:?}");
}

#[tokio::test(start_paused = true)]
async fn the_runner_s_policy_decides_again() {
    let fleet = Fleet::new();
    let served = ToolPool::builder().add(ping()).policy(Deny).build().unwrap();
    let _runner = fleet.run_pool(served);
    let (pool, _remote) = fleet.connect().await;
    let result = call(&pool, "ping").await;
    assert_eq!(class(&result), Some(ErrorClass::Denied));
    assert!(text(&result).contains("not here"), "{}", text(&result));
}

#[tokio::test(start_paused = true)]
async fn the_caller_s_policy_decides_before_anything_is_submitted() {
    let fleet = Fleet::new();
    let log = Steps::default();
    let served = ToolPool::builder().add(ping()).recorder(log.clone()).build().unwrap();
    let _runner = fleet.run_pool(served);
    let pool = ToolPool::builder().allow_empty().policy(Deny).build().unwrap();
    let _remote = fleet.caller().connect(&pool).await.unwrap();
    assert_eq!(class(&call(&pool, "ping").await), Some(ErrorClass::Denied));
    assert!(log.taken().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_owner_of_the_caller_s_process_is_not_the_owner_of_the_runner_s() {
    let fleet = Fleet::new();
    let _runner = fleet.run([whoami()]);
    let (pool, _remote) = fleet.connect().await;
    let anonymous = call(&pool, "whoami").await;
    assert_eq!(class(&anonymous), Some(ErrorClass::Denied), "{}", text(&anonymous));
    let ada = Principal::new("ada").with_scopes(["web"]);
    let context = pool.context().with_principal(ada);
    let result = pool.call_with(ToolCall::new("whoami", "{}"), &context).await;
    assert_eq!(text(&result), "ada");
}

#[tokio::test(start_paused = true)]
async fn a_runner_decides_as_whom_calls_of_a_caller_run() {
    let fleet = Fleet::new();
    let runner = fleet.runner().principals(|caller, asserted| match asserted.id() {
        "mallory" => None,
        // Unrestricted here, and restricted all the same.
        "root" => Some(Principal::anonymous()),
        _ => Some(Principal::new(caller.as_str()).with_scopes(["web"])),
    });
    let _runner = fleet.start(runner, pool([whoami()]));
    let (pool, _remote) = fleet.connect().await;
    let as_whom = async |id: &str| {
        let context = pool.context().with_principal(Principal::new(id).with_scopes(["web"]));
        pool.call_with(ToolCall::new("whoami", "{}"), &context).await
    };
    assert_eq!(text(&as_whom("ada").await), "pool1");
    assert_eq!(class(&as_whom("mallory").await), Some(ErrorClass::Denied));
    assert_eq!(class(&as_whom("root").await), Some(ErrorClass::Denied));
}

#[tokio::test(start_paused = true)]
async fn hints_count_only_if_runners_are_trusted() {
    let fleet = Fleet::new();
    let _runner = fleet.run([ping()]);
    let pool = pool([]);
    let _remote = fleet.caller().trust(false).connect(&pool).await.unwrap();
    let definition = pool.get("ping").unwrap();
    assert!(!definition.definition().effective_annotations().is_read_only());
}

#[tokio::test(start_paused = true)]
async fn secret_arguments_do_not_travel_in_clear() {
    /// Sign in.
    #[tool]
    async fn login(
        /// The password.
        #[arg(secret)]
        password: String,
    ) -> usize {
        password.len()
    }
    let fleet = Fleet::new();
    let _runner = fleet.run([Tool::from_action::<LoginAction>(), ping()]);
    let call = ToolCall::new("login", r#"{ "password": "hunter2" }"#);
    let (confidential, _one) = fleet.connect().await;
    assert_eq!(text(&confidential.call(call.clone()).await), "7");
    let pool = pool([]);
    let board = FaultyBoard::in_clear(fleet.board("pool2"));
    let _two = Remote::builder(board).connect(&pool).await.unwrap();
    let refused = pool.call(call).await;
    assert_eq!(class(&refused), Some(ErrorClass::Denied));
    assert!(text(&refused).contains("is not encrypted; use https there"), "{}", text(&refused));
    assert_eq!(text(&super::fleet::call(&pool, "ping").await), "pong");
}
