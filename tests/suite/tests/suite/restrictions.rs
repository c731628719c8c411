//! Restrictions of a running pool: they apply to lists and to calls of every kind.

use super::server::Server;
use super::support::{error_text, in_time, text};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};
use tokio::sync::Notify;
use tool_runtime::matching::ToolPattern;
use tool_runtime::pool::{Restriction, Source, ToolStatus};
use tool_runtime::prelude::*;

fn tool(name: &str) -> Tool {
    Tool::builder(name, "Answer at once.").read_only(true).handler(|| async { "pong" })
}

fn pool_of(names: &[&str]) -> ToolPool {
    let tools = names.iter().map(|name| tool(name));
    tools.fold(ToolPool::builder(), |pool, tool| pool.add(tool)).build().expect("a pool")
}

fn pool() -> ToolPool {
    pool_of(&["fs.list", "fs.read", "fs.write", "web.get", "web.post"])
}

fn names(pool: &ToolPool) -> Vec<String> {
    pool.tools().iter().map(|tool| tool.name().to_owned()).collect()
}

fn narrowed(pool: &ToolPool, to: &[&str]) -> Restriction {
    pool.restrict(to.iter().copied()).expect("patterns")
}

fn replaced(pool: &ToolPool, to: &[&str]) -> Restriction {
    pool.replace_restrictions(to.iter().copied()).expect("patterns")
}

#[test]
fn each_restriction_narrows_the_previous_one_until_dropped() {
    let pool = pool();
    let files = narrowed(&pool, &["fs.*"]);
    assert_eq!(names(&pool), ["fs.list", "fs.read", "fs.write"]);
    let two = narrowed(&pool, &["fs.read", "fs.write", "web.get"]);
    assert_eq!(names(&pool), ["fs.read", "fs.write"]);
    let one = narrowed(&pool, &["/read|post/"]);
    assert_eq!(names(&pool), ["fs.read"]);
    drop(one);
    assert_eq!(names(&pool), ["fs.read", "fs.write"]);
    drop(two);
    assert_eq!(names(&pool), ["fs.list", "fs.read", "fs.write"]);
    drop(files);
    assert_eq!(names(&pool).len(), 5);
}

#[test]
fn guards_may_be_dropped_in_any_order_and_after_the_pool() {
    let pool = pool();
    let files = narrowed(&pool, &["fs.*"]);
    let reads = narrowed(&pool, &["*.read", "*.get"]);
    drop(files);
    assert_eq!(names(&pool), ["fs.read", "web.get"]);
    let web = replaced(&pool, &["web.*"]);
    drop(reads);
    assert_eq!(names(&pool), ["web.get", "web.post"]);
    drop(pool);
    drop(web);
}

#[test]
fn a_replaced_restriction_is_narrowed_by_later_ones() {
    let pool = pool();
    let _files = narrowed(&pool, &["fs.*"]);
    let anew = replaced(&pool, &["web.*", "fs.read"]);
    assert_eq!(names(&pool), ["fs.read", "web.get", "web.post"]);
    let inner = narrowed(&pool, &["web.*", "fs.write"]);
    assert_eq!(names(&pool), ["web.get", "web.post"]);
    drop(inner);
    drop(anew);
    assert_eq!(names(&pool), ["fs.list", "fs.read", "fs.write"]);
}

#[test]
fn replacing_is_bounded_by_the_filter_and_by_the_handle_above() {
    let builder = ToolPool::builder().add(tool("fs.read")).add(tool("fs.write")).add(tool("rm"));
    let pool = builder.deny(["rm"]).build().expect("a pool");
    let _all = replaced(&pool, &["*"]);
    assert_eq!(names(&pool), ["fs.read", "fs.write"]);
    let agent = pool.scope();
    let _agent = replaced(&agent, &["*"]);
    let bound = narrowed(&pool, &["fs.read"]);
    assert_eq!(names(&agent), ["fs.read"]);
    drop(bound);
    assert_eq!(names(&agent), ["fs.read", "fs.write"]);
}

#[test]
fn sibling_handles_have_separate_restrictions() {
    let pool = pool();
    let (one, other) = (pool.scope(), pool.scope());
    let _one = narrowed(&one, &["fs.*"]);
    let _other = narrowed(&other, &["web.*"]);
    let inner = one.scope();
    let _inner = narrowed(&inner, &["*.read", "*.get"]);
    assert_eq!(names(&pool).len(), 5);
    assert_eq!(names(&one).len(), 3);
    assert_eq!(names(&other), ["web.get", "web.post"]);
    assert_eq!(names(&inner), ["fs.read"]);
    // A clone is the same handle.
    assert_eq!(names(&one.clone()).len(), 3);
}

#[test]
fn an_invalid_pattern_restricts_nothing() {
    let pool = pool();
    assert!(pool.restrict(["fs.*", "fs.["]).is_err());
    assert!(pool.replace_restrictions(["("]).is_err());
    assert_eq!(names(&pool).len(), 5);
    let patterns = [ToolPattern::exact("fs.read")];
    let _guard = pool.restrict(patterns).expect("patterns that are parsed");
    assert_eq!(names(&pool), ["fs.read"]);
}

/// Answer a typed call.
#[tool(name = "typed", register = false)]
async fn typed() -> &'static str {
    "typed"
}

#[tokio::test]
async fn every_kind_of_list_and_call_obeys_restrictions() {
    let pool =
        ToolPool::builder().tool::<TypedAction>().add(tool("fs.read")).build().expect("a pool");
    let before = pool.snapshot();
    let guard = narrowed(&pool, &["fs.*"]);
    assert!(pool.get("typed").is_none() && pool.snapshot().get("typed").is_none());
    assert!(!pool.definitions_json().contains("typed"));
    assert_eq!(pool.resolve("typed").expect_err("hidden").class(), ErrorClass::Denied);
    let error = TypedAction {}.call(&pool).await.expect_err("hidden");
    assert_eq!(error.class(), ErrorClass::Denied);
    let results = pool.call_all(["typed", "fs.read"].map(|name| ToolCall::new(name, ""))).await;
    assert_eq!(results[0].error().expect("hidden").class(), ErrorClass::Denied);
    assert_eq!(results[1].observation().to_text(), "pong");
    assert_eq!(
        error_text(&pool, "typed", "").await,
        "`typed` is not available now; available are `fs.read`"
    );
    assert!(error_text(&pool, "tpyed", "").await.starts_with("unknown tool `tpyed`"));
    // An earlier snapshot does not change.
    assert!(before.get("typed").is_some());
    drop(guard);
    assert_eq!(text(&pool, "typed", "").await, "typed");
}

#[tokio::test]
async fn an_empty_restriction_hides_everything_and_is_reported() {
    let pool = pool();
    let _none = narrowed(&pool, &[]);
    assert!(pool.tools().is_empty() && pool.report().is_empty());
    let answer = error_text(&pool, "fs.read", "").await;
    assert_eq!(answer, "`fs.read` is not available now; no tool is");
    let report = pool.report();
    let expected = ToolStatus::Restricted { by: "nothing".to_owned() };
    assert!(report.tools.iter().all(|tool| tool.status == expected), "{report}");
}

#[test]
fn the_report_names_the_restriction_that_hides() {
    let pool = pool();
    let _outer = narrowed(&pool, &["fs.*"]);
    let agent = pool.scope();
    let _inner = narrowed(&agent, &["*.read", "*.get"]);
    let status = |pool: &ToolPool, name: &str| {
        let report = pool.report();
        let found = report.tools.iter().find(|tool| tool.name == name).expect("offered");
        found.status.to_string()
    };
    assert_eq!(status(&agent, "fs.read"), "visible");
    assert_eq!(status(&agent, "fs.write"), "restricted to `*.read`, `*.get`");
    assert_eq!(status(&agent, "web.get"), "restricted to `fs.*`");
    assert_eq!(status(&pool, "fs.write"), "visible");
}

#[tokio::test]
async fn a_running_call_continues_when_its_tool_is_hidden() {
    let (started, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (signal, wait) = (Arc::clone(&started), Arc::clone(&go));
    let slow = Tool::builder("slow", "Wait.").handler(move || {
        let (signal, wait) = (Arc::clone(&signal), Arc::clone(&wait));
        async move {
            signal.notify_one();
            wait.notified().await;
            "done"
        }
    });
    let pool = ToolPool::builder().add(slow).build().expect("a pool");
    let hide = async {
        in_time(started.notified()).await;
        let _none = narrowed(&pool, &[]);
        assert_eq!(error_text(&pool, "slow", "").await, "`slow` is not available now; no tool is");
        go.notify_one();
    };
    let (result, ()) = tokio::join!(pool.call(ToolCall::new("slow", "")), hide);
    assert_eq!(result.observation().to_text(), "done");
}

/// A tool that calls the given tools, and reports each result.
fn relay() -> Tool {
    Tool::builder("relay", "Call others.").input_schema(json!({"type": "object"})).handler(
        |names: Map<String, Value>, context: ToolContext| async move {
            let calls = names.keys().map(|name| ToolCall::new(name, ""));
            let mut answers = Vec::new();
            for result in context.call_all(calls).await {
                answers.push(match result.error() {
                    Some(error) => error.class().to_string(),
                    None => result.observation().to_text(),
                });
            }
            answers.join(" ")
        },
    )
}

#[tokio::test]
async fn nested_calls_obey_the_restrictions_of_their_callers_handle() {
    let builder = ToolPool::builder().add(relay()).add(tool("fs.read")).add(tool("web.get"));
    let pool = builder.build().expect("a pool");
    let agent = pool.scope();
    let _guard = narrowed(&agent, &["relay", "fs.*"]);
    let arguments = r#"{"fs.read":1,"web.get":1,"nothing":1}"#;
    assert_eq!(text(&pool, "relay", arguments).await, "pong pong not_found");
    assert_eq!(text(&agent, "relay", arguments).await, "pong denied not_found");
    // Also with a context from another handle, or from none.
    for context in [pool.context(), ToolContext::default(), pool.scope().context()] {
        let result = agent.call_with(ToolCall::new("relay", arguments), &context).await;
        assert_eq!(result.observation().to_text(), "pong denied not_found");
        let call = ToolCall::new("relay", arguments);
        let results = agent.batch([call]).context(&context).run().await;
        assert_eq!(results[0].observation().to_text(), "pong denied not_found");
    }
    // A restriction applies to later calls of a running tool.
    let _outer = narrowed(&pool, &["relay", "web.*"]);
    assert_eq!(text(&agent, "relay", arguments).await, "denied denied not_found");
}

#[test]
fn each_thread_sees_the_restrictions_of_its_handle() {
    let pool = pool();
    let start = Barrier::new(4);
    std::thread::scope(|threads| {
        for mine in ["fs.read", "fs.write", "web.get", "web.post"] {
            let (agent, start) = (pool.scope(), &start);
            threads.spawn(move || {
                start.wait();
                for _ in 0..200 {
                    let outer = narrowed(&agent, &[mine, "fs.list"]);
                    let inner = narrowed(&agent, &[mine]);
                    assert_eq!(names(&agent), [mine]);
                    drop(outer);
                    assert_eq!(names(&agent), [mine]);
                    drop(inner);
                    assert_eq!(names(&agent).len(), 5);
                }
            });
        }
    });
}

#[test]
fn guards_of_one_handle_are_pushed_and_dropped_from_many_threads() {
    let pool = pool();
    let start = Barrier::new(4);
    std::thread::scope(|threads| {
        for hidden in ["fs.read", "fs.write", "web.get", "web.post"] {
            let (pool, start) = (&pool, &start);
            threads.spawn(move || {
                let others = ["fs.list", "fs.read", "fs.write", "web.get", "web.post"];
                let others: Vec<&str> = others.into_iter().filter(|name| *name != hidden).collect();
                start.wait();
                for _ in 0..200 {
                    let guard = narrowed(pool, &others);
                    let seen = names(pool);
                    assert!(!seen.iter().any(|name| name == hidden), "{seen:?}");
                    assert!(seen.iter().any(|name| name == "fs.list"), "{seen:?}");
                    assert!(pool.resolve(hidden).is_err());
                    drop(guard);
                }
            });
        }
    });
    assert_eq!(names(&pool).len(), 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guard_may_be_dropped_in_another_task() {
    let pool = pool();
    let guard = narrowed(&pool, &["fs.read"]);
    let other = pool.clone();
    let seen = tokio::spawn(async move {
        let seen = names(&other);
        drop(guard);
        seen
    });
    assert_eq!(seen.await.expect("no panic"), ["fs.read"]);
    assert_eq!(names(&pool).len(), 5);
}

fn listed(server: &mut Server) -> Vec<String> {
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    let answer = receive_answer(server, 1);
    let tools = answer["result"]["tools"].as_array().expect("a list").clone();
    tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

fn call(server: &mut Server, name: &str, arguments: &Value) -> Value {
    server.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": name, "arguments": arguments}}));
    receive_answer(server, 2)
}

/// Skips notifications, which the server sends in between.
fn receive_answer(server: &mut Server, id: u64) -> Value {
    let answer = std::iter::repeat_with(|| server.receive()).find(|message| message["id"] == id);
    answer.expect("an answer")
}

#[test]
fn a_server_follows_changes_of_its_pool() {
    let mut server = Server::ready(env!("CARGO_BIN_EXE_changing_server"));
    let all_tools = ["add_tool", "remove_tools", "restrict_tools", "unrestrict_tools"];
    assert_eq!(listed(&mut server), all_tools);
    call(&mut server, "restrict_tools", &json!({"to": ["unrestrict_*", "add_*", "g*"]}));
    assert_eq!(listed(&mut server), ["add_tool", "unrestrict_tools"]);
    let hidden = call(&mut server, "remove_tools", &json!({}));
    assert_eq!(hidden["result"]["isError"], true, "{hidden}");
    call(&mut server, "add_tool", &json!({"name": "green", "answer": "1"}));
    call(&mut server, "add_tool", &json!({"name": "blue", "answer": "1"}));
    assert_eq!(listed(&mut server), ["add_tool", "green", "unrestrict_tools"]);
    call(&mut server, "add_tool", &json!({"name": "green", "answer": "2"}));
    let answer = call(&mut server, "green", &json!({}));
    assert_eq!(answer["result"]["content"][0]["text"], "2", "{answer}");
    call(&mut server, "unrestrict_tools", &json!({}));
    assert_eq!(
        listed(&mut server),
        ["add_tool", "blue", "green", "remove_tools", "restrict_tools", "unrestrict_tools"]
    );
    call(&mut server, "remove_tools", &json!({}));
    assert_eq!(listed(&mut server), all_tools);
    let gone = call(&mut server, "green", &json!({}));
    assert_eq!(gone["error"]["code"], -32602, "{gone}");
    // The notification of the last change may arrive after the answers.
    server.leave();
}

const NAMES: [&str; 8] = ["a.x", "a.y", "a.z", "b.x", "b.y", "c", "no.x", "no.y"];
const OWNERS: [&str; 2] = ["one", "two"];

/// Patterns evaluated by the model, without the library's matcher.
#[derive(Clone, Debug)]
enum Picks {
    Name(&'static str),
    Prefix(&'static str),
    Suffix(&'static str),
    RegexPrefix(&'static str),
}

impl Picks {
    fn text(&self) -> String {
        match self {
            Self::Name(name) => (*name).to_owned(),
            Self::Prefix(prefix) => format!("{prefix}*"),
            Self::Suffix(suffix) => format!("*{suffix}"),
            Self::RegexPrefix(prefix) => format!("/^{prefix}/"),
        }
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Name(own) => *own == name,
            Self::Prefix(prefix) | Self::RegexPrefix(prefix) => name.starts_with(prefix),
            Self::Suffix(suffix) => name.ends_with(suffix),
        }
    }
}

/// Indices are taken modulo the number of items.
#[derive(Clone, Debug)]
enum Step {
    Narrow(usize, Vec<Picks>),
    Replace(usize, Vec<Picks>),
    Release(usize),
    Scope(usize),
    Add(usize, Vec<usize>),
    Set(usize, Vec<usize>),
    Remove(usize, Picks),
}

struct ModelScope {
    parent: Option<usize>,
    stack: Vec<(usize, Vec<Picks>, bool)>,
}

/// The expected state, computed without optimizations.
struct Model {
    offered: BTreeSet<(&'static str, &'static str)>,
    scopes: Vec<ModelScope>,
}

impl Model {
    fn exists(&self, name: &str) -> bool {
        !name.starts_with("no.") && self.offered.iter().any(|(offered, _)| *offered == name)
    }

    fn is_visible(&self, scope: usize, name: &str) -> bool {
        let ModelScope { parent, stack } = &self.scopes[scope];
        let from = stack.iter().rposition(|(_, _, replaces)| *replaces).unwrap_or(0);
        let passes =
            stack[from..].iter().all(|(_, picks, _)| picks.iter().any(|p| p.matches(name)));
        passes && parent.map_or_else(|| self.exists(name), |parent| self.is_visible(parent, name))
    }

    /// The expected tools, unless a visible one has another owner.
    fn changed(&mut self, offered: BTreeSet<(&'static str, &'static str)>) -> bool {
        let is_free = |name: &str| offered.iter().filter(|(other, _)| *other == name).count() < 2;
        let is_consistent =
            offered.iter().all(|(name, _)| name.starts_with("no.") || is_free(name));
        if is_consistent {
            self.offered = offered;
        }
        is_consistent
    }
}

struct Simulation {
    model: Model,
    handles: Vec<ToolPool>,
    guards: Vec<(usize, usize, Restriction)>,
    pushed: usize,
}

impl Simulation {
    fn new() -> Self {
        let builder = ToolPool::builder().add(tool("c")).add(tool("no.y")).deny(["no.*"]);
        let root = ModelScope { parent: None, stack: Vec::new() };
        let offered = [("c", "custom"), ("no.y", "custom")].into();
        Self {
            model: Model { offered, scopes: vec![root] },
            handles: vec![builder.build().expect("a pool")],
            guards: Vec::new(),
            pushed: 0,
        }
    }

    fn apply(&mut self, step: Step) {
        let scopes = self.handles.len();
        match step {
            Step::Narrow(scope, picks) => self.push(scope % scopes, picks, false),
            Step::Replace(scope, picks) => self.push(scope % scopes, picks, true),
            Step::Release(guard) if !self.guards.is_empty() => {
                let (scope, id, guard) = self.guards.swap_remove(guard % self.guards.len());
                drop(guard);
                self.model.scopes[scope].stack.retain(|(other, _, _)| *other != id);
            }
            Step::Release(_) => {}
            Step::Scope(parent) => {
                let parent = parent % scopes;
                self.handles.push(self.handles[parent].scope());
                self.model.scopes.push(ModelScope { parent: Some(parent), stack: Vec::new() });
            }
            Step::Add(owner, names) => self.offer(owner, names, false),
            Step::Set(owner, names) => self.offer(owner, names, true),
            Step::Remove(owner, picks) => self.remove(owner, &picks),
        }
    }

    fn push(&mut self, scope: usize, picks: Vec<Picks>, replaces: bool) {
        let texts: Vec<String> = picks.iter().map(Picks::text).collect();
        let handle = &self.handles[scope];
        let guard =
            if replaces { handle.replace_restrictions(texts) } else { handle.restrict(texts) };
        self.pushed += 1;
        self.guards.push((scope, self.pushed, guard.expect("patterns")));
        self.model.scopes[scope].stack.push((self.pushed, picks, replaces));
    }

    fn offer(&mut self, owner: usize, names: Vec<usize>, sets: bool) {
        let owner = OWNERS[owner % OWNERS.len()];
        let names: BTreeSet<&str> = names.into_iter().map(|name| NAMES[name]).collect();
        let mut offered = self.model.offered.clone();
        offered.retain(|(_, other)| !sets || *other != owner);
        offered.extend(names.iter().map(|name| (*name, owner)));
        let source = Source::owner(owner);
        let (pool, tools) = (&self.handles[0], names.iter().map(|name| tool(name)));
        let changed =
            if sets { pool.set_tools(&source, tools) } else { pool.add_tools(&source, tools) };
        assert_eq!(changed.is_ok(), self.model.changed(offered), "{changed:?}");
    }

    fn remove(&mut self, owner: usize, picks: &Picks) {
        let owner = OWNERS[owner % OWNERS.len()];
        let pattern = picks.text().parse().expect("a pattern");
        let removed = self.handles[0].remove_tools(&Source::owner(owner), &pattern);
        let before = self.model.offered.len();
        self.model.offered.retain(|(name, other)| *other != owner || !picks.matches(name));
        assert_eq!(removed.is_ok(), self.model.offered.len() < before);
    }

    /// List, calls and model agree, in every handle.
    async fn check(&self, caller: usize) {
        for (scope, handle) in self.handles.iter().enumerate() {
            let is_visible = |name: &&&str| self.model.is_visible(scope, name);
            let expected: Vec<&str> = NAMES.iter().filter(is_visible).copied().collect();
            assert_eq!(names(handle), expected, "of handle {scope}");
        }
        let caller = caller % self.handles.len();
        let handle = &self.handles[caller];
        let report = handle.report();
        for name in NAMES {
            let expected = match self.model.is_visible(caller, name) {
                true => None,
                false if self.model.exists(name) => Some(ErrorClass::Denied),
                false => Some(ErrorClass::NotFound),
            };
            let result = handle.call(ToolCall::new(name, "")).await;
            assert_eq!(result.error().map(|e| e.class()), expected, "`{name}` of {caller}");
            let is_reported = report
                .tools
                .iter()
                .any(|tool| tool.name == name && tool.status == ToolStatus::Visible);
            assert_eq!(is_reported, expected.is_none(), "`{name}` of {caller}:\n{report}");
        }
    }
}

fn picks() -> impl Strategy<Value = Picks> {
    let prefix = || prop::sample::select(vec!["a", "b", "no", ""]);
    prop_oneof![
        prop::sample::select(NAMES.to_vec()).prop_map(Picks::Name),
        prefix().prop_map(Picks::Prefix),
        prop::sample::select(vec!["x", "y", "c"]).prop_map(Picks::Suffix),
        prefix().prop_map(Picks::RegexPrefix),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let many = || prop::collection::vec(picks(), 0..4);
    let some = || prop::collection::vec(0..NAMES.len(), 0..4);
    let index = || 0..8_usize;
    prop_oneof![
        4 => (index(), many()).prop_map(|(scope, picks)| Step::Narrow(scope, picks)),
        2 => (index(), many()).prop_map(|(scope, picks)| Step::Replace(scope, picks)),
        4 => index().prop_map(Step::Release),
        1 => index().prop_map(Step::Scope),
        3 => (index(), some()).prop_map(|(owner, names)| Step::Add(owner, names)),
        1 => (index(), some()).prop_map(|(owner, names)| Step::Set(owner, names)),
        1 => (index(), picks()).prop_map(|(owner, picks)| Step::Remove(owner, picks)),
    ]
}

proptest! {
    #![proptest_config(crate::property::cases(200))]

    #[test]
    fn listed_and_callable_tools_match_the_model(
        steps in prop::collection::vec((step(), 0..8_usize), 1..16)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let mut simulation = Simulation::new();
            for (step, caller) in steps {
                simulation.apply(step);
                simulation.check(caller).await;
            }
        });
    }
}
