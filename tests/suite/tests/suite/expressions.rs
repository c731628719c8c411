//! Expressions in `#[arg]`: evaluated when the pool is built, and checked against the constraints.

use super::support::text;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use tool_runtime::pool::PoolProblem;
use tool_runtime::prelude::*;

static EVALUATIONS: AtomicUsize = AtomicUsize::new(0);

fn counted() -> i64 {
    EVALUATIONS.fetch_add(1, Ordering::SeqCst);
    7
}

/// Return the number.
#[tool(register = false)]
async fn number(
    /// A number.
    #[arg(default = counted())]
    n: i64,
) -> i64 {
    n
}

#[tokio::test]
async fn a_default_is_evaluated_for_the_schema_and_for_each_call_without_the_argument() {
    let count = || EVALUATIONS.load(Ordering::SeqCst);
    let pool = ToolPool::builder().tool::<NumberAction>().build().expect("a pool");
    assert_eq!(count(), 1, "once for the schema");
    assert_eq!(pool.tools()[0].definition().argument("n").unwrap()["default"], 7);
    assert_eq!(text(&pool, "number", r#"{"n":1}"#).await, "1");
    assert!(pool.call_json("number", r#"{"n":"x"}"#).await.contains("must be an integer"));
    assert_eq!(count(), 1, "it is given in these calls");
    assert_eq!(text(&pool, "number", "").await, "7");
    assert_eq!(count(), 2);
}

fn broken<T>() -> T {
    panic!("no such variable")
}

/// Declare a default that panics.
#[tool(register = false)]
async fn broken_tool(
    /// A number.
    #[arg(default = broken())]
    n: i64,
    /// Another.
    #[arg(range = ..=broken::<i64>())]
    m: i64,
) {
    let _ = (n, m);
}

/// Declare a default that panics.
#[prompt(register = false)]
async fn broken_text(
    /// A topic.
    #[arg(example = broken::<String>())]
    topic: String,
) -> String {
    topic
}

#[test]
fn an_expression_that_panics_is_a_problem_of_its_tool_and_parameter() {
    let builder = ToolPool::builder().tool::<BrokenToolAction>().prompt::<BrokenTextPrompt>();
    let error = builder.build().expect_err("it panics");
    let text = error.to_string();
    for expected in [
        "tool `broken_tool`: the default or example of its argument `n` panicked: no such variable",
        "tool `broken_tool`: the limits of its argument `m` panicked: no such variable",
        "prompt `broken_text`: the default or example of its argument `topic` panicked",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in:\n{text}");
    }
    assert_eq!(error.problems().len(), 3, "{text}");
}

const HIGH: i64 = 9;

/// Declare examples that are not valid.
#[tool(register = false)]
async fn bad_examples(
    /// A number.
    #[arg(range = 1..=HIGH, example = HIGH + 1)]
    range: i64,
    /// A text.
    #[arg(length = 1..=3, example = "abcd".to_owned())]
    length: String,
    /// Letters.
    #[arg(pattern = "^[a-z]+$", example = "ABC".to_owned())]
    pattern: String,
    /// A day.
    #[arg(format = "date", example = "yesterday")]
    format: String,
    /// A key.
    #[arg(secret, length = 9.., default = "hush".to_owned())]
    key: String,
) {
    let _ = (range, length, pattern, format, key);
}

#[test]
fn an_example_satisfies_the_constraints_of_its_parameter() {
    let builder = ToolPool::builder().tool::<BadExamplesAction>();
    let error = builder.build().expect_err("rejected");
    let text = error.to_string();
    for expected in [
        "its example for `range` violates its own schema: `range` must be at most 9, got 10",
        "its example for `length` violates",
        "its example for `pattern` violates",
        "its example for `format` violates",
        "its default for `key` violates",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in:\n{text}");
    }
    assert_eq!(error.problems().len(), 5, "{text}");
    assert!(!text.contains("hush"), "a secret stays one: {text}");
}

/// Accept numbers within bounds that are computed at run time.
#[tool(register = false)]
async fn unbounded(
    /// A number.
    #[arg(range = f64::NEG_INFINITY..=f64::INFINITY)]
    any: f64,
    /// Another.
    #[arg(range = f64::NAN..)]
    none: f64,
) {
    let _ = (any, none);
}

#[test]
fn a_bound_must_be_a_number() {
    let schema = UnboundedAction::definition().input_schema;
    assert_eq!(schema["properties"]["any"], json!({"type": "number", "description": "A number."}));
    let error = ToolPool::builder().tool::<UnboundedAction>().build().expect_err("NaN");
    let text = error.to_string();
    assert!(text.contains("a bound of its argument `none` is not a finite number"), "{text}");
    assert_eq!(error.problems().len(), 1, "{text}");
}

const PRIORITY: f64 = 2.0;

/// A file.
#[resource("file://a", priority = PRIORITY, register = false)]
async fn with_priority() -> &'static str {
    "a"
}

#[test]
fn empty_titles_and_tags_and_a_priority_outside_of_its_range_are_rejected() {
    let ping = Tool::builder("ping", "Answer.").title(" ").tags(["net", ""]);
    let prompt = Prompt::builder("hello", "Greet.").title("");
    let error = ToolPool::builder()
        .add(ping.handler(|| async {}))
        .add_prompt(prompt.handler(|| async { "Hello!" }))
        .resource::<WithPriorityResource>()
        .build()
        .expect_err("a lot");
    let text = error.to_string();
    for expected in [
        "tool `ping`: its title is empty",
        "tool `ping`: one of its tags is empty",
        "prompt `hello`: its title is empty",
        "resource `file://a`: its priority is 2; write a number from 0 to 1",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in:\n{text}");
    }
    assert_eq!(error.problems().len(), 4, "{text}");
}

/// Take an optional number.
#[tool(register = false)]
async fn optional(
    /// A number.
    #[arg(default, example = None)]
    n: Option<i64>,
) -> bool {
    n.is_none()
}

#[tokio::test]
async fn an_optional_value_has_no_published_default() {
    let pool = ToolPool::builder().tool::<OptionalAction>().build().expect("a pool");
    let n = json!({"type": "integer", "description": "A number."});
    assert_eq!(pool.tools()[0].definition().argument("n"), Some(&n));
    assert_eq!(text(&pool, "optional", "").await, "true");
}

fn requires(name: &str) -> serde_json::Value {
    json!({ "type": "object", "properties": { (name): {} }, "required": [name], "additionalProperties": false })
}

/// Require a property that the schema does not declare.
#[tool(register = false, input_schema = requires("query"))]
async fn requires_undeclared(
    /// The text to search for.
    #[arg(alias = "q")]
    text: Option<String>,
) {
    let _ = text;
}

/// Omit a required argument.
#[tool(register = false, input_schema = json!({ "type": "object", "additionalProperties": false }))]
async fn omits_required(
    /// The text to search for.
    text: String,
) {
    let _ = text;
}

/// Require an argument by its alias.
#[tool(register = false, input_schema = requires("q"))]
async fn by_alias(
    /// The text to search for.
    #[arg(alias = "q")]
    text: String,
) -> String {
    text
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Search {
    text: String,
}

#[tokio::test]
async fn a_given_schema_that_no_call_can_satisfy_is_rejected() {
    let closure = Tool::builder("closure", "Search.").input_schema(requires("query"));
    let with = |properties| json!({ "type": "object", "properties": properties });
    let open = Tool::builder("open", "Search.").input_schema(with(json!({ "query": {} })));
    let number = with(json!({ "text": { "type": "integer" } }));
    let number = Tool::builder("number", "Search.").input_schema(number);
    let error = ToolPool::builder()
        .tool::<RequiresUndeclaredAction>()
        .tool::<OmitsRequiredAction>()
        .add(closure.handler(|search: Search| async move { search.text }))
        .add(open.handler(|search: Search| async move { search.text }))
        .add(number.handler(|search: Search| async move { search.text }))
        .build()
        .expect_err("nothing could call them");
    let text_of = error.to_string();
    for expected in [
        "tool `requires_undeclared`: its input schema requires `query`, which is not one of its arguments",
        "tool `omits_required`: its input schema has no property `text`, an argument that every call needs",
        "tool `closure`: its input schema requires `query`",
        "tool `closure`: its input schema has no property `text`",
        "tool `open`: its input schema has no property `text`",
        "tool `number`: its input schema says that `text` is of the type `integer`, and the argument is of the type `string`; change one of the two",
    ] {
        assert!(text_of.contains(expected), "{expected:?} is not in:\n{text_of}");
    }
    assert_eq!(error.problems().len(), 6, "{text_of}");
    assert!(
        error
            .problems()
            .iter()
            .all(|problem| matches!(problem, PoolProblem::InvalidDefinition { .. }))
    );
    let pool = ToolPool::builder().tool::<ByAliasAction>().build().expect("an alias is a name");
    assert_eq!(text(&pool, "by_alias", r#"{"q":"rust"}"#).await, "rust");
}

#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Page {
    /// The page size.
    limit: i64,
    /// The item before the page.
    after: Option<String>,
}

/// List things.
#[tool(register = false)]
async fn list(
    /// The kind.
    kind: String,
    #[arg(flatten)] page: Option<Page>,
) -> String {
    format!("{kind} {:?}", page.map(|page| (page.limit, page.after)))
}

#[tokio::test]
async fn an_optional_flattened_parameter_without_fields_is_none() {
    let pool = ToolPool::builder().tool::<ListAction>().build().expect("a pool");
    let schema = pool.tools()[0].definition().input_schema.clone();
    assert_eq!(schema["required"], json!(["kind"]));
    assert_eq!(schema["properties"]["limit"]["type"], "integer");
    for (arguments, expected) in [
        (r#"{"kind":"a"}"#, "a None"),
        (r#"{"kind":"a","limit":null}"#, "a None"),
        (r#"{"kind":"a","limit":2}"#, "a Some((2, None))"),
        (r#"{"kind":"a","limit":2,"after":"x"}"#, r#"a Some((2, Some("x")))"#),
    ] {
        assert_eq!(text(&pool, "list", arguments).await, expected, "{arguments}");
    }
    let part = pool.call_json("list", r#"{"kind":"a","after":"x"}"#).await;
    assert!(part.contains("missing required argument `limit`"), "{part}");
    let unknown = pool.call_json("list", r#"{"kind":"a","limits":2}"#).await;
    assert!(unknown.contains("limits") && unknown.contains("`limit`"), "{unknown}");
}
