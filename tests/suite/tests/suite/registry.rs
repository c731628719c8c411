//! Tools from specifications in configurations.

use super::support::text;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use tool_runtime::pool::{Registry, RegistryError, ToolSpec};
use tool_runtime::prelude::*;

/// A counter.
struct Tally(AtomicI64);

#[derive(Clone, Deserialize, schemars::JsonSchema)]
struct TallyParams {
    /// The initial count.
    start: i64,
    /// The label.
    #[serde(default)]
    #[schemars(length(max = 8))]
    label: Option<String>,
}

#[toolset(register = false)]
impl Tally {
    /// Add one.
    #[tool(destructive = false)]
    async fn up(&self) -> i64 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Take one away.
    #[tool(destructive = false)]
    async fn down(&self) -> i64 {
        self.0.fetch_sub(1, Ordering::SeqCst) - 1
    }
}

impl Toolset for Tally {
    type Params = TallyParams;

    async fn create(params: TallyParams, _: &ToolContext) -> Result<Self, ToolError> {
        if params.label.as_deref() == Some("bad") {
            return Err(ToolError::internal("the label printer is on fire"));
        }
        Ok(Self(AtomicI64::new(params.start)))
    }
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Greeting {
    /// The text to say.
    text: String,
}

fn tool(name: &str, answer: impl Into<String>) -> Tool {
    let answer: String = answer.into();
    Tool::builder(name, "Answer at once.").handler(move || std::future::ready(answer.clone()))
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    registry
        .tool(tool("fs.read", "read"))
        .and_then(|registry| registry.tool(tool("fs.write", "written")))
        .and_then(Registry::toolset::<Tally>)
        .and_then(|registry| {
            registry
                .factory("greet", |params: Greeting| Ok::<_, ToolError>(tool("greet", params.text)))
        })
        .and_then(|registry| {
            registry.factory("pair", |(): ()| async {
                tokio::task::yield_now().await;
                Ok::<_, ToolError>(vec![tool("left", "l"), tool("right", "r")])
            })
        })
        .and_then(|registry| {
            registry.factory("broken", |(): ()| Err::<Tool, _>(ToolError::user("no disk")))
        })
        .and_then(|registry| {
            registry.factory("boom", |(): ()| -> Result<Tool, ToolError> { panic!("boom") })
        })
        .and_then(|registry| {
            registry.factory("later_boom", |(): ()| async {
                tokio::task::yield_now().await;
                if true {
                    panic!("boom");
                }
                Ok::<Tool, ToolError>(tool("never", ""))
            })
        })
        .expect("names that are free");
    registry
}

async fn names(specs: &[ToolSpec]) -> Vec<String> {
    let tools = registry().resolve(specs).await.expect("tools");
    tools.iter().map(|tool| tool.name().to_owned()).collect()
}

async fn pool(specs: &[ToolSpec]) -> ToolPool {
    let tools = registry().resolve(specs).await.expect("tools");
    tools.into_iter().fold(ToolPool::builder(), |pool, tool| pool.add(tool)).build().expect("pool")
}

async fn errors(specs: &[ToolSpec]) -> Vec<String> {
    match registry().resolve(specs).await.expect_err("problems") {
        RegistryError::Specs(problems) => problems.iter().map(ToString::to_string).collect(),
        other => panic!("{other}"),
    }
}

async fn error_of(spec: ToolSpec) -> String {
    let problems = errors(&[spec]).await;
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems.into_iter().next().expect("one")
}

#[tokio::test]
async fn a_registered_tool_is_returned_unchanged_and_takes_no_parameters() {
    let ready = tool("ready", "yes");
    let mut registry = Registry::new();
    registry.tool(ready.clone()).expect("a free name");
    let tools = registry.resolve(&[ToolSpec::new("ready")]).await.expect("a tool");
    assert!(std::ptr::eq(tools[0].definition(), ready.definition()));
    let message = error_of(ToolSpec::new("fs.read").with("path", "/")).await;
    assert_eq!(
        message,
        "spec 1 (`fs.read`): it is a single tool and takes no `params`; remove them"
    );
    let message = error_of(ToolSpec::new("fs.*").with("path", "/")).await;
    assert!(message.contains("`fs.read`: it is a single tool"), "{message}");
}

#[tokio::test]
async fn a_toolset_is_created_from_its_parameters() {
    let pool = pool(&[ToolSpec::new("tally").with("start", 40)]).await;
    assert_eq!(text(&pool, "tally.up", "").await, "41");
    assert_eq!(text(&pool, "tally.down", "").await, "40");
}

#[tokio::test]
async fn invalid_parameters_are_reported_by_field_together() {
    let spec = ToolSpec::new("tally").with("strat", 1).with("label", "much too long");
    let message = error_of(spec).await;
    assert!(message.starts_with("spec 1 (`tally`): "), "{message}");
    for expected in ["`strat`", "did you mean `start`?", "missing", "`label`"] {
        assert!(message.contains(expected), "{expected:?} is not in {message}");
    }
    let message = error_of(ToolSpec::new("tally").with("start", "one")).await;
    assert!(message.contains("`start`") && message.contains("integer"), "{message}");
    let message = error_of(ToolSpec::new("greet").with("txet", "hi").with("text", "hi")).await;
    assert!(message.contains("`txet`"), "{message}");
    let message = error_of(ToolSpec::new("pair").with("a", 1)).await;
    assert!(message.contains("`a`"), "{message}");
}

#[tokio::test]
async fn the_error_of_create_is_reported_completely() {
    let spec = ToolSpec::new("tally").with("start", 1).with("label", "bad");
    let message = error_of(spec).await;
    assert_eq!(message, "spec 1 (`tally`): the label printer is on fire");
}

#[tokio::test]
async fn sync_and_async_factories_create_one_or_many_tools() {
    let specs = [ToolSpec::new("greet").with("text", "hello"), ToolSpec::new("pair")];
    let pool = pool(&specs).await;
    assert_eq!(text(&pool, "greet", "").await, "hello");
    assert_eq!(text(&pool, "left", "").await, "l");
    assert_eq!(text(&pool, "right", "").await, "r");
}

#[tokio::test]
async fn all_mistakes_are_reported_together_by_position() {
    let specs = ["broken", "fs.read", "boom", "later_boom", "great", "zzzzzz", "fs.["];
    let message = errors(&specs.map(ToolSpec::new)).await;
    assert_eq!(message[0], "spec 1 (`broken`): no disk");
    assert_eq!(message[1], "spec 3 (`boom`): creation panicked: boom");
    assert_eq!(message[2], "spec 4 (`later_boom`): creation panicked: boom");
    assert_eq!(message[3], "spec 5 (`great`): unknown name; did you mean `greet`?");
    assert!(message[4].starts_with("spec 6 (`zzzzzz`): unknown name; registered names: `boom`"));
    assert!(message[5].contains("never closed"), "{}", message[5]);
    assert_eq!(message.len(), 6);
}

#[tokio::test]
async fn errors_of_unknown_names_suggest_tools_of_toolsets_too() {
    let message = error_of(ToolSpec::new("tally.upp")).await;
    assert!(message.contains("did you mean `tally.up`"), "{message}");
    let message = Registry::new().resolve(&[ToolSpec::new("a")]).await.expect_err("unknown");
    assert!(message.to_string().contains("nothing is registered"), "{message}");
    // A glob without a match is a mistake, too.
    assert!(error_of(ToolSpec::new("web.*")).await.contains("unknown name"));
}

#[tokio::test]
async fn a_name_is_exact_a_glob_or_one_tool_of_a_toolset() {
    assert_eq!(names(&[ToolSpec::new("fs.write")]).await, ["fs.write"]);
    assert_eq!(names(&[ToolSpec::new("fs.*")]).await, ["fs.read", "fs.write"]);
    let start = |name: &str| ToolSpec::new(name).with("start", 1);
    assert_eq!(names(&[start("tally.down")]).await, ["tally.down"]);
    assert_eq!(names(&[start("tally.*")]).await, ["tally.up", "tally.down"]);
    assert_eq!(names(&[start("tall?")]).await, ["tally.up", "tally.down"]);
    assert_eq!(names(&[ToolSpec::new("fs*"), start("tally.u*")]).await.len(), 3);
}

#[tokio::test]
async fn specs_of_one_toolset_with_equal_parameters_share_one_value() {
    let spec = |name: &str, start: i64| ToolSpec::new(name).with("label", "x").with("start", start);
    let turned = ToolSpec::new("tally.down").with("start", 0).with("label", "x");
    let shared = pool(&[spec("tally.up", 0), turned, spec("tally", 0)]).await;
    assert_eq!(shared.tools().len(), 2);
    assert_eq!(text(&shared, "tally.up", "").await, "1");
    assert_eq!(text(&shared, "tally.down", "").await, "0");
    let apart = pool(&[spec("tally.up", 0), spec("tally.down", 5)]).await;
    assert_eq!(text(&apart, "tally.up", "").await, "1");
    assert_eq!(text(&apart, "tally.down", "").await, "4");
    // Another call of `resolve` creates new values.
    let other = pool(&[spec("tally", 0)]).await;
    assert_eq!(text(&other, "tally.up", "").await, "1");
}

#[tokio::test]
async fn a_factory_runs_once_for_equal_parameters() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let mut registry = Registry::new();
    registry
        .factory("greet", move |params: Greeting| {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ToolError>(tool("greet", params.text))
        })
        .expect("a free name");
    let spec = |text: &str| ToolSpec::new("greet").with("text", text);
    registry.resolve(&[spec("a"), spec("a"), spec("b")]).await.expect("tools");
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[test]
fn rejects_a_name_that_is_taken() {
    let mut registry = registry();
    let assert_name_is_taken = |result: Result<&mut Registry, RegistryError>, expected: &str| {
        let error = result.map(drop).expect_err("an error");
        assert!(matches!(&error, RegistryError::Taken { name } if name == expected), "{error}");
        assert!(error.to_string().contains("give one of the two another name"), "{error}");
    };
    assert_name_is_taken(registry.tool(tool("greet", "")), "greet");
    assert_name_is_taken(registry.toolset::<Tally>(), "tally");
    assert_name_is_taken(
        registry.factory("fs.read", |(): ()| Ok::<_, ToolError>(tool("x", ""))),
        "fs.read",
    );
}

#[test]
fn registries_are_independent() {
    assert_eq!(Registry::new().names().count(), 0);
    let names: Vec<String> = registry().names().map(str::to_owned).collect();
    let sorted = ["boom", "broken", "fs.read", "fs.write", "greet", "later_boom", "pair", "tally"];
    assert_eq!(names, sorted);
}

#[tokio::test]
async fn linked_toolsets_register_themselves() {
    let registry = Registry::linked();
    assert!(registry.names().any(|name| name == "counter"), "{registry:?}");
    let spec = ToolSpec::new("counter.add").with("start", 5).with("step", 2);
    let tools = registry.resolve(&[spec]).await.expect("tools");
    let pool = ToolPool::builder().add(tools[0].clone()).build().expect("a pool");
    assert_eq!(text(&pool, "counter.add", r#"{"times":1}"#).await, "7");
}

#[derive(Debug, PartialEq, Deserialize)]
struct Configuration {
    tools: Vec<ToolSpec>,
}

const JSON: &str = r#"{ "tools": [
    "fs.*",
    { "name": "pair", "params": null },
    { "name": "tally", "params": { "start": 3, "label": "x" } }
] }"#;

const YAML: &str = "
tools:
  - fs.*
  - name: pair
    params: null
  - name: tally
    params: { start: 3, label: x }
";

const TOML: &str = r#"
tools = ["fs.*", { name = "pair" }, { name = "tally", params = { start = 3, label = "x" } }]
"#;

const TOML_TABLES: &str = r#"
[[tools]]
name = "fs.*"
[[tools]]
name = "pair"
[[tools]]
name = "tally"
[tools.params]
start = 3
label = "x"
"#;

fn read(text: &str) -> Result<Configuration, String> {
    match text.trim_start().chars().next() {
        Some('{') => serde_json::from_str(text).map_err(|error| error.to_string()),
        _ if text.contains(" = ") => toml::from_str(text).map_err(|error| error.to_string()),
        _ => serde_norway::from_str(text).map_err(|error| error.to_string()),
    }
}

#[tokio::test]
async fn specifications_are_read_from_json_toml_and_yaml_alike() {
    let expected = vec![
        ToolSpec::new("fs.*"),
        ToolSpec::new("pair"),
        ToolSpec::new("tally").with("start", 3).with("label", "x"),
    ];
    for text in [JSON, YAML, TOML, TOML_TABLES] {
        assert_eq!(read(text).expect(text).tools, expected, "{text}");
    }
    let pool = pool(&expected).await;
    assert_eq!(text(&pool, "tally.up", "").await, "4");
}

#[test]
fn a_mistake_in_a_specification_is_reported_by_name() {
    for (text, expected) in [
        (r#"{ "tools": [{ "name": "a", "parms": {} }] }"#, "`parms`"),
        ("tools = [{ name = \"a\", parms = {} }]", "`parms`"),
        ("tools:\n  - name: a\n    parms: {}\n", "parms"),
        (r#"{ "tools": [{ "params": {} }] }"#, "missing field `name`"),
        ("tools = [{ params = {} }]", "missing field `name`"),
        ("tools:\n  - params: {}\n", "name"),
        (r#"{ "tools": [7] }"#, "a tool's name, or an object with `name`, `prefix` and `params`"),
        ("tools = [7]", "a tool's name, or an object with `name`, `prefix` and `params`"),
        (r#"{ "tools": [{ "name": "a", "params": [] }] }"#, "a map"),
        ("tools = [{ name = \"a\", params = [] }]", "a map"),
        ("tools:\n  - name: a\n    params: []\n", "map"),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn writing_a_specification_and_reading_it_back_loses_nothing() {
    let nested = json!({ "a": [1, 2.5, null, true], "b": { "c": "d" } });
    let specs = [ToolSpec::new("a"), ToolSpec::new("b.*").with("x", nested).with("y", u64::MAX)];
    let written = serde_json::to_string(&specs).expect("JSON");
    assert_eq!(serde_json::from_str::<Vec<ToolSpec>>(&written).expect("specs"), specs);
    assert!(written.starts_with(r#"[{"name":"a"},"#), "{written}");
}
