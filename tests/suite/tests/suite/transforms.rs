//! Tools under other names, with other texts and changed arguments.

use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tool_runtime::ErrorClass;
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::mcp::{McpConfig, McpManager, McpServer, McpServerConfig};
use tool_runtime::pool::{PoolProblem, Source, ToolStatus};
use tool_runtime::prelude::*;
use tool_runtime::testing::TestClient;
use tool_runtime::transform::{ArgumentTransform, ToolTransform};

/// Send a message.
#[tool(register = false, open_world, title = "Send")]
async fn send(
    /// The recipient.
    #[arg(alias = "recipient")]
    to: String,
    /// The text.
    #[arg(length = 1..=20)]
    text: String,
    /// The password.
    #[arg(secret)]
    token: String,
    /// Number of attempts.
    #[arg(default = 1, range = 1..=9, alias = "attempts")]
    tries: u32,
) -> Json<Value> {
    Json(json!({ "to": to, "text": text, "token": token, "tries": tries }))
}

fn arguments() -> Value {
    json!({ "to": "ada", "text": "hi", "token": "t" })
}

async fn call(pool: &ToolPool, name: &str, arguments: Value) -> ToolResult {
    pool.call(ToolCall::new(name, arguments.to_string())).await
}

fn structured(result: &ToolResult) -> Value {
    assert!(result.error().is_none(), "{result:?}");
    result.observation().structured().cloned().expect("a structured result")
}

fn transformed_send(transform: ToolTransform) -> ToolPool {
    ToolPool::builder().tool::<SendAction>().transform("send", transform).build().unwrap()
}

#[tokio::test]
async fn a_linked_tool_is_listed_with_its_transformed_definition() {
    let transform = ToolTransform::new()
        .name("notify")
        .prefix("mail")
        .title("Notify")
        .description("Send a short note.")
        .tag("mail")
        .rename("to", "person")
        .fix("token", "8fQm2x")
        .default_value("tries", 3);
    let pool = transformed_send(transform);
    let listed = TestClient::stateful(&pool).await.list_tools().await;
    let [tool] = &*listed else { panic!("{listed:?}") };
    assert_eq!(tool.name, "mail.notify");
    assert_eq!((tool.title.as_deref(), &*tool.description), (Some("Notify"), "Send a short note."));
    assert_eq!(tool.annotations.open_world_hint, Some(true));
    assert_eq!(tool.input_schema["required"], json!(["person", "text"]));
    let names: Vec<_> = tool.input_schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["person", "text", "tries"]);

    let definition = pool.get("mail.notify").unwrap().definition().clone();
    assert_eq!(definition.output_schema, SendAction::definition().output_schema);

    let result = call(&pool, "mail.notify", json!({ "person": "ada", "text": "hi" })).await;
    assert_eq!(
        structured(&result),
        json!({ "to": "ada", "text": "hi", "token": "8fQm2x", "tries": 3 })
    );
    let result = call(&pool, "send", arguments()).await;
    assert_eq!(result.error().unwrap().class(), ErrorClass::NotFound);
    let untouched = ToolPool::builder().tool::<SendAction>().build().unwrap();
    assert!(call(&untouched, "send", arguments()).await.error().is_none());
}

#[tokio::test]
async fn errors_use_the_names_that_the_model_knows() {
    let pool = transformed_send(
        ToolTransform::new().name("notify").rename("to", "person").rename("text", "note"),
    );
    let result = call(&pool, "notify", json!({ "person": 1, "note": "", "token": 5 })).await;
    let error = result.error().unwrap();
    let paths: Vec<_> = error.issues().iter().map(|issue| issue.path()).collect();
    assert_eq!(paths, ["person", "note", "token"]);
    let text = error.message();
    assert!(text.starts_with("invalid arguments for `notify`"), "{text}");
    assert!(!text.contains("`to`") && !text.contains("`text`"), "{text}");
    assert!(!text.contains('5'), "the secret is not shown: {text}");
    let result = call(&pool, "notify", json!({ "to": "ada", "note": "a", "token": "t" })).await;
    let text = result.error().unwrap().message().to_owned();
    assert!(text.contains("unknown argument `to`") && text.contains("`person`"), "{text}");
}

#[tokio::test]
async fn aliases_do_not_bypass_a_transform() {
    let pool = transformed_send(ToolTransform::new().hide("tries").rename("to", "person"));
    let mut with_hidden = arguments();
    with_hidden["attempts"] = json!(9);
    let result = call(&pool, "send", with_hidden).await;
    assert!(
        result.error().unwrap().message().contains("unknown argument `attempts`"),
        "{result:?}"
    );

    let pool = transformed_send(
        ToolTransform::new().narrow("tries", json!({ "maximum": 2 })).fix("token", "t"),
    );
    let result =
        call(&pool, "send", json!({ "recipient": "ada", "text": "hi", "attempts": 9 })).await;
    let issues = result.error().unwrap().issues();
    assert_eq!(issues.len(), 1, "{issues:?}");
    assert_eq!(issues[0].message(), "`tries` must be at most 2, got 9");
    let result =
        call(&pool, "send", json!({ "recipient": "ada", "text": "hi", "attempts": 2 })).await;
    assert_eq!(structured(&result)["tries"], 2);
}

#[tokio::test]
async fn rules_and_hooks_know_the_new_name() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let hook = Hook::before("mail.*", move |call: HookCall| {
        log.lock().unwrap().push(format!("{} {}", call.name(), call.arguments()));
        async { Before::proceed() }
    });
    let pool = ToolPool::builder()
        .tool::<SendAction>()
        .transform("send", ToolTransform::new().name("mail.send").fix("tries", 2))
        .allow(["mail.*"])
        .deny(["send"])
        .hook(hook)
        .build()
        .unwrap();
    assert_eq!(structured(&call(&pool, "mail.send", arguments()).await)["tries"], 2);
    let seen = seen.lock().unwrap();
    assert_eq!(*seen, [format!("mail.send {}", arguments())]);
    let shown = pool.get("mail.send").unwrap().visualize(&arguments().to_string());
    assert_eq!(shown, r#"mail.send(to: "ada", text: "hi", token: ***)"#);
    assert_eq!(pool.report().unmatched[0].to_string(), "send");
}

#[test]
fn mistakes_of_transforms_fail_the_build() {
    let build = |selector: &str, transform| {
        let builder = ToolPool::builder().tool::<SendAction>().transform(selector, transform);
        builder.build().expect_err("a mistake").to_string()
    };
    let text = build("sned", ToolTransform::new());
    assert!(text.contains("the transform of `sned` picks no tool; did you mean `send`?"), "{text}");
    let text = build("send", ToolTransform::new().hide("text").rename("too", "x"));
    assert!(
        text.contains("tool `send`: its transform: it has no argument `too`; did you mean `to`?"),
        "{text}"
    );
    let text = build("send", ToolTransform::new().hide("text"));
    assert!(text.contains("argument `text` is required, so hiding it needs a `value`"), "{text}");
    let text = build("send", ToolTransform::new().name("a b"));
    assert!(text.contains("bad tool name \"a b\""), "{text}");
    let error = ToolPool::builder()
        .tool::<SendAction>()
        .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
        .transform("*", ToolTransform::new().name("same"))
        .build();
    assert!(matches!(error.unwrap_err().problems(), [PoolProblem::Duplicate { .. }]));
}

/// A counter that notices its end.
struct Counter(Arc<AtomicUsize>);

#[toolset(register = false)]
impl Counter {
    /// Count up.
    #[tool]
    async fn up(
        &self,
        /// The step.
        by: usize,
    ) -> usize {
        self.0.fetch_add(by, Ordering::SeqCst) + by
    }
}

impl Toolset for Counter {
    type Params = ();

    async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(Arc::clone(context.get::<Arc<AtomicUsize>>().expect("given to the pool"))))
    }

    async fn close(&self) {
        self.0.fetch_add(1000, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_method_keeps_its_value_and_its_value_is_closed_once() {
    let count = Arc::new(AtomicUsize::new(0));
    let pool = ToolPool::builder()
        .state(Arc::new(Arc::clone(&count)))
        .toolset::<Counter>(())
        .transform("counter.up", ToolTransform::new().name("counter.next").fix("by", 2))
        .build()
        .await
        .unwrap();
    for expected in ["2", "4"] {
        let result = call(&pool, "counter.next", json!({})).await;
        assert_eq!(result.observation().to_text(), expected);
    }
    pool.close().await;
    assert_eq!(count.load(Ordering::SeqCst), 1004);
}

#[tokio::test]
async fn a_pool_transforms_tools_that_are_added_later() {
    let pool = ToolPool::builder()
        .allow_empty()
        .transform("ping", ToolTransform::new().prefix("net"))
        .build()
        .unwrap();
    assert_eq!(pool.report().idle_transforms[0].to_string(), "ping");
    let tool = |name: &str| Tool::builder(name, "Answer at once.").handler(|| async { "pong" });
    let skills = Source::owner("skills");
    assert_eq!(pool.add_tools(&skills, [tool("ping")]).unwrap().added, ["net.ping"]);
    assert!(pool.report().idle_transforms.is_empty());
    assert_eq!(pool.add_tools(&skills, [tool("pong")]).unwrap().added, ["pong"]);
    assert_eq!(call(&pool, "net.ping", json!({})).await.observation().to_text(), "pong");
    // A source removes its tools by the names that it gave.
    assert_eq!(pool.remove_tools(&skills, &"ping".parse().unwrap()).unwrap().removed, ["net.ping"]);
    assert_eq!(pool.tools().len(), 1);
}

#[tokio::test]
async fn one_repair_works_on_the_new_names() {
    let pool = ToolPool::builder()
        .tool::<SendAction>()
        .transform("send", ToolTransform::new().rename("tries", "attempt_count").fix("token", "t"))
        .repair()
        .build()
        .unwrap();
    let renamed = json!({ "to": "ada", "text": "hi", "attemptCount": "4" });
    assert_eq!(structured(&call(&pool, "send", renamed).await)["tries"], 4);
}

fn faulty(tools: Value) -> Value {
    let script = json!({ "tools": tools }).to_string();
    json!({ "command": env!("CARGO_BIN_EXE_faulty_server"), "args": [script] })
}

fn config(entry: Value) -> McpConfig {
    let file = json!({ "mcpServers": { "s": entry } });
    McpConfig::loader().variables([("KEY", "8fQm2x")]).value(file).load().unwrap()
}

async fn connected(entry: Value, pool: &ToolPool) -> McpManager {
    McpManager::builder().config(config(entry)).connect(pool).await.unwrap()
}

fn empty() -> ToolPool {
    ToolPool::builder().allow_empty().build().unwrap()
}

#[tokio::test]
async fn an_entry_transforms_the_tools_of_its_server() {
    let mut entry = faulty(json!(["echo-nullable", "echo-strict", "echo"]));
    entry["tools"] = json!({
        "echo-nullable": {
            "name": "say",
            "title": "Say",
            "description": "Say a word.",
            "tags": ["speech"],
            "arguments": {
                "clear": { "value": "key ${KEY}" },
                "n": { "name": "count", "default": 2, "schema": { "maximum": 5 } },
            },
        },
        "echo-strict": { "timeout": "20s" },
    });
    let pool = empty();
    let manager = connected(entry, &pool).await;
    let tool = pool.get("s.say").unwrap();
    let definition = tool.definition();
    assert_eq!(
        (definition.title.as_deref(), &*definition.description),
        (Some("Say"), "Say a word.")
    );
    assert_eq!(definition.tags, ["speech"]);
    assert_eq!(
        Value::Object(definition.input_schema.clone()),
        json!({
            "type": "object",
            "properties": { "count": { "type": "integer", "maximum": 5, "default": 2 } },
        })
    );
    assert_eq!(tool.made_from().unwrap().name(), "s.echo-nullable");
    let result = call(&pool, "s.say", json!({})).await;
    let sent: Value = serde_json::from_str(&result.observation().to_text()).unwrap();
    assert_eq!(sent["n"], 2);
    assert!(sent["clear"].as_str().unwrap().starts_with("key "), "{sent}");
    let result = call(&pool, "s.say", json!({ "count": 9 })).await;
    assert_eq!(result.error().unwrap().issues()[0].message(), "`count` must be at most 5, got 9");
    let result = call(&pool, "s.say", json!({ "count": "many" })).await;
    let error = result.error().unwrap();
    assert!(
        error.message().starts_with("invalid arguments for `s.say`: `count` must be"),
        "{error}"
    );
    assert_eq!(manager.server("s").unwrap().problems, [""; 0]);
    let report = pool.report().to_string();
    assert!(report.contains("s.say"), "{report}");
    assert!(report.contains("visible, made from `s.echo-nullable`"), "{report}");
    // Pins are computed from the server's own definition.
    assert!(manager.pins().servers["s"].contains_key("echo-nullable"));
    manager.close().await;
}

#[tokio::test]
async fn an_invalid_transform_leaves_out_one_tool_with_a_reason() {
    let mut entry = faulty(json!(["echo-nullable", "echo"]));
    entry["tools"] = json!({
        "echo-nullable": { "arguments": { "number": { "hide": true } } },
        "ecco": { "name": "other" },
    });
    let pool = empty();
    let manager = connected(entry, &pool).await;
    assert!(pool.get("s.echo").is_some() && pool.get("s.echo-nullable").is_none());
    let problems = manager.server("s").unwrap().problems.join("\n");
    assert!(
        problems.contains(
            "its tool `echo-nullable` is left out: its transform: it has no argument `number`"
        ),
        "{problems}"
    );
    assert!(
        problems.contains(
            "`tools`: `ecco` is not any of the 2 tools that it lists; did you mean `echo`?"
        ),
        "{problems}"
    );
    let report = pool.report();
    let status = &report.tools.iter().find(|tool| tool.name == "s.echo-nullable").unwrap().status;
    assert!(matches!(status, ToolStatus::Quarantined { .. }), "{status:?}");
    manager.close().await;
}

#[test]
fn unknown_keys_of_an_entrys_tools_are_errors_with_suggestions() {
    let mut entry = faulty(json!(["echo"]));
    entry["tools"] = json!({ "echo": { "descripton": "a", "arguments": { "a": { "vale": 1 } } } });
    let file = json!({ "mcpServers": { "s": entry } });
    let error = McpConfig::loader().value(file).load().unwrap_err().to_string();
    assert!(error.contains("did you mean `description`?"), "{error}");
    assert!(error.contains("s.tools.echo.arguments.a.vale"), "{error}");
    assert!(error.contains("did you mean `value`?"), "{error}");
}

#[tokio::test]
async fn the_transforms_of_a_pool_reach_external_tools() {
    let inner = ToolPool::builder().tool::<SendAction>().build().unwrap();
    let pool = ToolPool::builder()
        .allow_empty()
        .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
        .transform(
            "far.send",
            ToolTransform::new().name("send").fix("token", "8fQm2x").rename("to", "person"),
        )
        .transform("far2.*", ToolTransform::new().name("ping"))
        .transform("far3.*", ToolTransform::new().name("ping"))
        .build()
        .unwrap();
    let manager = McpManager::builder()
        .in_process("far", McpServer::new(inner.clone(), "far", "1"))
        .in_process("far2", McpServer::new(inner, "far2", "1"))
        .connect(&pool)
        .await
        .unwrap();
    let result = call(&pool, "send", json!({ "person": "ada", "text": "hi" })).await;
    assert_eq!(structured(&result)["token"], "8fQm2x");
    let result =
        call(&pool, "send", json!({ "person": "ada", "text": "a text that is far too long" }))
            .await;
    let issues = result.error().unwrap().issues();
    assert_eq!(issues.iter().map(|issue| issue.path()).collect::<Vec<_>>(), ["text"]);
    let far = Tool::builder("far3.send", "Send.").handler(|| async { "sent" });
    pool.add_tools(&Source::runner("far3"), [far]).unwrap();
    let report = pool.report().to_string();
    for source in ["mcp:far2", "runner:far3"] {
        let line = report.lines().find(|line| line.contains(source)).unwrap();
        assert!(line.contains("its transform gives it the name of another tool"), "{report}");
    }
    assert_eq!(call(&pool, "ping", json!({})).await.observation().to_text(), "pong");
    manager.close().await;
}

#[test]
fn the_command_line_names_the_original() {
    let mut entry = faulty(json!(["echo"]));
    entry["tools"] = json!({ "echo": { "name": "say" } });
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("transforms.json");
    std::fs::write(&file, json!({ "mcpServers": { "s": entry } }).to_string()).unwrap();
    let mut command = std::process::Command::new(suite::built::built("gateway"));
    command.arg("--mcp-config").arg(&file).arg("list").env_remove("RUST_LOG");
    let output = suite::limit::output(&mut command).expect("the gateway starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("s.say") && text.contains("Does echo. (made from `s.echo`)"),
        "{output:?}"
    );
}

#[test]
fn a_transform_of_an_entry_is_written_in_code_too() {
    let server = McpServerConfig::stdio("npx").transform(
        "echo",
        ToolTransform::new().argument("a", ArgumentTransform::new().value("8fQm2x")),
    );
    assert!(!format!("{server:?}").contains("8fQm2x"));
    assert_eq!(server.unmatched_patterns(&["other"]).len(), 1);
}
