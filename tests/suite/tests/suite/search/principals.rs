//! Exports and searches of a pool whose policy shows each principal other tools.

use super::super::support::Echo;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tool_runtime::Principal;
use tool_runtime::export::{Api, Export};
use tool_runtime::govern::{CallView, Decision, PolicyEngine};
use tool_runtime::prelude::*;
use tool_runtime::search::{ActiveTools, ToolSearch};

/// Shows `ada.mail` to `ada` alone, and hides `ping` while the flag is set.
#[derive(Clone, Default)]
struct OwnTools(Arc<AtomicBool>);

impl PolicyEngine for OwnTools {
    fn decide(&self, _: &CallView<'_>) -> Decision {
        Decision::allow()
    }

    fn visible(&self, tool: &ToolDefinition, principal: &Principal) -> bool {
        match tool.name.split_once('.') {
            Some((owner, _)) => owner == principal.id(),
            None => tool.name != "ping" || !self.0.load(Ordering::Relaxed),
        }
    }
}

const EVE: [&str; 4] = ["eve.files", "eve.mail", "ping", "tool_search"];
const ADA: [&str; 4] = ["ada.files", "ada.mail", "ping", "tool_search"];

fn pool(policy: &OwnTools, active: &ActiveTools) -> ToolPool {
    let tool = |name: &str, description: &str| {
        Tool::new(
            ToolDefinition::new(name, description).with_input_schema(json!({ "type": "object" })),
            Echo,
        )
    };
    let mut builder = ToolPool::builder().policy(policy.clone()).add(tool("ping", "Answer."));
    for owner in ["ada", "eve"] {
        builder = builder
            .add(tool(&format!("{owner}.mail"), &format!("Send mail of {owner}.")))
            .add(tool(&format!("{owner}.files"), &format!("Delete files of {owner}.")));
    }
    builder.add(ToolSearch::new().activating(active).into_tool()).build().unwrap()
}

fn ids(export: &Export) -> Vec<String> {
    export.tools().iter().map(|tool| tool.id.clone()).collect()
}

fn as_principal(pool: &ToolPool, id: &str) -> ToolPool {
    pool.for_principal(Principal::new(id))
}

#[test]
fn each_principal_exports_its_visible_tools_in_any_order() {
    let policy = OwnTools::default();
    let pool = pool(&policy, &ActiveTools::new(["*"]).unwrap());
    let (ada, eve) = (as_principal(&pool, "ada"), as_principal(&pool, "eve"));
    for api in [Api::Anthropic, Api::OpenAiChat, Api::Gemini] {
        for _ in 0..2 {
            assert_eq!(ids(&ada.snapshot().export(api)), ADA);
            assert_eq!(ids(&eve.snapshot().export(api)), EVE);
            assert_eq!(
                ids(&as_principal(&pool, "bob").snapshot().export(api)),
                ["ping", "tool_search"]
            );
            assert_eq!(ids(&ada.session().pool().snapshot().export(api)), ADA);
        }
        let export = ada.snapshot().export(api);
        assert!(!export.json().contains("eve"), "{}", export.json());
        assert!(Arc::ptr_eq(&export, &ada.snapshot().export(api)), "the export is cached");
        // A call of a hidden tool is read without restoring its arguments, and the pool denies it.
        assert_eq!(export.wire_name("ada.mail"), "ada__mail");
    }
    // The next export follows a changed decision of the policy.
    let before = ada.snapshot().export(Api::Anthropic);
    policy.0.store(true, Ordering::Relaxed);
    assert_eq!(
        ids(&ada.snapshot().export(Api::Anthropic)),
        ["ada.files", "ada.mail", "tool_search"]
    );
    policy.0.store(false, Ordering::Relaxed);
    assert_eq!(ada.snapshot().export(Api::Anthropic).json(), before.json());
}

/// The names that a search returns.
async fn search(pool: &ToolPool, context: &ToolContext, query: &str) -> Vec<String> {
    let call = ToolCall::json("tool_search", json!({ "query": query, "limit": 50 }));
    let result = pool.call_with(call, context).await;
    let found = result.observation().structured().expect("a structured result").clone();
    let names = found["tools"].as_array().expect("a list").iter();
    names.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

#[tokio::test]
async fn a_search_neither_returns_nor_activates_hidden_tools() {
    let active = ActiveTools::new(["tool_search"]).unwrap();
    let pool = pool(&OwnTools::default(), &active);
    let (ada, eve) = (as_principal(&pool, "ada"), as_principal(&pool, "eve"));
    for _ in 0..2 {
        let words = "delete the files";
        for (pool, owner) in [(&eve, "eve."), (&ada, "ada.")] {
            let found = search(pool, &pool.context(), words).await;
            assert_eq!(found[0], format!("{owner}files"));
            assert!(found.iter().all(|name| name.starts_with(owner)), "{found:?}");
        }
        let named = "select:ada.mail,ada__mail,ping";
        assert_eq!(search(&eve, &eve.context(), named).await, ["ping"]);
        // Through one handle for many callers, the caller counts.
        let caller = pool.context().with_principal(Principal::new("eve"));
        assert_eq!(search(&pool, &caller, "select:ada.mail,eve.mail").await, ["eve.mail"]);
        let stranger = eve.context().with_principal(Principal::new("bob"));
        assert_eq!(search(&eve, &stranger, "select:ada.mail,eve.mail").await, [""; 0]);
    }
    // Activated for one, a tool is not shown to the other.
    for (pool, other) in [(&eve, "ada."), (&ada, "eve.")] {
        assert!(active.activated().iter().any(|name| name.starts_with(other)));
        let shown = ids(&active.export(&pool.snapshot(), Api::Anthropic));
        assert!(shown.contains(&"ping".to_owned()), "{shown:?}");
        assert!(!shown.iter().any(|name| name.starts_with(other)), "{shown:?}");
    }
}

#[tokio::test]
async fn restrictions_and_visibility_narrow_a_search_together() {
    let pool = pool(&OwnTools::default(), &ActiveTools::new(["*"]).unwrap());
    let ada = as_principal(&pool, "ada");
    let _only = ada.restrict(["*.mail", "tool_search"]).unwrap();
    assert_eq!(
        search(&ada, &ada.context(), "select:ada.mail,ada.files,eve.mail").await,
        ["ada.mail"]
    );
    assert_eq!(ids(&ada.snapshot().export(Api::Gemini)), ["ada.mail", "tool_search"]);
}
