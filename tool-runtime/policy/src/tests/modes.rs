//! Permission modes.

use super::{fate, tools, yaml, yes};
use crate::PermissionMode::{AcceptEdits, Bypass, DontAsk, Plan};
use crate::{CanUse, NoSession, PermissionMode, Permissions, Policies, PoolRules as _};
use std::sync::{Arc, Mutex};
use tool_runtime_core::govern::hook::{Before, Hook, HookCall};
use tool_runtime_core::govern::{CallEvent, CallStage, Receipt, Recorder};
use tool_runtime_core::pool::ToolPoolBuilder;
use tool_runtime_core::tool::{
    Arguments, Executor, Observation, Tool, ToolContext, ToolDefinition,
};
use tool_runtime_core::vocabulary::error::CallError;
use tool_runtime_core::vocabulary::{BoxFuture, ToolAnnotations};

const MODES: [PermissionMode; 5] = [PermissionMode::Default, AcceptEdits, Plan, DontAsk, Bypass];
const TOOLS: [&str; 4] = ["fs.read", "fs.write", "run", "far"];

struct Pong;

impl Executor for Pong {
    fn call<'a>(
        &'a self,
        _: Arguments<'a>,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async { Ok(Observation::text("pong")) })
    }
}

/// `far` says that it only reads and edits, and is not trusted.
fn builder() -> ToolPoolBuilder {
    let hints = ToolAnnotations::default().with_read_only(true);
    let mut far = ToolDefinition::new("far", "Far.").with_annotations(hints);
    far.untrusted_annotations = true;
    far.tags = vec!["edit".to_owned()];
    tools().add(Tool::new(far, Pong))
}

#[tokio::test]
async fn the_table_of_modes_and_tools() {
    for (mode, expected, approved) in [
        (
            PermissionMode::Default,
            ["ran", "denied", "denied", "denied"],
            ["ran", "ran", "ran", "ran"],
        ),
        (AcceptEdits, ["ran", "ran", "denied", "denied"], ["ran", "ran", "ran", "ran"]),
        (Plan, ["ran", "denied", "denied", "denied"], ["ran", "denied", "denied", "denied"]),
        (DontAsk, ["ran", "denied", "denied", "denied"], ["ran", "denied", "denied", "denied"]),
        (Bypass, ["ran", "ran", "ran", "ran"], ["ran", "ran", "ran", "ran"]),
    ] {
        let pool = builder().permission_mode(mode).build().unwrap();
        let asking = builder().permission_mode(mode).approver(yes).build().unwrap();
        for (number, tool) in TOOLS.into_iter().enumerate() {
            assert_eq!(fate(&asking, tool).await, approved[number], "{mode:?} {tool}");
            assert_eq!(fate(&pool, tool).await, expected[number], "{mode:?} {tool}");
        }
    }
}

#[tokio::test]
async fn a_tool_for_plans_runs_while_a_plan_is_made() {
    let tool = Tool::builder("todo", "Note a step.").tags(["plan"]).handler(|| async { "noted" });
    let pool = tools().add(tool).permission_mode(Plan).build().unwrap();
    assert_eq!(fate(&pool, "todo").await, "ran");
    assert_eq!(fate(&pool, "run").await, "denied");
}

#[tokio::test]
async fn no_mode_and_no_callback_passes_a_denial() {
    let denial = "default: allow\nrules: [{id: no, when: {tools: [fs.*]}, then: deny}]";
    for mode in MODES {
        let policies = Policies::new().policy(yaml(denial)).engine(Permissions::new(mode));
        let pool = builder().install(policies).approver(yes).build().unwrap();
        assert_eq!(fate(&pool, "fs.read").await, "denied", "{mode:?}");
    }
    let allow = |_: HookCall| async { CanUse::Allow };
    let pool = builder().permission_mode(Plan).can_use(allow).approver(yes).build().unwrap();
    assert_eq!(fate(&pool, "fs.write").await, "denied");
}

#[tokio::test]
async fn nobody_is_asked_in_the_mode_that_says_so() {
    let ask = || yaml("rules: [{id: ask, then: ask}]");
    let policies = || Policies::new().policy(ask()).engine(Permissions::new(DontAsk));
    let pool = builder().install(policies()).approver(yes).build().unwrap();
    assert_eq!(fate(&pool, "fs.read").await, "denied", "another policy asks");
    let hook = Hook::before("*", |_: HookCall| async { Before::ask("Sure?") });
    let pool = builder().permission_mode(DontAsk).hook(hook).approver(yes).build().unwrap();
    assert_eq!(fate(&pool, "fs.read").await, "denied", "a hook asks");
}

#[tokio::test]
async fn tools_that_are_named_as_edits_are_edits() {
    let permissions = Permissions::new(AcceptEdits).edits("r*").unwrap();
    let pool = builder().policy(permissions).build().unwrap();
    for (tool, expected) in [("run", "ran"), ("fs.write", "ran"), ("far", "denied")] {
        assert_eq!(fate(&pool, tool).await, expected, "{tool}");
    }
}

#[tokio::test]
async fn a_session_has_a_mode_of_its_own() {
    let permissions = Permissions::new(Plan);
    let pool = builder().policy(permissions.clone()).build().unwrap();
    let session = pool.session();
    permissions.set_for(&session.pool().context(), Some(AcceptEdits)).unwrap();
    assert_eq!(fate(session.pool(), "fs.write").await, "ran");
    assert_eq!(fate(&pool, "fs.write").await, "denied");
    permissions.set_for(&session.pool().context(), None).unwrap();
    assert_eq!(fate(session.pool(), "fs.write").await, "denied");
}

#[tokio::test]
async fn a_session_that_is_narrowed_never_exceeds_the_pool() {
    let permissions = Permissions::new(Plan);
    let pool = builder().policy(permissions.clone()).build().unwrap();
    let session = pool.session();
    assert_eq!(permissions.narrow_for(&pool.context(), Bypass), Err(NoSession));
    for (mode, expected) in [(Bypass, AcceptEdits), (Plan, Plan)] {
        permissions.set(AcceptEdits);
        permissions.narrow_for(&session.pool().context(), mode).unwrap();
        for tool in TOOLS {
            let alone = builder().permission_mode(expected).build().unwrap();
            let (narrowed, alone) = (fate(session.pool(), tool).await, fate(&alone, tool).await);
            assert_eq!(narrowed, alone, "{mode:?} {tool}");
        }
    }
}

#[test]
fn modes_are_read_from_their_names_except_bypass() {
    assert!("bypass".parse::<PermissionMode>().unwrap_err().contains("by code alone"));
    assert!(serde_json::from_str::<PermissionMode>(r#""bypass""#).is_err());
    let error = "acept_edits".parse::<PermissionMode>().unwrap_err();
    assert!(error.contains("did you mean `accept_edits`?"), "{error}");
    let names = ["default", "accept_edits", "plan", "dont_ask", "bypass"];
    for (mode, name) in MODES.into_iter().zip(names) {
        assert_eq!(mode.as_str(), name);
        assert_eq!(serde_json::to_value(mode).unwrap(), name);
        let read = name.parse::<PermissionMode>().ok();
        assert_eq!(read, Some(mode).filter(|mode| *mode != Bypass));
    }
}

/// Keeps the rules of decisions.
#[derive(Clone, Default)]
struct Rules(Arc<Mutex<Vec<String>>>);

impl Recorder for Rules {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        if let CallStage::Decided { decision, .. } = event.stage {
            self.0.lock().unwrap().push(decision.rule().unwrap_or("none").to_owned());
        }
        Receipt::recorded()
    }
}

#[tokio::test]
async fn records_name_the_mode_that_decided_whatever_it_decided() {
    let rules = Rules::default();
    let pool = builder().permission_mode(Plan).recorder(rules.clone()).build().unwrap();
    for (tool, expected) in [("fs.read", "ran"), ("run", "denied")] {
        assert_eq!(fate(&pool, tool).await, expected);
        assert_eq!(rules.0.lock().unwrap().drain(..).collect::<Vec<_>>(), ["mode:plan"], "{tool}");
    }
}
