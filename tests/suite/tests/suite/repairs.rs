//! Malformed calls of models, in a pool that repairs them.

use super::export::generate::{Rng, schemas};
use super::export::instances::instance;
use super::support::Echo;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tool_runtime::hook::{After, AfterCall, Before, Hook, HookCall};
use tool_runtime::prelude::*;
use tool_runtime::tool::{Arguments, Executor};
use tool_runtime::{BoxFuture, CallError};

/// Read a file.
#[tool(read_only, register = false)]
async fn read_file(
    /// Its path.
    file_path: String,
    /// Lines to read.
    limit: Option<u32>,
    /// Parts of it.
    #[arg(default = Vec::new())]
    parts: Vec<String>,
) -> String {
    format!("{file_path} {limit:?} {parts:?}")
}

fn pool() -> ToolPool {
    ToolPool::builder().tool::<ReadFileAction>().repair().build().unwrap()
}

#[tokio::test]
async fn a_repaired_call_runs_and_its_result_lists_the_repairs() {
    let arguments =
        "{\"filePath\": \"a\", \"limit\": \"5\", \"parts\": \"[\\\"x\\\"]\"}</function>";
    let result = pool().call(ToolCall::new("functions.read_file", arguments)).await;
    assert_eq!(result.observation().to_text(), "a Some(5) [\"x\"]");
    let meta = result.observation().meta().unwrap();
    assert_eq!(
        meta["tool-runtime/repairs"],
        json!([
            "corrected the name of the tool",
            "arguments: removed text after the last bracket",
            "`file_path`: corrected the name",
            "`limit`: parsed a number from a string",
            "`parts`: parsed JSON from a string",
        ])
    );
}

#[tokio::test]
async fn a_pool_without_repair_rejects_the_same_call() {
    let pool = ToolPool::builder().tool::<ReadFileAction>().build().unwrap();
    for call in [
        ToolCall::new("functions.read_file", r#"{"file_path":"a"}"#),
        ToolCall::new("read_file", r#"{"filePath":"a"}"#),
    ] {
        assert!(pool.call(call).await.is_error());
    }
}

#[tokio::test]
async fn unrepairable_calls_are_rejected_with_their_original_text() {
    let result =
        pool().call(ToolCall::new("read_file", r#"{"filePath":"a","limit":"five"}"#)).await;
    let text = result.observation().to_text();
    assert!(text.contains("filePath") && text.contains("limit"), "{text}");
}

#[tokio::test]
async fn hooks_see_the_repaired_call_once() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (before, after) = (Arc::clone(&seen), Arc::clone(&seen));
    let pool = ToolPool::builder()
        .tool::<ReadFileAction>()
        .repair()
        .hook(Hook::before("*", move |call: HookCall| {
            before.lock().unwrap().push((call.arguments().to_owned(), call.repairs().len()));
            async { Before::proceed() }
        }))
        .hook(Hook::after("*", move |call: HookCall, _: AfterCall| {
            after.lock().unwrap().push((call.name().to_owned(), call.repairs().len()));
            async { After::keep() }
        }))
        .build()
        .unwrap();
    let result = pool.call(ToolCall::new("ReadFile", r#"{"filePath":"a"}"#)).await;
    assert_eq!(result.observation().to_text(), "a None []");
    let expected = [(r#"{"file_path":"a"}"#.to_owned(), 2), ("read_file".to_owned(), 2)];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_tool_that_ran_and_failed_does_not_run_again() {
    let runs = Arc::new(AtomicUsize::new(0));
    let definition = ToolDefinition::new("failing", "Fail.");
    let pool = ToolPool::builder().add(Tool::new(definition, Failing(Arc::clone(&runs)))).repair();
    let pool = pool.build().unwrap();
    assert!(pool.call(ToolCall::new("failing", "{}")).await.is_error());
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

/// Fails with an error about its arguments.
struct Failing(Arc<AtomicUsize>);

impl Executor for Failing {
    fn call<'a>(
        &'a self,
        _: Arguments<'a>,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Err(CallError::new(ErrorClass::Input, "invalid input")) })
    }
}

#[tokio::test]
async fn an_exact_name_has_priority_over_a_repaired_one() {
    let named = |name: &str| {
        let result = name.to_owned();
        Tool::builder(name, "Tell the name.").handler(move || std::future::ready(result.clone()))
    };
    let pool =
        ToolPool::builder().add(named("add")).add(named("functions.add")).repair().build().unwrap();
    let result = pool.call(ToolCall::new("functions.add", "")).await;
    assert_eq!(result.observation().to_text(), "functions.add");
}

#[tokio::test]
async fn valid_arguments_are_never_altered() {
    let mut rng = Rng::new();
    let mut valid = 0;
    for schema in schemas(150) {
        let check = jsonschema::validator_for(&Value::Object(schema.clone())).unwrap();
        let definition = ToolDefinition::new("echo", "Echo.").with_input_schema(schema.clone());
        let pool = ToolPool::builder().add(Tool::new(definition, Echo)).repair().build();
        // `format: byte` and similar ones are rejected when the pool is built.
        let Ok(pool) = pool else { continue };
        for _ in 0..20 {
            let value = instance(&schema, &mut rng);
            if check.is_valid(&value) {
                valid += 1;
                let text = value.to_string();
                let result = pool.call(ToolCall::new("echo", text.as_str())).await;
                if result.observation().meta().is_some() {
                    // The pool's own check rejects a format that this one accepts.
                    continue;
                }
                assert_eq!(result.observation().to_text(), text);
            }
        }
    }
    assert!(valid > 500, "{valid}");
}
