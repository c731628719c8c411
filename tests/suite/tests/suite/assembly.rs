//! Tools of a pool: sources, collisions, filters, the report.

use super::support::{call, error_text, text};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Debug;
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::matching::ToolPattern;
use tool_runtime::pool::{
    Filter, PoolChange, PoolError, PoolProblem, PoolReport, Selector, Source, ToolStatus,
};
use tool_runtime::prelude::*;
use tool_runtime::tool::{Registration, Requirement};
use tool_runtime::{ErrorClass, ToolAnnotations};

fn tool(name: &str, answer: &'static str) -> Tool {
    Tool::builder(name, "Answer at once.").handler(move || async move { answer })
}

fn tagged(name: &str, tag: &str) -> Tool {
    Tool::builder(name, "Answer at once.").tags([tag]).handler(|| async { "pong" })
}

fn github() -> Source {
    Source::mcp("github")
}

fn search() -> Source {
    Source::runner("search")
}

fn status(pool: &ToolPool, name: &str, source: &Source) -> ToolStatus {
    let report = pool.report();
    let found = report.tools.iter().find(|t| t.name == name && t.source == *source);
    found.unwrap_or_else(|| panic!("`{name}` of {source} is not in\n{report}")).status.clone()
}

fn names(pool: &ToolPool) -> Vec<String> {
    pool.tools().iter().map(|tool| tool.name().to_owned()).collect()
}

fn shadowed(by: Source) -> ToolStatus {
    ToolStatus::Shadowed { by }
}

/// Answer as if linked in.
#[tool(name = "same", register = false)]
async fn linked() -> &'static str {
    "linked"
}

fn linked_tool() -> Tool {
    Registration::from_action::<LinkedAction>("src/linked.rs", 7).tool()
}

#[tokio::test]
async fn a_custom_tool_replaces_a_linked_one_in_the_report() {
    let pool = ToolPool::builder()
        .add(tool("same", "custom"))
        .add_from(&Source::Linked, [linked_tool(), tool("other", "linked")])
        .build()
        .expect("a pool");
    assert_eq!(text(&pool, "same", "").await, "custom");
    assert_eq!(text(&pool, "other", "").await, "linked");
    assert_eq!(status(&pool, "same", &Source::Linked), shadowed(Source::Custom));
    assert_eq!(status(&pool, "same", &Source::Custom), ToolStatus::Visible);
    assert!(pool.report().to_string().contains("same   linked  shadowed by custom"));
}

#[test]
fn an_mcp_tool_replaces_no_other_tool_by_default() {
    let collide = |builder: tool_runtime::ToolPoolBuilder, first: &str| {
        let builder = builder.add_from(&github(), [tool("same", "mcp")]);
        let error = builder.build().expect_err("a collision");
        assert!(matches!(error.problems(), [PoolProblem::Duplicate { .. }]), "{error}");
        let expected = format!("two tools are named `same`: one {first}, one of mcp:github");
        assert!(error.to_string().contains(&expected), "{error}");
    };
    let empty = ToolPool::builder;
    collide(empty().add_from(&Source::Linked, [linked_tool()]), "at src/linked.rs:7");
    collide(empty().add(tool("same", "custom")), "added by hand");
    collide(empty().add_from(&Source::mcp("a"), [tool("same", "")]), "of mcp:a");
}

#[tokio::test]
async fn an_mcp_tool_replaces_another_only_if_configured() {
    let pool = ToolPool::builder()
        .add_from(&Source::Linked, [linked_tool()])
        .add(tool("same", "custom"))
        .add(tool("round_trip", "custom"))
        .add_from(&github(), [tool("same", "mcp")])
        .mcp_replaces(["s*"])
        .build()
        .expect("a pool");
    assert_eq!(text(&pool, "same", "").await, "mcp");
    assert_eq!(status(&pool, "same", &Source::Custom), shadowed(github()));
    assert_ne!(status(&pool, "same", &Source::Linked), ToolStatus::Visible);
    let error = ToolPool::builder()
        .add(tool("round_trip", "custom"))
        .add_from(&github(), [tool("round_trip", "mcp")])
        .mcp_replaces(["s*"])
        .build();
    assert!(error.is_err());
    // One server never replaces another.
    let error = ToolPool::builder()
        .add_from(&Source::mcp("a"), [tool("same", "a")])
        .add_from(&Source::mcp("b"), [tool("same", "b")])
        .mcp_replaces(["*"])
        .build();
    assert!(error.is_err());
}

#[test]
fn a_tool_of_a_runner_replaces_no_other_tool() {
    for (source, first) in [
        (Source::Linked, "of linked"),
        (Source::Custom, "added by hand"),
        (github(), "of mcp:github"),
        (Source::runner("fetch"), "of runner:fetch"),
    ] {
        let builder = ToolPool::builder().mcp_replaces(["*"]).add_from(&source, [tool("same", "")]);
        let error =
            builder.add_from(&search(), [tool("same", "")]).build().expect_err("a collision");
        let expected = format!("two tools are named `same`: one {first}, one of runner:search");
        assert!(error.to_string().contains(&expected), "{error}");
    }
}

#[test]
fn names_that_differ_in_case_alone_collide() {
    let error =
        ToolPool::builder().add(tool("Read", "")).add(tool("read", "")).build().expect_err("alike");
    assert!(matches!(error.problems(), [PoolProblem::CaseCollision { .. }]), "{error}");
    assert!(error.to_string().contains("`Read` and `read` differ only in case"), "{error}");
    let filtered =
        ToolPool::builder().add(tool("Read", "")).add(tool("read", "")).deny(["Read"]).build();
    assert_eq!(names(&filtered.expect("a pool")), ["read"]);
}

#[test]
fn remote_names_that_differ_only_in_case_are_kept_and_reported() {
    let pool = ToolPool::builder()
        .add_from(&github(), [tool("READ", ""), tool("list", "")])
        .add_from(&search(), [tool("rEAD", "")])
        .add(tool("Read", ""))
        .build()
        .expect("a pool");
    assert_eq!(names(&pool), ["READ", "Read", "list", "rEAD"]);
    let report = pool.report();
    assert_eq!(report.alike, [["READ", "Read", "rEAD"]]);
    let expected = "`READ` and `Read` and `rEAD` differ only in case\n";
    assert!(report.to_string().ends_with(expected), "{report}");
}

#[tokio::test]
async fn invalid_external_tools_are_quarantined_and_the_others_of_their_source_work() {
    let odd = vec![
        tool("bad name", ""),
        tool(&"x".repeat(129), ""),
        tool("", ""),
        Tool::builder("list", "Bad.").input_schema(json!({"type": "array"})).handler(|| async {}),
    ];
    for source in [github(), search()] {
        let valid = Tool::builder("valid", "").handler(|| async { "valid" });
        let pool = ToolPool::builder()
            .add_from(&source, odd.iter().cloned().chain([valid]))
            .build()
            .expect("a pool");
        // MCP does not require a description.
        assert_eq!(names(&pool), ["valid"]);
        assert_eq!(text(&pool, "valid", "").await, "valid");
        for odd in &odd {
            let status = status(&pool, odd.name(), &source);
            let ToolStatus::Quarantined { reason } = status else { panic!("{status}") };
            assert!(!reason.is_empty());
        }
        assert!(pool.report().to_string().contains("quarantined: "), "{}", pool.report());
        // A tool that is left out does not replace another.
        let pool = ToolPool::builder()
            .add(tool("list", "ours"))
            .add_from(&source, odd.clone())
            .build()
            .expect("a pool");
        assert_eq!(text(&pool, "list", "").await, "ours");
    }
    assert!(ToolPool::builder().add(tool("bad name", "")).build().is_err());
}

fn full_builder() -> tool_runtime::ToolPoolBuilder {
    let tool_with_hints = |name: &str| Tool::builder(name, "Answer at once.");
    ToolPool::builder()
        .add(tool_with_hints("fs.read").read_only(true).tags(["files"]).handler(|| async {}))
        .add(tool_with_hints("fs.write").destructive(false).tags(["files"]).handler(|| async {}))
        .add(tool_with_hints("fs.delete").idempotent(true).handler(|| async {}))
        .add_from(&Source::Linked, [tool("add", "")])
        .add_from(&Source::owner("skills"), [tool("skill", "")])
        .add_from(&github(), [tool_with_hints("gh.list").open_world(false).handler(|| async {})])
        .add_from(&Source::mcp("web"), [tool("web.get", "")])
        .add_from(&search(), [tool("web.find", "")])
}

const ALL: [&str; 8] =
    ["add", "fs.delete", "fs.read", "fs.write", "gh.list", "skill", "web.find", "web.get"];

#[test]
fn every_kind_of_selector_includes_and_excludes() {
    for (selector, picked) in [
        ("fs.read", vec!["fs.read"]),
        ("fs.*", vec!["fs.delete", "fs.read", "fs.write"]),
        ("*.{list,get}", vec!["gh.list", "web.get"]),
        ("{add,skill}", vec!["add", "skill"]),
        ("fs.[rw]*", vec!["fs.read", "fs.write"]),
        ("tag:files", vec!["fs.read", "fs.write"]),
        ("hint:read_only", vec!["fs.read"]),
        ("hint:!destructive", vec!["fs.read", "fs.write"]),
        ("hint:idempotent", vec!["fs.delete", "fs.read"]),
        ("hint:!open_world", vec!["gh.list"]),
        ("source:linked", vec!["add"]),
        ("source:custom", vec!["fs.delete", "fs.read", "fs.write"]),
        ("source:owner", vec!["skill"]),
        ("source:owner:skills", vec!["skill"]),
        ("source:mcp", vec!["gh.list", "web.get"]),
        ("source:mcp:github", vec!["gh.list"]),
        ("source:runner", vec!["web.find"]),
        ("source:runner:search", vec!["web.find"]),
        ("source:runner:fetch", vec![]),
    ] {
        let allowed = full_builder().allow([selector]).build().expect(selector);
        assert_eq!(names(&allowed), picked, "{selector}");
        let denied = full_builder().deny([selector]).build().expect(selector);
        let rest: Vec<&str> = ALL.into_iter().filter(|name| !picked.contains(name)).collect();
        assert_eq!(names(&denied), rest, "{selector}");
        assert_eq!(selector.parse::<Selector>().expect("it was parsed").to_string(), selector);
    }
}

#[tokio::test]
async fn deny_has_priority_and_hidden_tools_cannot_be_called() {
    let pool =
        full_builder().allow(["fs.*", "add"]).deny(["hint:read_only"]).build().expect("a pool");
    assert_eq!(names(&pool), ["add", "fs.delete", "fs.write"]);
    assert!(error_text(&pool, "fs.read", "").await.starts_with("unknown tool `fs.read`"));
    let filtered = |by: &str| ToolStatus::Filtered { by: by.to_owned() };
    assert_eq!(status(&pool, "fs.read", &Source::Custom), filtered("deny `hint:read_only`"));
    let reason = "nothing on the allow list picks it";
    assert_eq!(status(&pool, "gh.list", &github()), filtered(reason));
}

#[test]
fn a_regular_expression_is_given_as_a_pattern() {
    let pattern = ToolPattern::regex("^(add|skill)$").expect("it parses");
    assert_eq!(names(&full_builder().allow([pattern]).build().expect("a pool")), ["add", "skill"]);
    let error = full_builder().allow(["/^add/"]).build().expect_err("it is text");
    assert!(error.to_string().contains("or give a `ToolPattern::regex`"), "{error}");
}

#[test]
fn allow_lists_add_up_and_further_filters_only_narrow() {
    let pool = full_builder().allow(["add"]).allow(["skill"]).build().expect("a pool");
    assert_eq!(names(&pool), ["add", "skill"]);
    let json = r#"{"allow":["add","fs.*","skill"],"deny":["fs.*"]}"#;
    let filter: Filter = serde_json::from_str(json).expect("a filter");
    let pool = full_builder().allow(["add", "fs.*"]).filter(filter).build().expect("a pool");
    assert_eq!(names(&pool), ["add"]);
}

#[tokio::test]
async fn no_filter_allows_everything_and_an_empty_allow_list_nothing() {
    assert_eq!(names(&full_builder().build().expect("a pool")), ALL);
    assert_eq!(names(&full_builder().filter(Filter::default()).build().expect("a pool")), ALL);
    assert_eq!(names(&full_builder().deny([] as [&str; 0]).build().expect("a pool")), ALL);
    let empty = full_builder().allow([] as [&str; 0]).build().expect("a pool");
    assert_eq!(names(&empty), [""; 0]);
    assert!(empty.report().is_empty());
    let text = empty.report().to_string();
    let last = text.lines().last().expect("a line");
    assert_eq!(last, "the pool is empty: 8 tools were offered and none is visible");
    assert!(text.contains("filtered: the allow list is empty"), "{text}");
    assert_eq!(error_text(&empty, "add", "").await, "unknown tool `add`; there are no tools");
    assert_eq!(&*empty.definitions_json(), "[]");
    let nothing = ToolPool::builder().build().expect("a pool").report();
    assert_eq!(nothing.to_string(), "the pool is empty: no tool was offered\n");
}

#[test]
fn hooks_that_run_for_no_tool_are_in_the_report() {
    let proceed = |_: HookCall| async { Before::proceed() };
    let builder =
        full_builder().hook(Hook::before("fs.raed", proceed)).hook(Hook::before("fs.*", proceed));
    let report = builder.build().expect("a pool").report();
    assert_eq!(report.idle_hooks, ["the hook before `fs.raed`"]);
    assert!(report.to_string().contains("the hook before `fs.raed` runs for no tool"), "{report}");
}

#[test]
fn selectors_that_pick_nothing_are_in_the_report() {
    let pool =
        full_builder().allow(["*", "tag:file"]).deny(["fs.raed", "fs.read"]).build().expect("pool");
    let unmatched: Vec<String> = pool.report().unmatched.iter().map(|s| s.to_string()).collect();
    assert_eq!(unmatched, ["tag:file", "fs.raed"]);
    assert!(pool.report().to_string().contains("`fs.raed` in the filter picks no tool"));
}

#[test]
fn the_build_reports_all_invalid_patterns_together() {
    let error = full_builder()
        .allow(["fs.[", "hint:readonly", "add"])
        .deny(["label:x", "source:github"])
        .mcp_replaces(["/(/"])
        .hook(tool_runtime::hook::Hook::before("{", |_: tool_runtime::hook::HookCall| async {
            Ok::<_, ToolError>(tool_runtime::hook::Before::proceed())
        }))
        .build()
        .expect_err("bad patterns");
    let text = error.to_string();
    for expected in [
        "`fs.[`",
        "unknown hint `readonly`; did you mean `read_only`?",
        "`label:x` picks nothing",
        "`source:github`",
        "/(/",
        "`{`",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in:\n{text}");
    }
    assert_eq!(error.problems().len(), 6, "{text}");
}

/// A tool of the custom source replaced the linked one: the filter sees the result.
#[tokio::test]
async fn a_filter_does_not_restore_replaced_tools() {
    let pool = ToolPool::builder()
        .add_from(&Source::Linked, [tagged("same", "safe")])
        .add(tool("same", "custom"))
        .allow(["tag:safe"])
        .build()
        .expect("a pool");
    assert_eq!(names(&pool), [""; 0]);
}

/// A filter resolves a collision: a tool that it leaves out has no name in the pool.
#[tokio::test]
async fn hidden_tools_do_not_collide() {
    let offers = || {
        ToolPool::builder().add(tool("same", "custom")).add_from(&github(), [tool("same", "mcp")])
    };
    let pool = offers().deny(["source:mcp"]).build().expect("a pool");
    assert_eq!(text(&pool, "same", "").await, "custom");
    assert!(matches!(status(&pool, "same", &github()), ToolStatus::Filtered { .. }));
    let pool = offers().deny(["source:custom"]).build().expect("a pool");
    assert_eq!(text(&pool, "same", "").await, "mcp");
    assert!(matches!(status(&pool, "same", &Source::Custom), ToolStatus::Filtered { .. }));
    let pool = offers().deny(["same"]).build().expect("a pool");
    assert!(pool.tools().is_empty());
    assert_eq!(pool.report().tools.len(), 2);
}

struct Database;

/// Query.
#[tool(register = false)]
async fn query(database: &Database) {
    let _ = database;
}

#[test]
fn filtered_and_shadowed_tools_need_no_state() {
    assert!(ToolPool::builder().tool::<QueryAction>().build().is_err());
    assert!(ToolPool::builder().tool::<QueryAction>().deny(["query"]).build().is_ok());
    let shadowed = ToolPool::builder()
        .add_from(&Source::Linked, [Tool::from_action::<QueryAction>()])
        .add(tool("query", ""));
    assert!(shadowed.build().is_ok());
}

/// The result does not depend on the order of tools. Pseudo-random numbers without a seed.
#[test]
fn order_and_bytes_are_the_same_over_a_thousand_builds() {
    let mut offers = Vec::new();
    for index in 0..40 {
        let sources = [Source::Linked, Source::Custom, Source::mcp("a"), Source::mcp("b")];
        let source = sources[index % 4].clone();
        offers.push((source.clone(), format!("tool.{}", index * 7 % 40)));
        if source == Source::Custom {
            offers.push((Source::Linked, format!("tool.{}", index * 7 % 40)));
        }
    }
    let mut random = 1_u64;
    let mut expected: Option<(String, String)> = None;
    for round in 0..1000 {
        for index in (1..offers.len()).rev() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            offers.swap(index, (random >> 33) as usize % (index + 1));
        }
        let pool = offers
            .iter()
            .fold(ToolPool::builder(), |pool, (source, name)| {
                pool.add_from(source, [tagged(name, &source.to_string())])
            })
            .deny(["tool.1?"])
            .build()
            .expect("a pool");
        let built = (pool.definitions_json().to_string(), pool.report().to_string());
        assert_eq!(*expected.get_or_insert_with(|| built.clone()), built, "round {round}");
    }
}

/// Returns the value that was written.
fn round_trip<T: Serialize + for<'de> Deserialize<'de>>(value: &T) -> T {
    let text = serde_json::to_string(value).expect("JSON");
    let back: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(serde_json::to_string(&back).expect("JSON"), text);
    back
}

fn rejected<T: for<'de> Deserialize<'de> + Debug>(json: &Value, expected: &str) {
    let error = T::deserialize(json.clone()).expect_err(&json.to_string()).to_string();
    assert!(error.contains(expected), "{json}: {error}");
}

#[tokio::test]
async fn a_report_survives_serialization() {
    let pool = full_builder()
        .add_from(&Source::Linked, [tool("skill", "")])
        .add_from(&github(), [tool("bad name", "")])
        .deny(["fs.delete", "nothing"])
        .build()
        .expect("a pool");
    pool.remove_tools(&Source::mcp("web"), &ToolPattern::exact("web.get")).expect("its own");
    let _guard = pool.restrict(["fs.*"]).expect("a pattern");
    let report = pool.report();
    let texts = report.to_string();
    for expected in ["visible", "shadowed", "filtered", "restricted", "quarantined", "removed"] {
        assert!(texts.contains(expected), "{expected} is not in\n{texts}");
    }
    assert_eq!(round_trip(&report), report);
    let status = ToolStatus::Unusable { reason: "no".to_owned() };
    assert_eq!(round_trip(&status), status);
    let report_with =
        |status: &str| json!({"tools": [{"name": "a", "source": "custom", "status": status}]});
    rejected::<PoolReport>(&report_with("melted"), "melted");
    rejected::<PoolReport>(
        &json!({"tools": [{"name": "a", "source": "cloud", "status": "visible"}]}),
        "unknown source `cloud`",
    );
    rejected::<PoolReport>(&json!({"tools": [], "unmached": []}), "unmached");
    rejected::<PoolChange>(
        &json!({"added": [], "updated": [], "removed": [], "moved": []}),
        "moved",
    );
}

#[tokio::test]
async fn calls_of_unusable_tools_name_the_reason() {
    let push = tool("push", "").requires([Requirement::missing("git", "install git")]);
    let pool = ToolPool::builder().add(push).allow_empty().build().expect("a pool");
    let error = pool.resolve("push").expect_err("a missing program");
    assert_eq!(error.message(), "`push` cannot be used here: `git` is missing: install git");
    assert_eq!(error.class(), ErrorClass::NotFound);
    let unknown = pool.resolve("pull").expect_err("an unknown name");
    assert_eq!(unknown.message(), "unknown tool `pull`; there are no tools");
}

#[test]
fn filters_survive_serialization() {
    let filter: Filter = serde_json::from_value(json!({
        "allow": ["fs.*", "tag:x", "hint:!read_only", "source:mcp:github", "source:owner", "source:runner:search"],
        "deny": ["fs.write"]
    }))
    .expect("a filter");
    assert_eq!(round_trip(&filter), filter);
    assert_eq!(round_trip(&Filter::default()), Filter::default());
    let empty = Filter::default().allow([]);
    assert_eq!(round_trip(&empty), empty);
    rejected::<Filter>(&json!({"alow": []}), "unknown field `alow`");
    rejected::<Filter>(&json!({"deny": ["kind:x"]}), "`kind:x` picks nothing");
    rejected::<Filter>(&json!({"deny": ["fs.["]}), "fs.[");
}

#[derive(Serialize, schemars::JsonSchema)]
struct ReadRequest {
    value: f64,
    large: u128,
    note: Option<String>,
}

/// Return the largest unsigned integer.
#[tool(register = false)]
async fn measure() -> ReadRequest {
    ReadRequest { value: 0.1, large: u128::MAX, note: None }
}

#[tokio::test]
async fn definitions_calls_and_results_survive_serialization() {
    let annotations = ToolAnnotations::default().with_open_world(false);
    let mut definition =
        Tool::builder("a", "b").tags(["x"]).handler(|| async {}).definition().clone();
    definition = definition.with_annotations(annotations);
    definition.title = Some("A".to_owned());
    assert_eq!(round_trip(&definition), definition);
    let pool = full_builder().tool::<MeasureAction>().build().expect("a pool");
    let listed: Vec<ToolDefinition> =
        serde_json::from_str(&pool.definitions_json()).expect("definitions");
    let tools = pool.tools();
    assert!(listed.iter().eq(tools.iter().map(Tool::definition)));
    for arguments in ["", "{}", "no json", r#"{"a":1.0,"a":2}"#] {
        let call = ToolCall::new("fs.read", arguments).with_call_id("c");
        assert_eq!(round_trip(&call), call);
    }
    for (name, arguments) in
        [("measure", ""), ("nothing", ""), ("add", "[1]"), ("add", "{\"x\":1}")]
    {
        let result = pool.call(ToolCall::new(name, arguments).with_call_id("c")).await;
        let back = round_trip(&result);
        assert_eq!(back.observation(), result.observation());
        assert_eq!(back.is_error(), result.is_error());
        let parts = |result: &ToolResult| {
            result.error().map(|error| {
                let issues = error.issues().to_vec();
                (
                    error.class(),
                    error.message().to_owned(),
                    error.detail().map(str::to_owned),
                    issues,
                )
            })
        };
        assert_eq!(parts(&back), parts(&result));
    }
    let measured = call(&pool, "measure", "").await;
    assert_eq!(measured["structuredContent"]["value"], 0.1);
    rejected::<ToolCall>(&json!({"name": "a", "argments": {}}), "argments");
}

#[test]
fn errors_can_be_matched_and_compared() {
    let error = || -> PoolError {
        ToolPool::builder().add(tool("same", "")).add(tool("same", "")).build().expect_err("two")
    };
    assert_eq!(error(), error());
    let expected = "the pool of tools cannot be built:\n- two tools are named `same`: one added by hand, one added by hand; rename one, or leave one out";
    assert_eq!(error().to_string(), expected);
}

#[test]
fn a_multi_line_structured_value_is_read_as_one_line() {
    let pretty =
        "{\"content\": [], \"structuredContent\": {\r\n  \"a\": \"x\\ny\",\n  \"b\": 1\n}}";
    let observation: Observation = serde_json::from_str(pretty).expect("an observation");
    assert!(!serde_json::to_string(&observation).expect("JSON").contains('\n'));
    assert_eq!(observation.structured_json(), Some(r#"{  "a": "x\ny",  "b": 1}"#));
}
