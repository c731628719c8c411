//! Properties of a tool that a transform keeps: limits, needs, resources, ends, patterns, secrets.

use super::support::in_time;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tool_runtime::pool::DeclaredTools;
use tool_runtime::prelude::*;
use tool_runtime::shell::ShellMatcher;
use tool_runtime::tool::{Arguments, Executor};
use tool_runtime::transform::ToolTransform;
use tool_runtime::{BoxFuture, CallError, CancellationToken};

/// An executor that fails as asked, and notices interruptions.
#[derive(Default)]
struct OddExecutor {
    interrupted: Arc<AtomicUsize>,
    is_broken: bool,
}

impl Executor for OddExecutor {
    fn call<'a>(
        &'a self,
        arguments: Arguments<'a>,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move {
            if arguments.as_str().contains("wait") {
                std::future::pending::<()>().await;
            }
            let text = "`to` of `send` is odd, unlike `text`";
            Err(CallError::new(ErrorClass::Input, text))
        })
    }

    fn interrupt(&self, _: &ToolContext) {
        self.interrupted.fetch_add(1, Ordering::SeqCst);
    }

    fn is_usable(&self) -> Result<(), String> {
        if self.is_broken { Err("it needs a modem".to_owned()) } else { Ok(()) }
    }
}

fn odd_tool(executor: OddExecutor) -> Tool {
    let properties = json!({ "to": { "type": "string" }, "text": { "type": "string" } });
    let schema = json!({ "type": "object", "properties": properties });
    Tool::new(ToolDefinition::new("send", "Send.").with_input_schema(schema), executor)
}

fn pool(tool: Tool, transform: ToolTransform) -> ToolPool {
    let name = tool.name().to_owned();
    ToolPool::builder().allow_empty().add(tool).transform(&*name, transform).build().unwrap()
}

fn renamed() -> ToolTransform {
    ToolTransform::new().name("notify").rename("to", "person")
}

#[tokio::test]
async fn errors_of_an_executor_use_the_new_names() {
    let pool = pool(odd_tool(OddExecutor::default()), renamed());
    let result = pool.call(ToolCall::new("notify", r#"{"person":"ada"}"#)).await;
    assert_eq!(result.error().unwrap().message(), "`person` of `notify` is odd, unlike `text`");
}

#[tokio::test]
async fn the_executor_is_interrupted() {
    let odd_one = OddExecutor::default();
    let interrupted = Arc::clone(&odd_one.interrupted);
    let pool = pool(odd_tool(odd_one), renamed());
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone());
    let call = pool.call_with(ToolCall::new("notify", r#"{"text":"wait"}"#), &context);
    let (result, ()) = tokio::join!(call, async { token.cancel() });
    assert_eq!(result.error().unwrap().class(), ErrorClass::Cancelled);
    assert_eq!(interrupted.load(Ordering::SeqCst), 1);
}

#[test]
fn an_unusable_tool_stays_hidden() {
    let pool = pool(odd_tool(OddExecutor { is_broken: true, ..OddExecutor::default() }), renamed());
    assert!(pool.tools().is_empty());
    assert!(pool.report().to_string().contains("it needs a modem"), "{}", pool.report());
}

/// Wait forever.
#[tool(register = false, timeout = "20ms")]
async fn wait() {
    std::future::pending::<()>().await;
}

/// Ask a service.
#[tool(register = false)]
async fn ask(service: &AtomicUsize) -> usize {
    service.load(Ordering::SeqCst)
}

#[tokio::test]
async fn a_transform_keeps_the_time_limit_and_the_needed_state() {
    let pool = pool(Tool::from_action::<WaitAction>(), ToolTransform::new().name("sleep"));
    let result = in_time(pool.call(ToolCall::new("sleep", ""))).await;
    assert_eq!(result.error().unwrap().class(), ErrorClass::Timeout);
    let transform = || ToolTransform::new().name("inquire");
    let without = ToolPool::builder().tool::<AskAction>().transform("ask", transform()).build();
    let error = without.unwrap_err().to_string();
    assert!(error.contains("inquire") && error.contains("AtomicUsize"), "{error}");
    let with = ToolPool::builder().tool::<AskAction>().state(AtomicUsize::new(7));
    let with = with.transform("ask", transform()).build().unwrap();
    assert_eq!(with.call(ToolCall::new("inquire", "")).await.observation().to_text(), "7");
}

/// Number of running calls, and the maximum so far.
#[derive(Default)]
struct Running(AtomicUsize, AtomicUsize);

/// Write a file.
#[tool(register = false, writes("file:{path}"))]
async fn write(
    /// Its path.
    path: String,
    running: &Running,
) -> String {
    let now = running.0.fetch_add(1, Ordering::SeqCst) + 1;
    running.1.fetch_max(now, Ordering::SeqCst);
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
    running.0.fetch_sub(1, Ordering::SeqCst);
    path
}

#[tokio::test]
async fn declared_resources_are_found_under_new_names() {
    for (paths, most) in [(["a", "./a"], 1), (["a", "b"], 2)] {
        let transform = ToolTransform::new().name("save").rename("path", "file");
        let pool = ToolPool::builder().tool::<WriteAction>().state(Running::default());
        let pool = pool.transform("write", transform).build().unwrap();
        let calls = paths.map(|path| ToolCall::json("save", json!({ "file": path })));
        assert!(pool.call_all(calls).await.iter().all(|result| !result.is_error()));
        let context = pool.context();
        assert_eq!(context.get::<Running>().unwrap().1.load(Ordering::SeqCst), most, "{paths:?}");
    }
}

/// Run a command.
#[tool(register = false)]
async fn bash(
    /// The command.
    #[arg(match_as = "shell")]
    command: String,
    /// A note.
    #[arg(default = "")]
    note: String,
) -> String {
    format!("{note}{command}")
}

#[tokio::test]
async fn a_pattern_is_about_the_argument_under_its_new_name() {
    let declared = DeclaredTools::allow("sh(git *)");
    let transformed = |transform: ToolTransform| {
        let builder = ToolPool::builder().tool::<BashAction>().argument_matcher(ShellMatcher);
        builder.transform("bash", transform.name("sh")).build().unwrap()
    };
    let pool =
        transformed(ToolTransform::new().rename("command", "line").rename("note", "command"));
    let _only = pool.restrict_declared(&declared);
    let run = |arguments: Value| pool.call(ToolCall::json("sh", arguments));
    assert_eq!(run(json!({ "line": "git log" })).await.observation().to_text(), "git log");
    for attempt in [
        json!({ "line": "rm -r .", "command": "git log" }),
        json!({ "command": "git log", "line": "" }),
        json!({ "command": "git log" }),
    ] {
        assert!(run(attempt.clone()).await.is_error(), "{attempt}");
    }
    // A fixed command is not written by the model, so the pattern allows nothing.
    let pool = transformed(ToolTransform::new().fix("command", "rm -r ."));
    let _only = pool.restrict_declared(&declared);
    assert!(pool.call(ToolCall::new("sh", "{}")).await.is_error());
}

#[tokio::test]
async fn a_null_that_the_tool_takes_is_not_replaced_by_a_default() {
    let properties = json!({ "a": { "type": ["string", "null"] }, "b": { "type": "string" } });
    let tool = Tool::builder("echo", "Give back.")
        .input_schema(json!({ "type": "object", "properties": properties }))
        .handler(|given: serde_json::Map<String, Value>| async move { Value::Object(given) });
    let transform = ToolTransform::new().default_value("a", "x").default_value("b", "y");
    let pool = pool(tool, transform);
    let echo = |arguments: &str| pool.call(ToolCall::new("echo", arguments.to_owned()));
    let sent = |result: ToolResult| result.observation().structured().unwrap().clone();
    assert_eq!(sent(echo(r#"{"a":null,"b":null}"#).await), json!({ "a": null, "b": "y" }));
    assert_eq!(sent(echo("{}").await), json!({ "a": "x", "b": "y" }));
}

/// Log in.
#[tool(register = false, input_schema = json!({
    "type": "object",
    "properties": { "password": { "type": "string" } },
    "required": ["password"],
}))]
async fn login(
    /// The password.
    #[arg(secret)]
    password: String,
) -> usize {
    password.len()
}

#[test]
fn a_secret_argument_is_not_shown_under_another_name() {
    let pool =
        pool(Tool::from_action::<LoginAction>(), ToolTransform::new().rename("password", "key"));
    let shown = pool.get("login").unwrap().visualize(r#"{"key":"8fQm2x"}"#);
    assert_eq!(shown, "login(key: ***)");
}
