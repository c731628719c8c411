//! Limits on the size of results, and checks of output schemas, through a pool.

use super::support::{Directory, call, class};
use serde_json::{Value, json};
use std::path::PathBuf;
use tool_runtime::govern::OutputLimits;
use tool_runtime::hook::{After, AfterCall, Hook, HookCall};
use tool_runtime::prelude::*;
use tool_runtime::tool::{Arguments, Executor};
use tool_runtime::{BoxFuture, CallError};

/// Returns a given result.
struct Fixed(fn() -> Result<Observation, CallError>);

impl Executor for Fixed {
    fn call<'a>(
        &'a self,
        _: Arguments<'a>,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(std::future::ready((self.0)()))
    }
}

fn fixed(result: fn() -> Result<Observation, CallError>) -> Tool {
    Tool::new(ToolDefinition::new("fixed", "Return a fixed result."), Fixed(result))
}

fn limited(tool: Tool, limits: OutputLimits) -> ToolPool {
    ToolPool::builder().add(tool).output_limits(limits).build().expect("a pool")
}

async fn result(pool: &ToolPool) -> ToolResult {
    pool.call(ToolCall::new("fixed", "")).await
}

/// A thousand lines, with some multi-byte characters.
fn lines() -> String {
    (1..=1000).map(|line| format!("line {line} äöü\n")).collect()
}

/// The path between backticks.
fn file_in(text: &str) -> PathBuf {
    let mut quoted = text.split('`').skip(1).step_by(2);
    PathBuf::from(quoted.find(|text| text.contains('/')).expect("a path"))
}

#[tokio::test]
async fn a_long_text_is_shortened_and_stored_completely() {
    let directory = Directory::new();
    let limits = OutputLimits::default().text(1_000).spill_to(directory.path());
    let pool = limited(fixed(|| Ok(Observation::text(lines()))), limits);
    let result = result(&pool).await;
    let text = result.observation().to_text();
    assert!(!result.is_error());
    assert!(text.chars().count() <= 1_000, "{}", text.chars().count());
    assert!(text.starts_with("line 1 äöü\nline 2 äöü\n"), "{text}");
    assert!(text.ends_with("line 999 äöü\nline 1000 äöü\n"), "{text}");
    assert!(text.contains("[cut here: ") && text.contains("read on from line "), "{text}");
    assert_eq!(std::fs::read_to_string(file_in(&text)).expect("a file"), lines());
}

#[tokio::test]
async fn without_a_directory_nothing_is_stored() {
    let pool =
        limited(fixed(|| Ok(Observation::text(lines()))), OutputLimits::default().text(1_000));
    let text = result(&pool).await.observation().to_text();
    assert!(text.contains("at most 1000 are passed on, ask for less]"), "{text}");
}

#[tokio::test]
async fn results_within_the_limits_stay_unchanged() {
    let whole = fixed(|| {
        let block = ContentBlock::image("AAAA", "image/png");
        Ok(Observation::text("x".repeat(100)).with_content(block).with_meta("k", 1))
    });
    let limits = OutputLimits::none().text(100).media(3);
    let pool = limited(whole.clone(), limits);
    let unlimited = ToolPool::builder().add(whole).build().expect("a pool");
    assert_eq!(result(&pool).await.observation(), result(&unlimited).await.observation());
}

#[tokio::test]
async fn a_pool_without_limits_truncates_nothing() {
    let pool = ToolPool::builder()
        .add(fixed(|| Ok(Observation::text("x".repeat(1_000_000)))))
        .build()
        .expect("a pool");
    assert_eq!(result(&pool).await.observation().to_text().len(), 1_000_000);
}

#[tokio::test]
async fn a_text_of_many_blocks_is_one_text() {
    let many = fixed(|| {
        let blocks = (0..100).map(|block| ContentBlock::text(format!("block {block}")));
        Ok(blocks.fold(Observation::default(), Observation::with_content))
    });
    let pool = limited(many, OutputLimits::default().text(300));
    let result = result(&pool).await;
    let text = result.observation().to_text();
    assert!(text.chars().count() <= 300 && result.observation().content().len() < 100);
    assert!(text.starts_with("block 0\n") && text.ends_with("\nblock 99"), "{text}");
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Numbers {
    numbers: Vec<u32>,
}

/// Return many numbers.
#[tool(name = "fixed", register = false)]
async fn count() -> Numbers {
    Numbers { numbers: (0..1000).collect() }
}

#[tokio::test]
async fn a_structured_value_that_is_too_large_becomes_an_error() {
    let directory = Directory::new();
    let limits = OutputLimits::default().structured(500).spill_to(directory.path());
    let pool = limited(Tool::from_action::<CountAction>(), limits);
    let result = result(&pool).await;
    assert!(result.is_error() && result.observation().structured_json().is_none());
    let text = result.observation().to_text();
    assert!(text.contains("`fixed` succeeded, but") && text.contains("at most 500"), "{text}");
    let saved = std::fs::read_to_string(file_in(&text)).expect("a file");
    let saved: Value = serde_json::from_str(&saved).expect("JSON");
    assert_eq!(saved["numbers"][999], 999);
    let pool = limited(Tool::from_action::<CountAction>(), OutputLimits::default());
    assert!(call(&pool, "fixed", "").await["structuredContent"]["numbers"].is_array());
}

#[tokio::test]
async fn an_image_over_the_limit_becomes_a_text() {
    let directory = Directory::new();
    let draw = fixed(|| {
        let blocks = [
            ContentBlock::text("two pictures"),
            ContentBlock::image("AAAA", "image/png"),
            ContentBlock::image("AAAAAAAA", "image/png"),
        ];
        Ok(blocks.into_iter().fold(Observation::default(), Observation::with_content))
    });
    let pool = limited(draw, OutputLimits::default().media(3).spill_to(directory.path()));
    let result = result(&pool).await;
    let blocks = result.observation().content();
    let [ContentBlock::Text(_), ContentBlock::Image(_), ContentBlock::Text(text)] = blocks else {
        panic!("{blocks:?}");
    };
    assert!(text.text().starts_with("[left out: image of type image/png, 6 bytes"), "{text:?}");
    assert_eq!(std::fs::read(file_in(text.text())).expect("a file"), [0; 6]);
}

#[tokio::test]
async fn a_long_error_is_shortened_and_stays_an_error() {
    let fail = fixed(|| Ok(Observation::error(lines())));
    let pool = limited(fail, OutputLimits::default().text(500));
    let result = result(&pool).await;
    assert!(result.is_error());
    assert!(result.observation().to_text().chars().count() <= 500);
}

#[tokio::test]
async fn the_text_of_an_error_is_limited_too() {
    let fail = Tool::builder("fixed", "Fail.").handler(|| async { Err::<(), _>(lines()) });
    let pool = limited(fail, OutputLimits::default().text(500));
    let result = result(&pool).await;
    assert_eq!(class(&result), ErrorClass::Tool);
    let text = result.observation().to_text();
    assert!(text.chars().count() <= 500, "{}", text.chars().count());
    assert!(text.starts_with("line 1 ") && text.contains("[cut here: "), "{text}");
    assert_eq!(text, result.error().expect("an error").message());
}

#[tokio::test]
async fn after_hooks_see_the_limited_result() {
    let measure = |_: HookCall, after: AfterCall| async move {
        After::replace(Observation::text(after.observation().to_text().len().to_string()))
    };
    let pool = ToolPool::builder()
        .add(fixed(|| Ok(Observation::text("x".repeat(9_000)))))
        .output_limits(OutputLimits::default().text(500))
        .hook(Hook::after("*", measure))
        .build()
        .expect("a pool");
    let length: usize = result(&pool).await.observation().to_text().parse().expect("a number");
    assert!(length <= 500);
}

#[tokio::test]
async fn every_result_of_a_batch_and_of_nested_calls_is_limited() {
    let relay = Tool::builder("relay", "Pass it on.").handler(
        |_: serde_json::Map<String, Value>, context: ToolContext| async move {
            let result = context.call(ToolCall::new("fixed", "")).await;
            assert!(result.observation().to_text().chars().count() <= 500);
        },
    );
    let pool = ToolPool::builder()
        .add(fixed(|| Ok(Observation::text(lines()))))
        .add(relay)
        .output_limits(OutputLimits::default().text(500))
        .build()
        .expect("a pool");
    let calls = ["fixed", "fixed", "relay"].map(|name| ToolCall::new(name, ""));
    for result in pool.call_all(calls).await {
        assert!(!result.is_error(), "{result:?}");
        assert!(result.observation().to_text().chars().count() <= 500);
    }
}

fn with_output_schema(result: fn() -> Result<Observation, CallError>) -> Tool {
    let mut definition = ToolDefinition::new("fixed", "Return a fixed result.");
    let schema = json!({
        "type": "object",
        "properties": { "sum": { "type": "integer" } },
        "required": ["sum"],
    });
    definition.output_schema = schema.as_object().cloned();
    Tool::new(definition, Fixed(result))
}

fn structured(value: &Value) -> Result<Observation, CallError> {
    Ok(Observation::json(value).expect("a value"))
}

#[tokio::test]
async fn an_output_that_violates_its_schema_is_an_internal_error() {
    let wrong: [fn() -> Result<Observation, CallError>; 3] = [
        || structured(&json!({ "sum": "hunter2" })),
        || structured(&json!({})),
        || Ok(Observation::text("3")),
    ];
    for wrong in wrong {
        let pool = ToolPool::builder().add(with_output_schema(wrong)).build().expect("a pool");
        let result = result(&pool).await;
        assert_eq!(class(&result), ErrorClass::Internal);
        assert!(!result.observation().to_text().contains("hunter2"));
        let detail = result.error().expect("an error").detail().expect("a detail");
        assert!(detail.contains("does not fit the output schema"), "{detail}");
    }
    let right = with_output_schema(|| structured(&json!({ "sum": 3 })));
    let pool = ToolPool::builder().add(right).build().expect("a pool");
    assert!(!result(&pool).await.is_error());
    let failed = with_output_schema(|| Ok(Observation::error("no numbers")));
    let pool = ToolPool::builder().add(failed).build().expect("a pool");
    assert_eq!(result(&pool).await.observation().to_text(), "no numbers");
}

/// A type whose schema differs from its serialization.
#[derive(schemars::JsonSchema)]
struct Violating {
    #[allow(dead_code)]
    sum: u32,
}

impl serde::Serialize for Violating {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({ "sum": "three" }).serialize(serializer)
    }
}

mod violating {
    use super::Violating;
    use tool_runtime::prelude::*;

    /// Return a value that violates the schema.
    #[tool(name = "fixed", register = false)]
    pub(super) async fn violate() -> Violating {
        Violating { sum: 3 }
    }
}

#[tokio::test]
async fn results_of_typed_tools_are_checked_if_enabled() {
    let unchecked = ToolPool::builder().tool::<violating::ViolateAction>().build().expect("a pool");
    assert!(!result(&unchecked).await.is_error());
    let checked = ToolPool::builder()
        .tool::<violating::ViolateAction>()
        .check_outputs()
        .build()
        .expect("a pool");
    assert_eq!(class(&result(&checked).await), ErrorClass::Internal);
    let valid = ToolPool::builder().tool::<CountAction>().check_outputs().build().expect("a pool");
    assert!(!result(&valid).await.is_error());
}
