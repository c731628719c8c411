//! Declarations of agents and skills: the tools and calls of a pool that they allow.

use super::support::{class, error_text, in_time, text};
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use tool_runtime::CallError;
use tool_runtime::govern::{Approval, ApprovalRequest};
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::matching::{MatchAs, PathMatcher};
use tool_runtime::mcp::{McpManager, McpServer};
use tool_runtime::pool::{DeclaredTools, Source, ToolStatus};
use tool_runtime::prelude::*;
use tool_runtime::shell::ShellMatcher;
use tool_runtime::testing::TestClient;

#[path = "../../../../tool-runtime/shell/src/tests/attacks.rs"]
mod attacks;

/// Run a command.
#[tool(register = false, name = "Bash")]
async fn bash(
    /// The command.
    #[arg(match_as = "shell", alias = "cmd")]
    command: String,
    /// The time limit in seconds.
    #[arg(default = 10)]
    limit: u64,
) -> String {
    let _ = limit;
    format!("ran {command}")
}

/// Read a file.
#[tool(register = false, name = "Read", read_only)]
async fn read(
    /// The file.
    #[arg(match_as = "path")]
    file_path: String,
) -> String {
    format!("read {file_path}")
}

/// Fetch a page.
#[tool(register = false, name = "WebFetch", read_only)]
async fn web_fetch(
    /// The address.
    #[arg(match_as = "url")]
    url: String,
) -> String {
    format!("fetched {url}")
}

/// Call another tool.
#[tool(register = false, name = "Agent")]
async fn agent(
    /// The command.
    command: String,
    context: &ToolContext,
) -> String {
    let result =
        context.call(ToolCall::new("Bash", json!({ "command": command }).to_string())).await;
    result.observation().to_text()
}

fn named(name: &str) -> Tool {
    Tool::builder(name, "Answer at once.").read_only(true).handler(|| async { "pong" })
}

fn builder() -> tool_runtime::ToolPoolBuilder {
    let builder = ToolPool::builder().tool::<BashAction>().tool::<ReadAction>();
    builder.tool::<WebFetchAction>().add(named("fs.list")).argument_matcher(ShellMatcher)
}

fn pool() -> ToolPool {
    builder().build().expect("a pool")
}

fn names(pool: &ToolPool) -> Vec<String> {
    pool.tools().iter().map(|tool| tool.name().to_owned()).collect()
}

fn command(command: &str) -> String {
    json!({ "command": command }).to_string()
}

/// Whether a pool that is restricted to a pattern runs a command. The attacks of `shell`'s own tests
/// ask this as well.
fn allows(pattern: &str, attempted: &str) -> bool {
    static RUNTIME: LazyLock<tokio::runtime::Runtime> =
        LazyLock::new(|| tokio::runtime::Builder::new_current_thread().build().expect("a runtime"));
    static POOL: LazyLock<ToolPool> = LazyLock::new(pool);
    let child = POOL.scope();
    let _bash = child.restrict_declared(&DeclaredTools::allow([&*format!("Bash({pattern})")]));
    let result = RUNTIME.block_on(child.call(ToolCall::new("Bash", command(attempted))));
    match result.error() {
        None => result.observation().to_text() == format!("ran {attempted}"),
        Some(error) => {
            assert_eq!(error.class(), ErrorClass::Denied, "{attempted:?}: {error}");
            false
        }
    }
}

#[test]
fn plain_commands_of_a_pattern_run() {
    for attempted in ["git", "git status", "git log --author='Ada Lovelace' -5", "git diff HEAD~1"]
    {
        assert!(allows("git *", attempted), "{attempted}");
        assert!(allows("git:*", attempted), "{attempted}");
    }
    assert!(allows("git status", "git status"));
    assert!(!allows("git status", "git status -s"));
    assert!(allows("*", "anything; at all"));
}

#[tokio::test]
async fn a_rejection_names_the_allowed_calls_and_the_reason() {
    let pool = pool();
    let _skill = pool.restrict_declared(&DeclaredTools::allow("Bash(git *), Bash(npm test:*)"));
    assert_eq!(
        error_text(&pool, "Bash", &command("rm -r src")).await,
        "the call to `Bash` is not allowed: `command` does not match `Bash(git *)` or `Bash(npm test:*)`"
    );
    assert_eq!(
        error_text(&pool, "Bash", &command("git log | sh")).await,
        "the call to `Bash` is not allowed: `command` does not match `Bash(git *)` or `Bash(npm test:*)`; `sh` reads input that it may run, or take for arguments; run it without a pipe"
    );
    assert_eq!(
        error_text(&pool, "Bash", &command("git log | head; id")).await,
        "the call to `Bash` is not allowed: `id` in `command` does not match `Bash(git *)` or `Bash(npm test:*)`"
    );
    let line = "git status && npm test 2>&1 | head";
    assert_eq!(text(&pool, "Bash", &command(line)).await, format!("ran {line}"));
    let status = &pool.report().tools[1].status;
    assert_eq!(status.to_string(), "restricted to `Bash(git *)`, `Bash(npm test:*)`");
    let error = pool.call(ToolCall::new("Read", "{}")).await;
    assert_eq!(
        error.error().unwrap().message(),
        "`Read` is not available now; available are `Bash`"
    );
}

#[tokio::test]
async fn the_argument_that_is_compared_is_the_one_that_runs() {
    let raw = Tool::builder("Raw", "Run.")
        .input_schema(
            json!({ "type": "object", "properties": { "command": { "type": "string" } } }),
        )
        .match_as("command", MatchAs::Shell)
        .handler(|arguments: Map<String, Value>| async move { arguments["command"].to_string() });
    let pool = builder().add(raw).build().unwrap();
    let _skill = pool.restrict_declared(&DeclaredTools::allow("Bash(git *), Raw(git *)"));
    assert_eq!(text(&pool, "Bash", r#"{"cmd": "git log"}"#).await, "ran git log");
    assert_eq!(text(&pool, "Raw", r#"{"comm\u0061nd": "git log"}"#).await, r#""git log""#);
    for (tool, arguments, reason) in [
        ("Raw", r#"{"command": "git log", "command": "id"}"#, "`command` is given more than once"),
        ("Raw", r#"{"command": "id", "command": "git log"}"#, "`command` is given more than once"),
        ("Raw", r#"{"cmd": "git log"}"#, "`command` is absent; write it"),
        ("Raw", "", "`command` is absent; write it"),
        ("Bash", r#"{"command": "git log", "cmd": "id"}"#, "`command` is given more than once"),
        ("Bash", r#"{"cmd": "id", "limit": 1}"#, "`command` does not match `Bash(git *)`"),
    ] {
        let text = error_text(&pool, tool, arguments).await;
        assert_eq!(text, format!("the call to `{tool}` is not allowed: {reason}"), "{arguments}");
    }
}

#[tokio::test]
async fn paths_are_compared_by_their_text() {
    let pool = pool();
    let _skill = pool.restrict_declared(&DeclaredTools::allow("Read(src/**) Read(/etc/hosts)"));
    for path in ["src/lib.rs", "./src//a/b", "/etc/hosts"] {
        let arguments = json!({ "file_path": path }).to_string();
        assert_eq!(text(&pool, "Read", &arguments).await, format!("read {path}"));
    }
    for path in [
        "src/../key",
        "src/..",
        "../src/a",
        "/src/a",
        "/etc/../etc/hosts",
        "~/src/a",
        "srcs/a",
        "SRC/a",
        "",
    ] {
        let text = error_text(&pool, "Read", &json!({ "file_path": path }).to_string()).await;
        assert!(
            text.contains("does not match `Read(src/**)` or `Read(/etc/hosts)`"),
            "{path}: {text}"
        );
    }
    let with_directory =
        builder().argument_matcher(PathMatcher::new().in_directory("/work")).build().unwrap();
    let _skill = with_directory.restrict_declared(&DeclaredTools::allow("Read(src/**)"));
    assert!(
        text(&with_directory, "Read", r#"{"file_path": "/work/src/a"}"#).await.starts_with("read")
    );
    assert!(
        error_text(&with_directory, "Read", r#"{"file_path": "/work/key"}"#)
            .await
            .contains("not allowed")
    );
}

#[tokio::test]
async fn urls_are_compared_by_host_scheme_and_port() {
    let pool = pool();
    let tools = "WebFetch(domain:example.com), WebFetch(https://*.docs.rs:8443)";
    let _skill = pool.restrict_declared(&DeclaredTools::allow(tools));
    for url in ["https://example.com/a", "HTTP://EXAMPLE.COM", "https://a.docs.rs:8443/"] {
        let arguments = json!({ "url": url }).to_string();
        assert_eq!(text(&pool, "WebFetch", &arguments).await, format!("fetched {url}"));
    }
    for url in [
        "https://example.com.evil.com/",
        "https://evil.com/?example.com",
        "https://example.com@evil.com/",
        "https://evil.com@example.com/",
        "https://evil.com\\@example.com/",
        "https://example.com:8443/",
        "https://a.docs.rs/",
        "http://a.docs.rs:8443/",
        "ftp://example.com/",
        "https://exаmple.com/",
        "https://example。com/",
        "https://example.com\n.evil.com",
        "example.com",
    ] {
        let text = error_text(&pool, "WebFetch", &json!({ "url": url }).to_string()).await;
        assert!(text.contains("does not match `WebFetch(domain:example.com)`"), "{url}: {text}");
    }
}

#[tokio::test]
async fn batches_and_nested_calls_are_checked_one_by_one() {
    let pool = builder().tool::<AgentAction>().build().unwrap();
    let _skill = pool.restrict_declared(&DeclaredTools::allow("Bash(git *), Agent"));
    let commands = ["git status", "id", "git log", "git log; id"];
    let results = pool.call_all(commands.map(|text| ToolCall::new("Bash", command(text)))).await;
    let errors: Vec<bool> = results.iter().map(ToolResult::is_error).collect();
    assert_eq!(errors, [false, true, false, true]);
    assert_eq!(text(&pool, "Agent", &command("git log")).await, "ran git log");
    assert!(text(&pool, "Agent", &command("id")).await.contains("is not allowed"));
}

#[tokio::test]
async fn a_child_handle_only_narrows() {
    let pool = pool();
    let child = pool.scope();
    let outer = pool.restrict_declared(&DeclaredTools::allow("Bash(git *), Read"));
    let inner = child.restrict_declared(&DeclaredTools::allow("Bash, WebFetch, fs.list"));
    assert_eq!(names(&child), ["Bash"]);
    assert!(error_text(&child, "Bash", &command("id")).await.contains("is not allowed"));
    drop(inner);
    let inner = child.restrict_declared(&DeclaredTools::allow("Bash(id), Bash(git log:*)"));
    assert_eq!(text(&child, "Bash", &command("git log -5")).await, "ran git log -5");
    for denied in ["id", "git status"] {
        assert!(error_text(&child, "Bash", &command(denied)).await.contains("is not allowed"));
    }
    assert_eq!(text(&pool, "Bash", &command("git status")).await, "ran git status");
    let replaced = child.replace_restrictions(["*"]).unwrap();
    assert_eq!(text(&child, "Bash", &command("git status")).await, "ran git status");
    assert!(error_text(&child, "Bash", &command("id")).await.contains("is not allowed"));
    drop(outer);
    assert_eq!(text(&child, "Bash", &command("id")).await, "ran id");
    drop(replaced);
    assert!(error_text(&child, "Bash", &command("git status")).await.contains("`Bash(id)`"));
    drop(inner);
    assert_eq!(text(&child, "Bash", &command("rm -r src")).await, "ran rm -r src");
}

#[tokio::test]
async fn a_pool_without_allowed_tools_is_empty() {
    let pool = pool();
    for tools in ["", "Grep", "Grep, Bash(git *", "fs.list(a *)", "mcp__git", "Bash(* x)", "(Bash)"]
    {
        let _skill = pool.restrict_declared(&DeclaredTools::allow(tools));
        assert!(names(&pool).is_empty(), "{tools}");
        let result = pool.call(ToolCall::new("Bash", command("git status"))).await;
        assert_eq!(class(&result), ErrorClass::Denied, "{tools}");
    }
    let _none = pool.restrict_declared(&DeclaredTools::default());
    assert_eq!(names(&pool).len(), 4);
}

/// A hook that turns every command into another one.
fn rewriting(to: &'static str) -> Hook {
    Hook::before("Bash", move |_: HookCall| async move { Before::rewrite(command(to)) })
}

#[tokio::test]
async fn rewritten_arguments_are_checked_before_the_approver_is_asked() {
    let questions = Arc::new(AtomicUsize::new(0));
    let approver = {
        let questions = Arc::clone(&questions);
        move |_: ApprovalRequest| {
            questions.fetch_add(1, Ordering::SeqCst);
            std::future::ready(Approval::approved())
        }
    };
    let ask = || Hook::before("*", |_: HookCall| async { Before::ask("Run it?") });
    let run = |hook: Hook| {
        let approver = approver.clone();
        async move {
            let pool = builder().hook(ask()).hook(hook).approver(approver).build().unwrap();
            let _skill = pool.restrict_declared(&DeclaredTools::allow("Bash(git *)"));
            pool.call(ToolCall::new("Bash", command("git status"))).await
        }
    };
    for hook in [rewriting("id"), rewriting("id").fails_open()] {
        let rejected = run(hook).await;
        assert_eq!(class(&rejected), ErrorClass::Denied);
        assert!(rejected.observation().to_text().contains("does not match `Bash(git *)`"));
    }
    assert_eq!(questions.load(Ordering::SeqCst), 0);
    assert_eq!(run(rewriting("git log")).await.observation().to_text(), "ran git log");
    assert_eq!(questions.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn hooks_see_allowed_calls_before_and_every_call_after() {
    let (before, after) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (seen_before, seen_after) = (Arc::clone(&before), Arc::clone(&after));
    let pool = builder()
        .hook(Hook::before("*", move |_: HookCall| {
            seen_before.fetch_add(1, Ordering::SeqCst);
            async { Before::proceed() }
        }))
        .hook(Hook::after("*", move |_: HookCall, _: tool_runtime::hook::AfterCall| {
            seen_after.fetch_add(1, Ordering::SeqCst);
            async { tool_runtime::hook::After::keep() }
        }))
        .build()
        .unwrap();
    let _skill = pool.restrict_declared(&DeclaredTools::allow("Bash(git *)"));
    error_text(&pool, "Bash", &command("id")).await;
    assert_eq!((before.load(Ordering::SeqCst), after.load(Ordering::SeqCst)), (0, 1));
    text(&pool, "Bash", &command("git log")).await;
    assert_eq!((before.load(Ordering::SeqCst), after.load(Ordering::SeqCst)), (1, 2));
}

#[tokio::test]
async fn repaired_arguments_are_checked() {
    let pool = builder().repair().build().unwrap();
    let _skill = pool.restrict_declared(&DeclaredTools::allow("Bash(git *)"));
    assert_eq!(text(&pool, "functions.Bash", r#"{"Command": "git log"}"#).await, "ran git log");
    for (name, arguments) in [
        ("Bash", r#"{"Command": "id"}"#),
        ("functions.Bash", r#"{"command": "id"}"#),
        ("Bash", r#"{"command": "id", "limit": "5"} </call>"#),
    ] {
        let text = error_text(&pool, name, arguments).await;
        assert!(text.contains("does not match `Bash(git *)`"), "{arguments}: {text}");
    }
}

#[tokio::test]
async fn typed_calls_are_checked() {
    let pool = pool();
    let _skill = pool.restrict_declared(&DeclaredTools::allow("Bash(git *)"));
    let run = |text: &str| BashAction { command: text.to_owned(), limit: 1 }.call(&pool);
    assert_eq!(run("git log").await.unwrap(), "ran git log");
    let error: CallError = run("id").await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Denied);
    let pool = builder().hook(rewriting("id")).build().unwrap();
    let _skill = pool.restrict_declared(&DeclaredTools::allow("Bash(git *)"));
    let run = BashAction { command: "git log".into(), limit: 1 }.call(&pool);
    assert_eq!(run.await.unwrap_err().class(), ErrorClass::Denied);
}

#[tokio::test]
async fn denied_calls_win_over_allowed_ones() {
    let pool = pool();
    let tools =
        DeclaredTools::allow("Bash(git *), Read").deny("Bash(git push *), bash(git remote:*)");
    let _skill = pool.restrict_declared(&tools);
    assert_eq!(text(&pool, "Bash", &command("git log")).await, "ran git log");
    assert_eq!(
        error_text(&pool, "Bash", &command("git push origin")).await,
        "the call to `Bash` is not allowed: `command` matches `Bash(git push *)`, which is denied"
    );
    assert!(
        error_text(&pool, "Bash", &command("git remote add")).await.contains("which is denied")
    );
    drop(_skill);
    let _skill = pool.restrict_declared(&DeclaredTools::default().deny("Bash(git push *), READ"));
    assert_eq!(names(&pool), ["Bash", "WebFetch", "fs.list"]);
    assert_eq!(text(&pool, "Bash", &command("ls")).await, "ran ls");
    assert_eq!(
        error_text(&pool, "Bash", &command("ls; git push")).await,
        "the call to `Bash` is not allowed: `Bash(git push *)` is denied, and `git push *` describes some commands of the line, and not `ls`; run them apart"
    );
}

#[test]
fn a_denial_that_cannot_be_evaluated_denies_the_tool() {
    let pool = pool();
    for (deny, left) in [
        ("Bash(git *", vec!["Read", "WebFetch", "fs.list"]),
        ("Bash(* x)", vec!["Read", "WebFetch", "fs.list"]),
        ("fs.list(a)", vec!["Bash", "Read", "WebFetch"]),
        ("(git *)", vec![]),
        ("fs.[", vec![]),
        ("Grep", vec!["Bash", "Read", "WebFetch", "fs.list"]),
    ] {
        let _deny = pool.restrict_declared(&DeclaredTools::default().deny(deny));
        assert_eq!(names(&pool), left, "{deny}");
    }
}

#[test]
fn each_declaration_without_effect_has_a_reason() {
    let pool = builder().match_argument("WebFetch", "address", MatchAs::Url).build().unwrap();
    let report = |tools: &str| pool.declaration_report(&DeclaredTools::allow(tools)).to_string();
    for (declaration, line) in [
        ("Read", "`Read` allows `Read`"),
        ("read", "`read` allows `Read`"),
        ("Bash(git *)", "`Bash(git *)` allows `Bash`"),
        ("fs__list", "`fs__list` allows `fs.list`"),
        ("*", "`*` allows `Bash`, `Read`, `WebFetch`, `fs.list`"),
        ("Raed", "`Raed` allows nothing: the pool has no tool `Raed`; did you mean `Read`?"),
        ("mcp__git__log", "`mcp__git__log` allows nothing: the pool has no tool `mcp__git__log`"),
        (
            "fs.list(src)",
            "`fs.list(src)` allows nothing: `fs.list` does not name the argument that a pattern is about; write `#[arg(match_as = \"shell\")]`, `\"path\"` or `\"url\"` on a parameter, or `.match_argument(..)` on the pool",
        ),
        (
            "WebFetch(domain:a.b)",
            "`WebFetch(domain:a.b)` allows nothing: `WebFetch` has no argument `address` for patterns",
        ),
        (
            "Bash(a | b)",
            "`Bash(a | b)` allows nothing: `a | b` is not a valid shell pattern: `|` without quotes is a pipeline, which no plain command has; put it in single quotes",
        ),
        (
            "Read(../*)",
            "`Read(../*)` allows nothing: `../*` is not a valid path pattern: it contains `..`; write the path without it",
        ),
        (
            "Bash(git",
            "`Bash(git` allows nothing: the parenthesis is not closed; write `Bash(PATTERN)`",
        ),
    ] {
        assert_eq!(report(declaration), format!("{line}\n"));
    }
    let denied = pool.declaration_report(&DeclaredTools::default().deny("Bash(git"));
    assert!(denied.to_string().starts_with("`Bash(git` denies `Bash`: the parenthesis"));
}

#[tokio::test]
async fn without_a_matcher_of_commands_their_patterns_allow_nothing() {
    let pool = ToolPool::builder().tool::<BashAction>().build().unwrap();
    let tools = DeclaredTools::allow("Bash(git *)");
    let _skill = pool.restrict_declared(&tools);
    assert!(names(&pool).is_empty());
    let result = pool.call(ToolCall::new("Bash", command("git status"))).await;
    assert_eq!(class(&result), ErrorClass::Denied);
    drop(_skill);
    let reason = pool.declaration_report(&tools).entries[0].reason.clone().unwrap();
    assert_eq!(
        reason,
        "the pool has no matcher of commands; enable the feature `shell`, and write `.argument_matcher(tool_runtime::shell::ShellMatcher)`"
    );
}

#[test]
fn an_exact_name_wins() {
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let tools = ["read", "Read"].map(named);
    pool.add_tools(&Source::mcp("files"), tools).unwrap();
    for (declaration, left) in
        [("read", vec!["read"]), ("Read", vec!["Read"]), ("READ", vec!["Read", "read"])]
    {
        let _skill = pool.restrict_declared(&DeclaredTools::allow(declaration));
        assert_eq!(names(&pool), left, "{declaration}");
    }
    let _skill = pool.restrict_declared(&DeclaredTools::default().deny("read"));
    assert!(names(&pool).is_empty(), "a denial does not depend on case");
}

#[tokio::test]
async fn tools_of_mcp_servers_are_declared_by_server_and_tool() {
    let serve = |names: &[&str]| {
        let tools = names.iter().map(|name| named(name));
        let pool =
            tools.fold(ToolPool::builder(), |builder, tool| builder.add(tool)).build().unwrap();
        McpServer::new(pool, "remote_pool", "1.0.0")
    };
    let run = Tool::builder("run", "Run.")
        .input_schema(json!({ "type": "object", "properties": { "line": { "type": "string" } } }))
        .handler(|arguments: Map<String, Value>| async move { arguments["line"].to_string() });
    let remote_pool = ToolPool::builder().add(run).build().unwrap();
    let pool = ToolPool::builder()
        .allow_empty()
        .argument_matcher(ShellMatcher)
        .match_argument("sh.*", "line", MatchAs::Shell)
        .build()
        .unwrap();
    let manager = McpManager::builder()
        .in_process("git", serve(&["log", "diff.stat"]))
        .in_process("git hub", serve(&["log"]))
        .in_process("sh", McpServer::new(remote_pool, "remote_pool", "1.0.0"));
    let manager = in_time(manager.connect(&pool)).await.unwrap();
    assert_eq!(names(&pool), ["git.diff.stat", "git.log", "git_hub.log", "sh.run"]);
    for (declared, left) in [
        ("mcp__git__log", vec!["git.log"]),
        ("mcp__git__diff_stat", vec!["git.diff.stat"]),
        ("mcp__git", vec!["git.diff.stat", "git.log"]),
        ("mcp__git__*", vec!["git.diff.stat", "git.log"]),
        ("mcp__git_hub", vec!["git_hub.log"]),
        ("git.log", vec!["git.log"]),
        ("mcp__*", vec!["git.diff.stat", "git.log", "git_hub.log", "sh.run"]),
        ("mcp__gi", vec![]),
        ("mcp__git__", vec![]),
    ] {
        let _skill = pool.restrict_declared(&DeclaredTools::allow(declared));
        assert_eq!(names(&pool), left, "{declared}");
    }
    let _skill = pool.restrict_declared(&DeclaredTools::allow("mcp__sh__run(git *)"));
    assert_eq!(text(&pool, "sh.run", r#"{"line": "git log"}"#).await, r#""git log""#);
    let denied = error_text(&pool, "sh.run", r#"{"line": "git log; id"}"#).await;
    assert!(denied.contains("`line` does not match `mcp__sh__run(git *)`"), "{denied}");
    manager.close().await;
}

#[tokio::test]
async fn a_restriction_follows_the_tools_of_the_pool() {
    let pool = pool();
    let _skill = pool.restrict_declared(&DeclaredTools::allow("Grep(src/**), fs.list"));
    assert_eq!(names(&pool), ["fs.list"]);
    let grep = Tool::builder("Grep", "Search.")
        .input_schema(json!({ "type": "object", "properties": { "path": { "type": "string" } } }))
        .match_as("path", MatchAs::Path)
        .handler(|_: Map<String, Value>| async { "found" });
    pool.add_tools(&Source::owner("later"), [grep]).unwrap();
    assert_eq!(names(&pool), ["Grep", "fs.list"]);
    assert_eq!(text(&pool, "Grep", r#"{"path": "src/a"}"#).await, "found");
    assert!(error_text(&pool, "Grep", r#"{"path": "key"}"#).await.contains("is not allowed"));
    assert_eq!(
        pool.report().tools[0].status.to_string(),
        "restricted to `Grep(src/**)`, `fs.list`"
    );
    assert_eq!(pool.report().tools[1].status, ToolStatus::Visible);
}

#[tokio::test]
async fn a_served_pool_checks_calls() {
    let pool = pool();
    let _skill = pool.restrict_declared(&DeclaredTools::allow("Bash(git *)"));
    let client = TestClient::builder(&pool).connect().await;
    let ran = client.call("Bash", json!({ "command": "git log" })).await.expect("a result");
    assert_eq!(ran.to_text(), "ran git log");
    let rejected = client.call("Bash", json!({ "command": "id" })).await.expect("a result");
    assert!(rejected.to_text().contains("does not match `Bash(git *)`"));
    client.close().await;
}
