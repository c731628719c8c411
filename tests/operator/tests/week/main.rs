//! A week of an operator: a gateway with two external servers and callers of an issuer, an agent that works, a person who
//! approves in a browser, an edit of the policy, a limit, a broken server, new keys, the end, and the questions of Tuesday.
//!
//! `.ci/nightly operator` runs it. It needs Chromium.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]
#![cfg(unix)]

mod browser;
mod gateway;
mod issuer;

use browser::Person;
use gateway::Gateway;
use issuer::{Issuer, Key};
use rustix::process::Signal;
use serde_json::{Value, json};
use tool_runtime::mcp::{McpConfig, McpManager};
use tool_runtime::prelude::*;
use tool_runtime_agent::{Agent, AgentEvent, ScriptedModel};

/// The configuration of the gateway. `{..}` is replaced.
const CONFIGURATION: &str = r#"
title = "Tools of the team"
[http]
listen = "127.0.0.1:0"
[http.jwt]
issuer = "{issuer}"
audience = "https://tools.example.com/mcp"
[policy]
file = "policy.yaml"
[approvals]
caller = false
terminal = false
inbox = "inbox"
[log]
file = "calls.db"
head_file = "head/calls.head"
[mcpServers.files]
command = "{program}"
args = ["--config", "files.toml", "serve"]
[mcpServers.search]
command = "{program}"
args = ["--config", "search.toml", "serve"]
"#;

const POLICY: &str = r#"
default: allow
rules:
  - id: deletions
    when: {tools: [files.Delete]}
    then: {decision: ask, reason: "May it be deleted?", approval: {timeout: 10m}}
  - id: searches
    when: {tools: ["search.*"]}
    then: allow
    rate_limit: {max: 3, window: 10m, per: tool}
"#;

/// A rule that the operator adds.
const NO_WRITES: &str = r#"
  - id: freeze
    when: {tools: [files.Write]}
    then: {decision: deny, reason: "the files are frozen until Friday"}
"#;

fn step(text: &str) {
    println!("- {text}");
}

/// Runs an agent whose model follows a script, over the gateway: the texts of its results.
async fn agent(gateway: &Gateway, token: &str, script: Value) -> Vec<String> {
    let entry = json!({ "mcpServers": { "team": {
        "url": gateway.url(), "headers": { "Authorization": format!("Bearer {token}") }, "prefix": "",
    }}});
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let manager = McpManager::connect(McpConfig::from_value(entry).unwrap(), &pool).await.unwrap();
    // A name with a dot of an external server has another form in this pool.
    let mut script = script.to_string();
    for name in ["files.Write", "files.Read", "files.Delete", "search.Glob"] {
        let form = name.replace('.', "_");
        let found = pool
            .tools()
            .iter()
            .find(|tool| tool.name().starts_with(&form))
            .map(|tool| tool.name().to_owned());
        script = script.replace(name, &found.unwrap_or_default());
    }
    let model = ScriptedModel::from_json(&script).unwrap();
    let mut run = Agent::new(model, pool.clone()).run("Tidy the notes.");
    let mut results = Vec::new();
    while let Some(event) = run.next().await {
        if let AgentEvent::Result(result) = event {
            results.push(result.observation().to_text());
        }
    }
    manager.close().await;
    results
}

fn calls(calls: &[(&str, Value)]) -> Value {
    let turn = |(name, arguments): &(&str, Value)| json!({ "calls": [{ "name": name, "arguments": arguments }] });
    calls.iter().map(turn).chain([json!({ "text": "Done." })]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_week_of_an_operator() {
    let (first, second) = (Key::new(), Key::new());
    let issuer = Issuer::start(vec![first.jwk("first")]).await;
    let folder = tempfile::tempdir().unwrap();

    step("init and check");
    let text = gateway::ok(&folder, &["init"]).await;
    assert!(text.contains("wrote ./tool-gateway.toml"), "{text}");
    gateway::ok(&folder, &["check", "--strict"]).await;
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let configuration =
        CONFIGURATION.replace("{issuer}", &issuer.url).replace("{program}", &gateway::program());
    write("tool-gateway.toml", &configuration);
    write("policy.yaml", POLICY);
    write("files.toml", "[tools]\nfamilies = ['files']\nroots = ['notes']");
    write("search.toml", "[tools]\nfamilies = ['search']\nroots = ['notes']");
    for name in ["notes", "head"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    write("notes/old", "an old note");
    gateway::ok(&folder, &["check", "--strict"]).await;

    step("serve with two external servers");
    let gateway = Gateway::start(&folder).await;
    assert_eq!(gateway.get("/readyz").await, (200, "ready\n".to_owned()));
    let token = |key: &Key, id: &str, name: &str, scope: &str| issuer.token(key, id, name, scope);
    let worker = token(&first, "first", "worker", "");

    step("an agent works, and a person approves in the browser");
    let script = calls(&[
        ("files.Write", json!({ "file_path": "new", "content": "a new note" })),
        ("files.Read", json!({ "file_path": "new" })),
        ("files.Delete", json!({ "path": "old" })),
    ]);
    let person = async {
        let person =
            Person::enter(&gateway.page(), &token(&first, "first", "grace", "approve")).await;
        person.approve("May it be deleted?").await;
    };
    let (results, ()) = tokio::join!(agent(&gateway, &worker, script), person);
    assert!(results.iter().any(|text| text.contains("a new note")), "{results:?}");
    assert!(!folder.path().join("notes/old").exists(), "{results:?}");

    step("an edit of the policy counts");
    write("policy.yaml", &format!("{POLICY}{NO_WRITES}"));
    gateway.signal(Signal::HUP);
    gateway.line("the configuration was read again").await;
    let script = calls(&[("files.Write", json!({ "file_path": "other", "content": "x" }))]);
    let results = agent(&gateway, &worker, script).await;
    assert!(results[0].contains("the files are frozen until Friday"), "{results:?}");

    step("a limit is reached");
    let search = ("search.Glob", json!({ "pattern": "*" }));
    let script = calls(&[search.clone(), search.clone(), search.clone(), search]);
    let results = agent(&gateway, &worker, script).await;
    assert!(results[..3].iter().all(|text| text.contains("new")), "{results:?}");
    assert!(results[3].contains("limit"), "{results:?}");

    step("a broken server does not stop the others");
    write("tool-gateway.toml", &configuration.replace("search.toml", "nowhere.toml"));
    gateway.signal(Signal::HUP);
    gateway.line("servers_changed=").await;
    let script = calls(&[("files.Read", json!({ "file_path": "new" }))]);
    let results = agent(&gateway, &worker, script).await;
    assert!(results[0].contains("a new note"), "{results:?}");

    step("the issuer has new keys");
    issuer.set_keys(vec![second.jwk("second")]);
    let renewed = token(&second, "second", "worker", "");
    // The issuer is asked for unknown keys at most every ten seconds.
    gateway.accepts(&renewed).await;
    let script = calls(&[("files.Read", json!({ "file_path": "new" }))]);
    let results = agent(&gateway, &renewed, script).await;
    assert!(results[0].contains("a new note"), "{results:?}");
    let old = token(&first, "first", "worker", "");
    assert_eq!(gateway.call(&old, "files.Read").await.0, 401);

    step("the end: a call that waits is answered");
    let waiting = gateway.call(&renewed, "files.Delete");
    let ending = async {
        while !gateway::ok(&folder, &["approvals", "list"]).await.contains("May it be deleted?") {}
        gateway.signal(Signal::TERM);
    };
    let ((status, answer), ()) = tokio::join!(waiting, ending);
    assert_eq!(status, 200);
    assert!(answer.contains("the server stops, so the question was not answered"), "{answer}");
    assert_eq!(gateway.end().await, 0);

    step("the log is whole, and says who deleted what on Tuesday");
    let text = gateway::ok(&folder, &["log", "verify", "--head", "head/calls.head"]).await;
    assert!(text.contains("are as they were written"), "{text}");
    let asked = ["log", "show", "--since", "1d", "--tool", "files.Delete", "--records"];
    let text = gateway::ok(&folder, &asked).await;
    assert!(
        text.contains("worker") && text.contains("grace") && text.contains(r#""old""#),
        "{text}"
    );
    let text =
        gateway::ok(&folder, &["log", "show", "--decision", "denied", "--principal", "worker"])
            .await;
    assert!(text.contains("freeze"), "{text}");
}
