//! Errors of building a pool, its list of tools, and tools from closures.

use super::support::{call, error_text, text};
use serde_json::{Map, Value, json};
use std::time::Duration;
use tool_runtime::pool::PoolProblem;
use tool_runtime::prelude::*;
use tool_runtime::tool::Registration;
use tool_runtime::{CancellationToken, ToolPoolBuilder};

/// One.
#[tool(name = "same", register = false)]
async fn first() {}

mod elsewhere {
    use tool_runtime::prelude::*;

    /// Two.
    #[tool(name = "same", register = false)]
    pub(super) async fn second() {}
}

#[test]
fn two_linked_tools_with_one_name_are_rejected_with_their_source_locations() {
    let first = Registration::from_action::<FirstAction>("src/a.rs", 7).tool();
    let second = Registration::from_action::<elsewhere::SecondAction>("src/b.rs", 9).tool();
    let error = ToolPool::builder().add(first).add(second).build().expect_err("a duplicate");
    let text = error.to_string();
    assert!(text.contains("two tools are named `same`"), "{text}");
    assert!(text.contains("at src/a.rs:7") && text.contains("at src/b.rs:9"), "{text}");
}

#[test]
fn one_action_found_twice_is_one_tool() {
    let linked = Registration::from_action::<FirstAction>("src/a.rs", 7).tool();
    let pool = ToolPool::builder().add(linked).tool::<FirstAction>().build().expect("a pool");
    assert_eq!(pool.tools().len(), 1);
}

struct Database;

/// Query.
#[tool(register = false)]
async fn query(database: &Database, context: &ToolContext) {
    let _ = (database, context);
}

#[test]
fn missing_state_is_reported_with_the_line_to_add() {
    let error = ToolPool::builder().tool::<QueryAction>().build().expect_err("no database");
    let text = error.to_string();
    assert!(text.contains("tool `query` borrows a `suite::pools::Database`"), "{text}");
    assert!(text.contains("add `.state(value)`"), "{text}");
    assert!(ToolPool::builder().tool::<QueryAction>().state(Database).build().is_ok());
}

async fn opened() -> Database {
    Database
}

/// Stop.
#[tool(register = false)]
async fn stop(token: &CancellationToken) {
    let _ = token;
}

#[test]
fn state_of_another_type_is_named() {
    let problem = |pool: ToolPoolBuilder| pool.build().expect_err("no state").to_string();
    let result = ToolPool::builder().state(Ok::<_, std::fmt::Error>(Database));
    let text = problem(result.tool::<QueryAction>());
    let given = "it has a `core::result::Result<suite::pools::Database, core::fmt::Error>`; give or borrow the same type";
    assert!(text.contains(given), "{text}");
    let text = problem(ToolPool::builder().state(opened()).tool::<QueryAction>());
    assert!(text.contains("a future was given as state; add `.await` to it"), "{text}");
    let text = problem(ToolPool::builder().tool::<StopAction>());
    assert!(text.contains("write `context: &ToolContext` and `context.cancelled()`"), "{text}");
}

struct Lamp;

#[toolset(register = false)]
impl Lamp {
    /// Switch the lamp on.
    #[tool]
    async fn switch(&self) {}
}

#[test]
fn a_method_without_its_toolset_is_rejected() {
    let pool = ToolPool::builder().tool::<LampSwitchAction>();
    let text = pool.build().expect_err("no lamp").to_string();
    assert!(text.contains("add the toolset, by `.toolset::<T>(params)`"), "{text}");
    assert!(ToolPool::builder().tool::<LampSwitchAction>().state(Lamp).build().is_ok());
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Code {
    #[schemars(regex(pattern = "(?=a)"))]
    #[allow(dead_code)]
    code: String,
}

/// Take a code.
#[tool(register = false)]
async fn take_code(
    /// The code.
    code: Code,
) {
    let _ = code;
}

#[test]
fn a_schema_that_no_value_matches_is_rejected() {
    let text = ToolPool::builder().tool::<TakeCodeAction>().build().expect_err("no pattern");
    assert!(text.to_string().contains("has the pattern `(?=a)`, which is not usable"), "{text}");
    let of_schema = |part: Value| {
        let schema = json!({ "type": "object", "properties": { "a": part } });
        let tool = Tool::builder("a", "A.").input_schema(schema);
        let tool = tool.handler(|arguments: Map<String, Value>| async move { arguments.len() });
        ToolPool::builder().add(tool).build().expect_err("no schema").to_string()
    };
    let text = of_schema(json!({ "type": "str" }));
    assert!(text.contains("has the type `str`; write one of `string`"), "{text}");
    let text = of_schema(json!({ "items": { "minLength": 5, "maxLength": 2 } }));
    assert!(text.contains("has bounds with no value between"), "{text}");
}

const LOW: i64 = 10;
const HIGH: i64 = 5;

fn list() -> serde_json::Value {
    json!([1])
}

/// Bounds that are known only at runtime.
#[tool(register = false, meta = list())]
async fn inverted(
    /// A number.
    #[arg(range = LOW..=HIGH)]
    n: i64,
    /// Another.
    #[arg(range = 0..=HIGH, default = LOW)]
    m: i64,
) {
    let _ = (n, m);
}

#[test]
fn all_mistakes_are_reported_together() {
    let error = ToolPool::builder()
        .tool::<InvertedAction>()
        .tool::<QueryAction>()
        .add(Tool::builder("bad name", "Bad.").handler(|| async {}))
        .add(Tool::builder("undescribed", " ").handler(|| async {}))
        .add(
            Tool::builder("schema", "Bad.")
                .input_schema(json!({"type": "array"}))
                .handler(|| async {}),
        )
        .state(1_u8)
        .state(2_u8)
        .build()
        .expect_err("many problems");
    let text = error.to_string();
    for expected in [
        "no value of its argument `n` is between its bounds",
        "its default for `m` violates its own schema: `m` must be at most 5, got 10",
        "its `meta` is not an object",
        "borrows a `suite::pools::Database`",
        "bad tool name \"bad name\"",
        "tool `undescribed`: it has no description",
        "tool `schema`: its input schema is not an object schema",
        "two values of type `u8`",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in:\n{text}");
    }
    assert_eq!(error.problems().len(), 8, "{text}");
    assert!(error.problems().iter().any(|p| matches!(p, PoolProblem::DuplicateState { .. })));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind")]
enum Kind {
    A { a: i64 },
    B,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Deep {
    base: i64,
    #[serde(flatten)]
    kind: Kind,
}

/// Flatten an enum, which is not possible.
#[tool(register = false)]
async fn too_flat(#[arg(flatten)] deep: Deep) -> i64 {
    match deep.kind {
        Kind::A { a } => deep.base + a,
        Kind::B => deep.base,
    }
}

#[tokio::test]
async fn only_plain_fields_can_be_flattened_into_a_tool() {
    let error = ToolPool::builder().tool::<TooFlatAction>().build().expect_err("an enum inside");
    assert!(error.to_string().contains("not a struct of plain named fields"), "{error}");
    // A closure decodes such a type as a whole, and rejects unknown fields.
    let tool = Tool::builder("deep", "D.").handler(|deep: Deep| async move { deep.base });
    let pool = ToolPool::builder().add(tool).build().expect("a pool");
    assert_eq!(text(&pool, "deep", r#"{"base":1,"kind":"B"}"#).await, "1");
    assert!(error_text(&pool, "deep", r#"{"base":1,"kind":"B","zz":1}"#).await.contains("`zz`"));
}

#[tokio::test]
async fn a_closure_without_fields_rejects_arguments() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Empty {}
    let tool = Tool::builder("empty", "E.").handler(|_: Empty| async {});
    let pool = ToolPool::builder().add(tool).build().expect("a pool");
    assert!(error_text(&pool, "empty", r#"{"a":1}"#).await.contains("`a`"));
}

#[test]
fn a_recursive_output_keeps_its_nulls() {
    #[derive(serde::Serialize, schemars::JsonSchema)]
    struct Tree {
        label: Option<i64>,
        children: Vec<Tree>,
    }
    /// Grow.
    #[tool(register = false)]
    async fn grow() -> Tree {
        Tree { label: None, children: vec![] }
    }
    let schema = Value::Object(GrowAction::definition().output_schema.expect("a schema"));
    assert_eq!(schema.to_string().matches(r#"["integer","null"]"#).count(), 3, "{schema}");
}

#[test]
fn the_listing_is_sorted_and_always_the_same_bytes() {
    let names = ["web.search", "add", "zip", "Add2", "a-b", "a_b"];
    let build = |rotate: usize| {
        let mut names = names;
        names.rotate_left(rotate);
        let tools =
            names.map(|name| Tool::builder(name, "Do it.").tags(["x"]).handler(|| async {}));
        let builder = tools.into_iter().fold(ToolPool::builder(), |pool, tool| pool.add(tool));
        builder.build().expect("a pool").definitions_json().to_owned()
    };
    let first = build(0);
    assert!((1..names.len()).all(|rotate| build(rotate) == first));
    let listed: Vec<Value> = serde_json::from_str(&first).expect("JSON");
    let listed: Vec<&str> = listed.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(listed, ["Add2", "a-b", "a_b", "add", "web.search", "zip"]);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Greet {
    /// The name of the person.
    name: String,
    /// The number of times.
    #[serde(default)]
    #[schemars(range(max = 3))]
    times: u32,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Greeting {
    text: String,
}

#[tokio::test]
async fn a_closure_can_be_a_tool() {
    let greet = Tool::builder("greet", "Greet somebody.").read_only(true).handler(
        |greet: Greet| async move {
            let text = format!("Hello, {}!", greet.name).repeat(greet.times as usize);
            if greet.name.is_empty() {
                Err("the name is empty")
            } else {
                Ok(Json(Greeting { text }))
            }
        },
    );
    let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    let raw = Tool::builder("raw", "Take anything.")
        .input_schema(json!({"type": "object", "required": ["a"]}))
        .handler(|map: Map<String, Value>, context: ToolContext| async move {
            format!("{} {}", map.len(), context.get::<u8>().copied().unwrap_or_default())
        });
    let slow = Tool::builder("slow", "Never end.")
        .timeout(Duration::from_millis(10))
        .handler(std::future::pending::<()>);
    let pool = ToolPool::builder()
        .add(greet)
        .add(ping)
        .add(raw)
        .add(slow)
        .state(9_u8)
        .build()
        .expect("a pool");
    let result = call(&pool, "greet", r#"{"name":"Ada","times":2}"#).await;
    assert_eq!(result["structuredContent"], json!({"text": "Hello, Ada!Hello, Ada!"}));
    assert_eq!(error_text(&pool, "greet", r#"{"name":""}"#).await, "the name is empty");
    assert!(error_text(&pool, "greet", r#"{"nam":"x"}"#).await.contains("did you mean `name`?"));
    assert!(error_text(&pool, "greet", r#"{"name":"x","times":4}"#).await.contains("at most 3"));
    assert_eq!(text(&pool, "ping", "").await, "pong");
    assert_eq!(text(&pool, "raw", r#"{"a":1,"b":[]}"#).await, "2 9");
    assert!(error_text(&pool, "raw", r#"{"b":1}"#).await.contains("missing required argument `a`"));
    assert!(error_text(&pool, "slow", "").await.contains("10ms"));
    let schema = pool.get("greet").expect("the tool").definition().output_schema.clone();
    assert_eq!(schema.expect("a schema")["properties"]["text"]["type"], "string");
}
