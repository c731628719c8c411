//! Permission modes.

use super::{builder, fate, reading, yaml, yes};
use tool_runtime::policy::PermissionMode::{AcceptEdits, Bypass, Default, DontAsk, Plan};
use tool_runtime::policy::{CanUse, PermissionMode, Permissions, Policies, PoolRules as _};
use tool_runtime::prelude::*;
use tool_runtime::{
    Arguments, Before, BoxFuture, CallError, Executor, Hook, HookCall, ToolAnnotations,
};

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

fn calls() -> [ToolCall; 4] {
    let path = || serde_json::json!({ "path": "a" });
    [
        reading("a"),
        ToolCall::json("fs.write", path()),
        ToolCall::new("run", ""),
        ToolCall::new("far", ""),
    ]
}

/// `far` says that it only reads and edits, and is not trusted.
fn tools() -> tool_runtime::ToolPoolBuilder {
    let run = Tool::builder("run", "Run.").handler(|| async { "ran" });
    let hints = ToolAnnotations::default().with_read_only(true);
    let mut far = ToolDefinition::new("far", "Far.").with_annotations(hints);
    far.untrusted_annotations = true;
    far.tags = vec!["edit".to_owned()];
    builder().add(run).add(Tool::new(far, Pong))
}

#[tokio::test]
async fn the_table_of_modes_and_tools() {
    for (mode, expected, approved) in [
        (Default, ["ran", "denied", "denied", "denied"], ["ran", "ran", "ran", "ran"]),
        (AcceptEdits, ["ran", "ran", "denied", "denied"], ["ran", "ran", "ran", "ran"]),
        (Plan, ["ran", "denied", "denied", "denied"], ["ran", "denied", "denied", "denied"]),
        (DontAsk, ["ran", "denied", "denied", "denied"], ["ran", "denied", "denied", "denied"]),
        (Bypass, ["ran", "ran", "ran", "ran"], ["ran", "ran", "ran", "ran"]),
    ] {
        let pool = tools().permission_mode(mode).build().unwrap();
        let asking = tools().permission_mode(mode).approver(yes).build().unwrap();
        for (number, call) in calls().into_iter().enumerate() {
            let name = call.name().to_owned();
            assert_eq!(fate(&asking, call.clone()).await, approved[number], "{mode:?} {name}");
            assert_eq!(fate(&pool, call).await, expected[number], "{mode:?} {name}");
        }
    }
}

#[tokio::test]
async fn no_mode_and_no_callback_passes_a_denial() {
    let denial = "default: allow\nrules: [{id: no, when: {tools: [fs.*]}, then: deny}]";
    for mode in [Default, AcceptEdits, Plan, DontAsk, Bypass] {
        let policies = Policies::new().policy(yaml(denial)).engine(Permissions::new(mode));
        let pool = tools().install(policies).approver(yes).build().unwrap();
        assert_eq!(fate(&pool, reading("a")).await, "denied", "{mode:?}");
    }
    let allow = |_: HookCall| async { CanUse::Allow };
    let pool = tools().permission_mode(Plan).can_use(allow).approver(yes).build().unwrap();
    assert_eq!(fate(&pool, calls()[1].clone()).await, "denied");
}

#[tokio::test]
async fn nobody_is_asked_in_the_mode_that_says_so() {
    let ask = || yaml("rules: [{id: ask, then: ask}]");
    let policies = || Policies::new().policy(ask()).engine(Permissions::new(DontAsk));
    let pool = tools().install(policies()).approver(yes).build().unwrap();
    assert_eq!(fate(&pool, reading("a")).await, "denied", "another policy asks");
    let hook = Hook::before("*", |_: HookCall| async { Before::ask("Sure?") });
    let pool = tools().permission_mode(DontAsk).hook(hook).approver(yes).build().unwrap();
    assert_eq!(fate(&pool, reading("a")).await, "denied", "a hook asks");
}

#[tokio::test]
async fn a_session_has_a_mode_of_its_own_and_a_child_never_more_than_its_parent() {
    let permissions = Permissions::new(Plan);
    let pool = tools().policy(permissions.clone()).build().unwrap();
    let session = pool.session();
    permissions.set_for(&session.pool().context(), Some(AcceptEdits)).unwrap();
    let write = || calls()[1].clone();
    assert_eq!(fate(session.pool(), write()).await, "ran");
    assert_eq!(fate(&pool, write()).await, "denied");
    permissions.set_for(&session.pool().context(), None).unwrap();
    assert_eq!(fate(session.pool(), write()).await, "denied");

    let modes = [Default, AcceptEdits, Plan, DontAsk, Bypass];
    for parent in modes {
        for child in modes {
            let parent = Permissions::new(parent);
            let parent_pool = tools().policy(parent.clone()).build().unwrap();
            let child_pool = tools().policy(parent.child(child)).build().unwrap();
            for call in calls() {
                if fate(&child_pool, call.clone()).await == "ran" {
                    assert_eq!(fate(&parent_pool, call).await, "ran", "{parent:?} {child:?}");
                }
            }
        }
    }
}

#[test]
fn bypass_is_not_read_from_texts() {
    assert!("bypass".parse::<PermissionMode>().unwrap_err().contains("by code alone"));
    assert!(serde_json::from_str::<PermissionMode>(r#""bypass""#).is_err());
    let error = "acept_edits".parse::<PermissionMode>().unwrap_err();
    assert!(error.contains("did you mean `accept_edits`?"), "{error}");
    assert_eq!(serde_json::from_str::<PermissionMode>(r#""plan""#).unwrap(), Plan);
}
