use super::*;
use crate::pool::ToolPool;
use crate::tool::{Arguments, Executor, Observation, ToolCall, ToolContext};
use crate::vocabulary::BoxFuture;
use crate::vocabulary::error::CallError;
use serde_json::json;

/// A tool that answers with the text of its arguments.
struct Echo;

impl Executor for Echo {
    fn call<'a>(
        &'a self,
        arguments: Arguments<'a>,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move { Ok(Observation::text(arguments.as_str())) })
    }
}

fn echo(schema: Value) -> Tool {
    Tool::new(
        ToolDefinition::new("echo", "Answer with the arguments.").with_input_schema(schema),
        Echo,
    )
}

fn search() -> Tool {
    echo(json!({
        "type": "object",
        "properties": {
            "q": { "type": "string", "description": "The words." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
            "sort": { "enum": ["new", "old", "best"] },
            "key": { "type": "string" },
        },
        "required": ["q", "key"],
        "additionalProperties": false,
    }))
}

/// The text of the result of a call, or of its error.
async fn called(tool: &Tool, arguments: &str) -> String {
    let pool = ToolPool::builder().add(tool.clone()).build().unwrap();
    let result = pool.call(ToolCall::new(tool.name(), arguments)).await;
    result.observation().to_text()
}

fn problems(tool: &Tool, transform: ToolTransform) -> String {
    let error = tool.transform(&transform).expect_err("a transform that does not fit");
    error.problems().join("\n")
}

#[tokio::test]
async fn arguments_are_renamed_fixed_and_completed_without_touching_their_text() {
    let tool = search()
        .transform(
            &ToolTransform::new()
                .name("find")
                .rename("q", "query")
                .fix("key", "8fQm2x")
                .default_value("limit", 10)
                .hide("sort"),
        )
        .unwrap();
    let schema = Value::Object(tool.definition().input_schema.clone());
    let expected = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "The words." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 10 },
        },
        "required": ["query"],
        "additionalProperties": false,
    });
    assert_eq!(schema, expected);
    let text = called(&tool, r#"{ "query" : "\u0061 b" }"#).await;
    assert_eq!(text, r#"{"q":"\u0061 b","key":"8fQm2x","limit":10}"#);
    let text = called(&tool, r#"{"query":"a","limit":1.0e1}"#).await;
    assert_eq!(text, r#"{"q":"a","limit":1.0e1,"key":"8fQm2x"}"#);
    let text = called(&tool, r#"{"query":"a","limit":null}"#).await;
    assert_eq!(text, r#"{"q":"a","key":"8fQm2x","limit":10}"#, "null is absent");
    assert_eq!(search().definition(), tool.made_from().unwrap().definition());
}

#[tokio::test]
async fn models_cannot_give_what_is_hidden() {
    let tool = search().transform(&ToolTransform::new().rename("q", "query").fix("key", "8fQm2x"));
    let tool = tool.unwrap();
    for arguments in [r#"{"query":"a","key":"mine"}"#, r#"{"query":"a","q":"b"}"#] {
        let text = called(&tool, arguments).await;
        assert!(text.contains("unknown argument"), "{text}");
        assert!(!text.contains("8fQm2x"), "{text}");
    }
    // A new name may be one that was hidden.
    let swapped = ToolTransform::new().rename("q", "key").fix("key", "8fQm2x");
    let tool = search().transform(&swapped).unwrap();
    assert_eq!(called(&tool, r#"{"key":"a"}"#).await, r#"{"q":"a","key":"8fQm2x"}"#);
}

#[tokio::test]
async fn a_transform_without_changed_arguments_passes_the_text_on() {
    let tool = search().transform(&ToolTransform::new().name("find").title("Find")).unwrap();
    assert_eq!(called(&tool, r#" { "q": "a","key":"b" } "#).await, r#" { "q": "a","key":"b" } "#);
}

#[tokio::test]
async fn a_narrowed_argument_rejects_more_and_says_so_under_its_new_name() {
    let transform = ToolTransform::new()
        .argument(
            "limit",
            ArgumentTransform::new().name("count").required(true).schema(json!({ "maximum": 20 })),
        )
        .narrow("sort", json!({ "enum": ["new", "old"] }));
    let tool = search().transform(&transform).unwrap();
    assert_eq!(tool.definition().argument("count").unwrap()["maximum"], 20);
    assert_eq!(tool.definition().input_schema["required"], json!(["q", "count", "key"]));
    let text = called(&tool, r#"{"q":"a","key":"b","count":50,"sort":"best"}"#).await;
    assert!(text.contains("`count` must be at most 20, got 50"), "{text}");
    assert!(text.contains(r#"`sort` must be"#) && !text.contains("limit"), "{text}");
    let text = called(&tool, r#"{"q":"a","key":"b"}"#).await;
    assert!(text.contains("missing required argument `count`"), "{text}");
    let text = called(&tool, r#"{"q":"a","key":"b","count":5}"#).await;
    assert_eq!(text, r#"{"q":"a","key":"b","limit":5}"#);
}

#[test]
fn a_narrowing_keyword_replaces_that_of_the_tool_if_it_is_tighter() {
    let narrow = |schema: Value| ToolTransform::new().narrow("limit", schema);
    let tool = search().transform(&narrow(json!({ "maximum": 50, "multipleOf": 5 }))).unwrap();
    let property = tool.definition().argument("limit").unwrap().clone();
    let expected = json!({ "type": "integer", "minimum": 1, "maximum": 50, "multipleOf": 5 });
    assert_eq!(property, expected);
    let text = problems(&search(), narrow(json!({ "minimum": -5 })));
    assert!(text.contains("`minimum`: -5, which may allow more than the tool's own 1"), "{text}");
}

#[test]
fn every_mistake_is_found_before_the_first_call() {
    let transform =
        |name: &str, argument: ArgumentTransform| ToolTransform::new().argument(name, argument);
    let new = ArgumentTransform::new;
    let cases = [
        (transform("limits", new()), "it has no argument `limits`; did you mean `limit`?"),
        (ToolTransform::new().rename("q", "limit"), "two of its arguments would be named `limit`"),
        (ToolTransform::new().hide("q"), "argument `q` is required, so hiding it needs a `value`"),
        (
            ToolTransform::new().fix("limit", 500),
            "rejects the new value: `limit` must be at most 100",
        ),
        (
            ToolTransform::new().default_value("limit", "ten"),
            "rejects the new value: `limit` must be",
        ),
        (
            ToolTransform::new().narrow("sort", json!({ "enum": ["new", "random"] })),
            r#"allows "random""#,
        ),
        (ToolTransform::new().narrow("sort", json!({ "enun": ["new"] })), "did you mean `enum`?"),
        (ToolTransform::new().narrow("q", json!({ "pattern": "(" })), "has an invalid `pattern`"),
        (
            ToolTransform::new().narrow("q", json!({ "type": "integer" })),
            r#"allows the type "integer""#,
        ),
        (
            ToolTransform::new().narrow("limit", json!({ "maximum": "9" })),
            "has a `maximum` that is not a number",
        ),
        (
            ToolTransform::new().narrow("q", json!({ "contains": {} })),
            "`contains`, which narrows nothing",
        ),
        (ToolTransform::new().narrow("q", 5), "has a `schema` that is not an object"),
        (
            ToolTransform::new().narrow("limit", json!({ "maximum": 5 })).default_value("limit", 9),
            "rejects its `default`",
        ),
        (transform("q", new().value("a").name("b")), "is hidden, so nothing else"),
        (
            transform("limit", new().default_value(5).required(true)),
            "has a `default` and is `required`",
        ),
        (transform("q", new().required(false)), "is required by the tool; give it a `default`"),
        (transform("q", new().name("")), "gets an empty name"),
        (ToolTransform::new().prefix(""), "its new prefix is empty"),
    ];
    for (transform, expected) in cases {
        let text = problems(&search(), transform.clone());
        assert!(text.contains(expected), "{transform:?}: {text}");
    }
    let text = problems(&search(), ToolTransform::new().fix("limit", "8fQm2x"));
    assert!(!text.contains("8fQm2x"), "{text}");
}

#[test]
fn arguments_that_depend_on_each_other_keep_their_names() {
    let tool = echo(json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "url": { "type": "string" } },
        "oneOf": [{ "required": ["path"] }, { "required": ["url"] }],
    }));
    for change in [ToolTransform::new().rename("path", "file"), ToolTransform::new().hide("path")] {
        let text = problems(&tool, change);
        assert!(text.contains("related to others by `oneOf`"), "{text}");
    }
    assert!(
        tool.transform(&ToolTransform::new().narrow("path", json!({ "minLength": 1 }))).is_ok()
    );
}

#[test]
fn the_text_of_a_transform_is_read_strictly_and_written_back() {
    let text = r#"{"name":"find","arguments":{"key":{"value":"8fQm2x"},"q":{"name":"query"}}}"#;
    let transform: ToolTransform = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&transform).unwrap(), text);
    assert!(!format!("{transform:?}").contains("8fQm2x"));
    let error =
        crate::pool::PoolConfig::from_json(r#"{"transform":{"a":{"arguments":{"b":{"valu":1}}}}}"#);
    assert!(error.unwrap_err().to_string().contains("did you mean `value`?"));
}

#[cfg(all(feature = "toml", feature = "yaml"))]
#[tokio::test]
async fn a_file_of_tools_transforms_in_every_format() {
    use crate::pool::{PoolConfig, Registry};
    let json = r#"{ "tools": ["echo"], "transform": { "echo": {
        "name": "say", "arguments": { "q": { "name": "words" } } } } }"#;
    let toml = "tools = ['echo']\n[transform.echo]\nname = 'say'\narguments.q = { name = 'words' }";
    let yaml =
        "tools: [echo]\ntransform:\n  echo:\n    name: say\n    arguments: { q: { name: words } }";
    let configs =
        [PoolConfig::from_json(json), PoolConfig::from_toml(toml), PoolConfig::from_yaml(yaml)];
    for config in configs {
        let mut registry = Registry::new();
        registry.tool(search()).unwrap();
        let pool = ToolPool::builder().config(&registry, config.unwrap()).build().await.unwrap();
        let result = pool.call(ToolCall::new("say", r#"{"words":"a"}"#)).await;
        assert_eq!(result.observation().to_text(), r#"{"q":"a"}"#);
    }
    for wrong in [
        PoolConfig::from_json(r#"{"transform":{"a":{"argument":{}}}}"#),
        PoolConfig::from_toml("[transform.a]\nargument = {}"),
        PoolConfig::from_yaml("transform: { a: { argument: {} } }"),
    ] {
        let text = wrong.unwrap_err().to_string();
        assert!(text.contains("did you mean `arguments`?"), "{text}");
    }
}
