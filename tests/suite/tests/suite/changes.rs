//! Tools that are added and removed while the pool runs.

use super::support::{error_text, in_time, text};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use tokio::sync::Notify;
use tool_runtime::matching::ToolPattern;
use tool_runtime::pool::{PoolChange, PoolError, PoolProblem, Source, ToolStatus};
use tool_runtime::prelude::*;
use tool_runtime::tool::Registration;

fn tool(name: &str, answer: &'static str) -> Tool {
    Tool::builder(name, "Answer at once.").handler(move || async move { answer })
}

fn skills() -> Source {
    Source::owner("skills")
}

fn empty() -> ToolPool {
    ToolPool::builder().build().expect("a pool")
}

fn pattern(text: &str) -> ToolPattern {
    text.parse().expect("a pattern")
}

fn names(pool: &ToolPool) -> Vec<String> {
    pool.tools().iter().map(|tool| tool.name().to_owned()).collect()
}

fn lists(change: &PoolChange) -> [Vec<&str>; 3] {
    [&change.added, &change.updated, &change.removed]
        .map(|names| names.iter().map(String::as_str).collect())
}

const NONE: Vec<&str> = Vec::new();

#[tokio::test]
async fn tools_are_added_replaced_set_and_removed() {
    let pool = empty();
    let added = pool.add_tools(&skills(), [tool("b", "1"), tool("a", "1")]).expect("added");
    assert_eq!(lists(&added), [vec!["a", "b"], NONE, NONE]);
    let replaced = pool.add_tools(&skills(), [tool("a", "2"), tool("c", "1")]).expect("replaced");
    assert_eq!(
        lists(&replaced),
        [vec!["c"], NONE, NONE],
        "the replaced `a` is not a change of the list"
    );
    assert_eq!(text(&pool, "a", "").await, "2");
    assert_eq!(text(&pool, "b", "").await, "1");
    let new = Tool::builder("b", "Do something else.").handler(|| async { "3" });
    let set = pool.set_tools(&skills(), [new, tool("d", "1")]).expect("set");
    assert_eq!(lists(&set), [vec!["d"], vec!["b"], vec!["a", "c"]]);
    let removed = pool.remove_tools(&skills(), &pattern("d")).expect("removed");
    assert_eq!(lists(&removed), [NONE, NONE, vec!["d"]]);
    assert_eq!(error_text(&pool, "d", "").await, "unknown tool `d`; the tools are `b`");
    let removed = pool.remove_tools(&skills(), &pattern("*")).expect("removed");
    assert_eq!(lists(&removed), [NONE, NONE, vec!["b"]]);
    let report = pool.report();
    assert_eq!(report.tools.len(), 4);
    assert!(report.tools.iter().all(|tool| tool.status == ToolStatus::Removed), "{report}");
    pool.add_tools(&skills(), [tool("a", "5")]).expect("added again");
    assert_eq!(pool.report().tools[0].status, ToolStatus::Visible);
}

#[tokio::test]
async fn only_the_owner_replaces_and_removes() {
    let pool = ToolPool::builder().add(tool("built", "")).build().expect("a pool");
    pool.add_tools(&skills(), [tool("a", "1")]).expect("added");
    let others = Source::owner("others");
    for (source, name, both) in [
        (&others, "a", "one of owner:others, one of owner:skills"),
        (&others, "built", "one added by hand, one of owner:others"),
        (&Source::mcp("github"), "a", "one of owner:skills, one of mcp:github"),
    ] {
        let error = pool.add_tools(source, [tool(name, "2"), tool("new", "")]).expect_err(name);
        let expected = format!("two tools are named `{name}`: {both}");
        assert!(error.to_string().contains(&expected), "{error}");
    }
    for name in ["a", "built", "nothing"] {
        let error = pool.remove_tools(&others, &pattern(name)).expect_err(name);
        assert!(matches!(error.problems(), [PoolProblem::NotOwned { .. }]), "{error}");
        let expected = format!("owner:others has no tool that `{name}` matches");
        assert!(error.to_string().contains(&expected), "{error}");
    }
    assert_eq!(names(&pool), ["a", "built"]);
    assert_eq!(text(&pool, "a", "").await, "1");
    // A source keeps its tool when another source sets its own.
    pool.set_tools(&others, [tool("x", "")]).expect("set");
    assert_eq!(names(&pool), ["a", "built", "x"]);
}

/// Answer as if linked in.
#[tool(name = "same", register = false)]
async fn linked() -> &'static str {
    "linked"
}

#[tokio::test]
async fn a_linked_tool_is_replaced_and_restored() {
    let linked = Registration::from_action::<LinkedAction>("src/a.rs", 1).tool();
    let pool = ToolPool::builder().add_from(&Source::Linked, [linked]).build().expect("a pool");
    let change = pool.add_tools(&skills(), [tool("same", "skill")]).expect("added");
    assert_eq!(lists(&change), [NONE, vec!["same"], NONE]);
    assert_eq!(text(&pool, "same", "").await, "skill");
    let change = pool.remove_tools(&skills(), &pattern("same")).expect("removed");
    assert_eq!(lists(&change), [NONE, vec!["same"], NONE]);
    assert_eq!(text(&pool, "same", "").await, "linked");
}

/// Each source owns its tools, even if another source has equal ones.
#[test]
fn a_tool_of_two_sources_stays_until_both_have_removed_it() {
    let pool = ToolPool::builder()
        .add_from(&Source::Linked, [Tool::from_action::<LinkedAction>()])
        .build()
        .expect("a pool");
    let change = pool.add_tools(&skills(), [Tool::from_action::<LinkedAction>()]).expect("added");
    assert!(change.is_empty(), "{change:?}");
    let change = pool.remove_tools(&Source::Linked, &pattern("*")).expect("its own");
    assert!(change.is_empty(), "{change:?}");
    assert_eq!(names(&pool), ["same"]);
    let change = pool.remove_tools(&skills(), &pattern("*")).expect("its own");
    assert_eq!(change.removed, ["same"]);
}

struct Database;

/// Query.
#[tool(register = false)]
async fn query(database: &Database) {
    let _ = database;
}

#[tokio::test]
async fn all_mistakes_are_reported_together_and_change_nothing() {
    let pool = empty();
    pool.add_tools(&skills(), [tool("a", "1")]).expect("added");
    let mut changes = pool.changes();
    let rejected =
        |result: Result<PoolChange, PoolError>| result.expect_err("rejected").to_string();
    let twice = [tool("b", ""), tool("c", ""), tool("b", ""), tool("c", ""), tool("d", "")];
    let error = rejected(pool.add_tools(&skills(), twice));
    assert!(error.contains("two tools are named `b`: one of owner:skills"), "{error}");
    assert!(error.contains("two tools are named `c`"), "{error}");
    let error = rejected(pool.set_tools(&skills(), [tool("b", ""), tool("b", "")]));
    assert!(error.contains("two tools are named `b`"), "{error}");
    let wrong = [Tool::from_action::<QueryAction>(), tool("bad name", ""), tool("fine", "")];
    let error = rejected(pool.add_tools(&skills(), wrong));
    assert!(error.contains("tool `query` borrows a `suite::changes::Database`"), "{error}");
    assert!(error.contains("bad tool name \"bad name\""), "{error}");
    let error = rejected(pool.add_tools(&skills(), [tool("A", "")]));
    assert!(error.contains("`A` and `a` differ only in case"), "{error}");
    assert_eq!(names(&pool), ["a"]);
    assert_eq!(text(&pool, "a", "").await, "1");
    assert_eq!(changes.try_next(), None);
    assert_eq!(pool.report().tools.len(), 1);
}

#[test]
fn state_of_the_pool_is_available_to_added_tools() {
    let pool = ToolPool::builder().state(Database).build().expect("a pool");
    assert_eq!(
        pool.add_tools(&skills(), [Tool::from_action::<QueryAction>()]).expect("ok").added,
        ["query"]
    );
}

#[test]
fn the_filter_applies_before_other_checks() {
    let pool = ToolPool::builder().add(tool("own", "")).deny(["no.*", "source:mcp:other"]).build();
    let pool = pool.expect("a pool");
    let mut changes = pool.changes();
    // Left out: it has no collision and needs no state.
    let other = Source::mcp("other");
    let change = pool
        .add_tools(&other, [tool("own", ""), Tool::from_action::<QueryAction>()])
        .expect("none");
    assert!(change.is_empty());
    assert!(pool.add_tools(&skills(), [tool("no.a", "")]).expect("none").is_empty());
    assert!(pool.add_tools(&Source::owner("x"), [tool("no.a", "")]).expect("none").is_empty());
    assert_eq!(names(&pool), ["own"]);
    assert_eq!(changes.try_next(), None);
    let filtered =
        |tool: &&tool_runtime::pool::ToolReport| matches!(tool.status, ToolStatus::Filtered { .. });
    assert_eq!(pool.report().tools.iter().filter(filtered).count(), 4, "{}", pool.report());
    // A tool that was left out can be removed, too.
    assert!(pool.remove_tools(&other, &pattern("own")).expect("its own").is_empty());
}

#[test]
fn an_invalid_tool_does_not_affect_other_tools_of_its_server() {
    let pool = empty();
    let github = Source::mcp("github");
    let change = pool.set_tools(&github, [tool("bad name", ""), tool("fine", "")]).expect("set");
    assert_eq!(change.added, ["fine"]);
    assert!(pool.report().to_string().contains("quarantined: "));
}

#[tokio::test]
async fn listeners_are_notified_only_of_visible_changes() {
    let pool = ToolPool::builder().deny(["no.*"]).build().expect("a pool");
    let (mut one, mut other) = (pool.changes(), pool.scope().changes());
    let unchanged = tool("a", "1");
    pool.add_tools(&skills(), [unchanged.clone(), tool("b", "1")]).expect("added");
    pool.add_tools(&skills(), [tool("no.a", "")]).expect("filtered");
    pool.set_tools(&skills(), [unchanged.clone(), tool("c", "1")]).expect("set");
    pool.set_tools(&skills(), [unchanged, pool.get("c").expect("there")]).expect("the same");
    pool.add_tools(&skills(), []).expect("nothing");
    assert!(pool.add_tools(&skills(), [tool("x", ""), tool("x", "")]).is_err());
    pool.remove_tools(&skills(), &pattern("a")).expect("removed");
    for listener in [&mut one, &mut other] {
        let received: Vec<PoolChange> = std::iter::from_fn(|| listener.try_next()).collect();
        let received: Vec<_> = received.iter().map(lists).collect();
        assert_eq!(
            received,
            [[vec!["a", "b"], NONE, NONE], [vec!["c"], NONE, vec!["b"]], [NONE, NONE, vec!["a"]],]
        );
    }
    drop(one);
    pool.add_tools(&skills(), [tool("d", "")]).expect("added");
    assert_eq!(in_time(other.next()).await.expect("a change").added, ["d"]);
}

#[tokio::test]
async fn listening_ends_when_the_pool_is_closed_or_dropped() {
    let pool = ToolPool::builder().add(tool("a", "")).build().expect("a pool");
    let mut changes = pool.changes();
    pool.close().await;
    assert_eq!(in_time(changes.next()).await.expect("the end of `a`").removed, ["a"]);
    assert_eq!(in_time(changes.next()).await, None);
    assert_eq!(in_time(pool.changes().next()).await, None);
    let pool = empty();
    let mut changes = pool.changes();
    drop(pool);
    assert_eq!(in_time(changes.next()).await, None);
}

#[tokio::test]
async fn a_listener_may_change_the_pool() {
    let pool = empty();
    let mut changes = pool.changes();
    let listener = async {
        let added = in_time(changes.next()).await.expect("a change").added;
        let echoes = added.iter().map(|name| tool(&format!("{name}.echo"), ""));
        pool.add_tools(&Source::owner("echo"), echoes).expect("added");
    };
    let change = async { pool.add_tools(&skills(), [tool("a", "")]).expect("added") };
    tokio::join!(listener, change);
    assert_eq!(names(&pool), ["a", "a.echo"]);
}

/// A factory of tools may use the pool.
#[test]
fn an_iterator_of_added_tools_may_use_the_pool() {
    let pool = empty();
    pool.add_tools(&skills(), [tool("a", "")]).expect("added");
    let tools = (0..2).map(|index| {
        let count = pool.report().tools.len();
        pool.add_tools(&Source::owner("x"), [tool(&format!("x{index}"), "")]).expect("added");
        tool(&format!("new{}", count + index), "")
    });
    pool.add_tools(&skills(), tools).expect("added");
    assert_eq!(names(&pool), ["a", "new1", "new3", "x0", "x1"]);
}

#[tokio::test]
async fn a_running_call_finishes_when_its_tool_is_removed_or_replaced() {
    let (started, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (signal, wait) = (Arc::clone(&started), Arc::clone(&go));
    let slow = Tool::builder("slow", "Wait.").handler(move || {
        let (signal, wait) = (Arc::clone(&signal), Arc::clone(&wait));
        async move {
            signal.notify_one();
            wait.notified().await;
            "the old one"
        }
    });
    let pool = empty();
    pool.add_tools(&skills(), [slow]).expect("added");
    let change = async {
        in_time(started.notified()).await;
        pool.add_tools(&skills(), [tool("slow", "the new one")]).expect("replaced");
        assert_eq!(text(&pool, "slow", "").await, "the new one");
        pool.remove_tools(&skills(), &pattern("slow")).expect("removed");
        assert_eq!(error_text(&pool, "slow", "").await, "unknown tool `slow`; there are no tools");
        go.notify_one();
    };
    let (result, ()) = tokio::join!(pool.call(ToolCall::new("slow", "")), change);
    assert_eq!(result.observation().to_text(), "the old one");
}

#[tokio::test]
async fn a_closed_pool_rejects_changes_and_calls_and_still_reports() {
    let pool = ToolPool::builder().add(tool("a", "")).deny(["x"]).build().expect("a pool");
    let agent = pool.scope();
    let _guard = agent.restrict(["a"]).expect("a pattern");
    assert_eq!(names(&agent), ["a"]);
    pool.close().await;
    for result in [
        pool.add_tools(&skills(), [tool("b", "")]),
        agent.set_tools(&skills(), []),
        pool.remove_tools(&Source::Custom, &pattern("a")),
    ] {
        assert_eq!(result.expect_err("closed").problems(), [PoolProblem::Closed]);
    }
    for handle in [&pool, &agent] {
        assert!(handle.tools().is_empty());
        let result = handle.call(ToolCall::new("a", "")).await;
        let error = result.error().expect("closed");
        assert_eq!(
            (error.class(), error.message()),
            (ErrorClass::Cancelled, "the tools have been shut down")
        );
    }
    assert_eq!(
        pool.report().to_string(),
        "a  custom  removed\nthe pool is empty: 1 tool was offered and none is visible\n"
    );
}

#[tokio::test]
async fn a_snapshot_does_not_change() {
    let pool = empty();
    pool.add_tools(&skills(), [tool("a", "")]).expect("added");
    let (snapshot, listing) = (pool.snapshot(), pool.definitions_json());
    pool.set_tools(&skills(), [tool("b", "")]).expect("set");
    assert_eq!(snapshot.tools().len(), 1);
    assert_eq!(snapshot.definitions_json(), &listing);
    assert!(listing.contains("\"a\"") && pool.definitions_json().contains("\"b\""));
}

#[test]
fn concurrent_additions_lose_nothing_and_notify_all_listeners() {
    let pool = empty();
    let (mut one, mut other) = (pool.changes(), pool.changes());
    let (start, rejected) = (Barrier::new(4), AtomicUsize::new(0));
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let (pool, start, rejected) = (&pool, &start, &rejected);
            threads.spawn(move || {
                let source = Source::owner(format!("thread{thread}"));
                start.wait();
                for index in 0..25 {
                    let name = format!("t{thread}.n{index}");
                    pool.add_tools(&source, [tool(&name, "")]).expect("its own name");
                    // Exactly one of the four has it.
                    let shared = pool.add_tools(&source, [tool("shared", "")]);
                    rejected.fetch_add(usize::from(shared.is_err()), Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(names(&pool).len(), 101);
    assert_eq!(rejected.load(Ordering::SeqCst), 75);
    let received = |changes: &mut tool_runtime::pool::PoolChanges| -> Vec<PoolChange> {
        std::iter::from_fn(|| changes.try_next()).collect()
    };
    let (one, other) = (received(&mut one), received(&mut other));
    assert_eq!(one, other);
    let added: usize = one.iter().map(|change| change.added.len()).sum();
    let updated: usize = one.iter().map(|change| change.updated.len()).sum();
    assert_eq!((added, updated), (101, 0));
}

/// Concurrent changes, restrictions and reads: no view is older than the pool.
#[test]
fn restricted_handles_follow_changes_from_other_threads() {
    let pool = ToolPool::builder().add(tool("fs.own", "")).build().expect("a pool");
    let agents = [pool.scope(), pool.scope().scope()];
    let _guards = agents.each_ref().map(|agent| agent.restrict(["fs.*"]).expect("a pattern"));
    let start = Barrier::new(3);
    std::thread::scope(|threads| {
        for agent in &agents {
            let start = &start;
            threads.spawn(move || {
                start.wait();
                for _ in 0..300 {
                    let _inner = agent.restrict(["*"]).expect("a pattern");
                    let seen = names(agent);
                    assert!(seen.iter().all(|name| name.starts_with("fs.")), "{seen:?}");
                }
            });
        }
        start.wait();
        for index in 0..300 {
            let name = format!("fs.{index}");
            pool.set_tools(&skills(), [tool(&name, ""), tool("web.get", "")]).expect("set");
            for agent in &agents {
                assert_eq!(names(agent), [&*name, "fs.own"]);
            }
        }
    });
}
