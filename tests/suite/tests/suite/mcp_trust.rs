//! Trust in servers: annotations, secrets, and members that are passed on.

use super::support::{ProgressRecorder, in_time};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tool_runtime::ErrorClass;
use tool_runtime::http::HttpOptions;
use tool_runtime::mcp::{
    McpConfig, McpManager, McpManagerBuilder, McpPins, McpServer, McpServerConfig,
};
use tool_runtime::peer::{Peer, PeerCapability, PeerError, PeerRequest};
use tool_runtime::prelude::*;

fn faulty(script: &Value) -> McpServerConfig {
    McpServerConfig::stdio(env!("CARGO_BIN_EXE_faulty_server")).args([script.to_string()])
}

fn empty() -> ToolPool {
    ToolPool::builder().allow_empty().build().unwrap()
}

async fn connected(builder: McpManagerBuilder) -> (ToolPool, McpManager) {
    let pool = empty();
    let manager = builder.connect(&pool).await.unwrap();
    (pool, manager)
}

async fn call(pool: &ToolPool, name: &str, arguments: Value) -> ToolResult {
    in_time(pool.call(ToolCall::new(name, arguments.to_string()))).await
}

async fn text(pool: &ToolPool, name: &str, arguments: Value) -> String {
    call(pool, name, arguments).await.observation().to_text()
}

fn names(pool: &ToolPool) -> Vec<String> {
    pool.tools().iter().map(|tool| tool.name().to_owned()).collect()
}

#[tokio::test]
async fn hints_of_a_server_satisfy_filters_only_if_it_is_trusted() {
    let script = json!({ "tools": ["echo-ro", "echo"] });
    for (trusted, expected) in [(false, vec![]), (true, vec!["s.echo-ro"])] {
        let pool = ToolPool::builder().allow(["hint:read_only"]).allow_empty().build().unwrap();
        let builder = McpManager::builder().server("s", faulty(&script).trusted(trusted));
        let manager = builder.connect(&pool).await.unwrap();
        assert_eq!(names(&pool), expected);
        manager.close().await;
    }
    let (pool, manager) = connected(McpManager::builder().server("s", faulty(&script))).await;
    let definition = pool.get("s.echo-ro").unwrap().definition().clone();
    assert_eq!(definition.annotations.read_only_hint, Some(true), "listed as it is given");
    let listed = serde_json::to_value(&definition).unwrap();
    assert_eq!(listed["annotations"]["readOnlyHint"], true);
    assert_eq!(listed["_meta"]["tool-runtime/untrusted-annotations"], true);
    manager.close().await;
}

#[tokio::test]
async fn a_configuration_marks_a_server_as_trusted() {
    let program = env!("CARGO_BIN_EXE_faulty_server");
    let script = json!({ "tools": ["echo-ro"] }).to_string();
    for (entry, expected) in [
        (json!({ "command": program, "args": [script], "trusted": true }), true),
        (json!({ "command": program, "args": [script], "trust": true }), false),
    ] {
        let config = McpConfig::from_value(json!({ "mcpServers": { "s": entry } })).unwrap();
        let (pool, manager) = connected(McpManager::builder().config(config)).await;
        let definition = pool.get("s.echo-ro").unwrap().definition().clone();
        assert_eq!(definition.effective_annotations().is_read_only(), expected);
        manager.close().await;
    }
}

/// Number of running calls, and the maximum so far.
#[derive(Default)]
struct ConcurrencyCounter {
    running: AtomicUsize,
    maximum: AtomicUsize,
}

impl ConcurrencyCounter {
    async fn count(&self) {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.maximum.fetch_max(running, Ordering::SeqCst);
        // Gives a concurrent call time to start.
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn calls_run_concurrently_only_if_their_server_is_trusted() {
    for trusted in [false, true] {
        let counter = Arc::new(ConcurrencyCounter::default());
        let shared = Arc::clone(&counter);
        let count =
            Tool::builder("count", "Count concurrent calls.").read_only(true).handler(move || {
                let counter = Arc::clone(&shared);
                async move { counter.count().await }
            });
        let remote =
            McpServer::new(ToolPool::builder().add(count).build().unwrap(), "remote", "1.0.0");
        let builder = McpManager::builder().in_process("remote", remote);
        let builder = if trusted { builder.trust("remote") } else { builder };
        let (pool, manager) = connected(builder).await;
        let calls = vec![ToolCall::new("remote.count", "{}"); 3];
        assert!(in_time(pool.call_all(calls)).await.iter().all(|result| !result.is_error()));
        let maximum = counter.maximum.load(Ordering::SeqCst);
        assert_eq!(maximum > 1, trusted, "{maximum} at once");
        manager.close().await;
    }
}

#[tokio::test]
async fn a_lost_call_is_repeated_only_if_its_server_is_trusted() {
    for trusted in [false, true] {
        let starts = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("starts-trust-{trusted}"));
        drop(std::fs::remove_file(&starts));
        let script = json!({ "tools": ["fragile-ro"], "starts": starts });
        let config = faulty(&script).trusted(trusted);
        let (pool, manager) = connected(McpManager::builder().server("s", config)).await;
        let result = call(&pool, "s.fragile-ro", json!({})).await;
        match trusted {
            true => assert_eq!(result.observation().to_text(), "survived"),
            false => assert_eq!(result.error().unwrap().class(), ErrorClass::Indeterminate),
        }
        manager.close().await;
    }
}

const SECRET: &str = "tok-5fQ9zL";

/// A line with the result of a call.
fn raw_answer(result: &Value) -> Value {
    let line = format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{result}}}"#);
    json!({ "line": line })
}

#[tokio::test]
async fn a_secret_that_a_server_echoes_reaches_no_model() {
    let script = json!({ "tools": ["echo", "raw", "slow"] });
    for config in [
        faulty(&script).env("API_TOKEN", SECRET),
        faulty(&script).args(["--api-key", SECRET]),
        faulty(&script).args([format!("--token={SECRET}")]),
        faulty(&script).args([format!("https://ada:{SECRET}@example.com/")]),
        faulty(&script).args(["--header".to_owned(), format!("Authorization: Bearer {SECRET}")]),
    ] {
        let (pool, manager) = connected(McpManager::builder().server("s", config)).await;
        let result = json!({
            "content": [
                { "type": "text", "text": format!("<{SECRET}> \"quoted\"") },
                { "type": "resource", "resource": { "uri": "a:b", "text": SECRET } },
                { "type": "hologram", "of": [SECRET] },
            ],
            "structuredContent": { "key": SECRET, (SECRET): 1, "port": 8080 },
            "_meta": { "k": SECRET },
            "more": SECRET,
        });
        let result = call(&pool, "s.raw", raw_answer(&result)).await;
        let json = serde_json::to_string(result.observation()).unwrap();
        assert!(!json.contains(SECRET), "{json}");
        let value: Value = serde_json::from_str(&json).expect("still JSON");
        assert!(value["content"][0]["text"].as_str().unwrap().ends_with("> \"quoted\""), "{value}");
        assert_eq!(value["structuredContent"]["port"], 8080);
        for error_text in [
            format!(
                r#"{{"jsonrpc":"2.0","id":ID,"error":{{"code":-32000,"message":"no {SECRET}"}}}}"#
            ),
            format!(
                r#"{{"jsonrpc":"2.0","id":ID,"result":{{"isError":true,"content":[{{"type":"text","text":"no {SECRET}"}}]}}}}"#
            ),
        ] {
            let text = text(&pool, "s.raw", json!({ "line": error_text })).await;
            assert!(text.contains("no ") && !text.contains(SECRET), "{text}");
        }
        let recorder = Arc::new(ProgressRecorder::default());
        let context = pool.context().with_peer(Arc::clone(&recorder) as _);
        let arguments = json!({ "ms": 1, "message": format!("with {SECRET}") }).to_string();
        in_time(pool.call_with(ToolCall::new("s.slow", arguments), &context)).await;
        let received = format!("{:?}", recorder.0.lock().unwrap());
        assert!(received.contains("with ") && !received.contains(SECRET), "{received}");
        manager.close().await;
    }
}

/// A tool whose definition has the secret in every text, and two whose names have it.
fn telling_definitions() -> Value {
    let schema = json!({
        "type": "object",
        "properties": { "x": {
            "type": "string", "title": SECRET, "description": SECRET, "default": SECRET, "enum": [SECRET, "other"],
        } },
    });
    json!([
        {
            "name": "tell", "title": SECRET, "description": SECRET, "inputSchema": schema, "outputSchema": schema,
            "annotations": { "title": SECRET, "mood": SECRET }, "icons": [{ "src": format!("https://e/{SECRET}") }],
            "_meta": { "k": SECRET, (SECRET): 1 }, "more": [SECRET],
        },
        { "name": format!("get_{SECRET}"), "inputSchema": { "type": "object" } },
        {
            "name": "argued",
            "inputSchema": { "type": "object", "properties": { "a": { "properties": { (SECRET): {} } } } },
        },
    ])
}

#[tokio::test]
async fn definitions_of_a_server_show_no_secret() {
    let script = json!({ "definitions": telling_definitions() });
    let config = faulty(&script).env("PLACE", SECRET).secret("PLACE");
    let (pool, manager) = connected(McpManager::builder().server("s", config)).await;
    let listed = pool.definitions_json();
    assert!(!listed.contains(SECRET), "{listed}");
    assert_eq!(names(&pool), ["s.tell"], "names with a secret are left out");
    let tell: Value = serde_json::from_str(&listed).unwrap();
    let shown = "${PLACE}";
    assert_eq!(tell[0]["title"], shown);
    assert_eq!(tell[0]["inputSchema"]["properties"]["x"]["enum"], json!([shown, "other"]));
    assert_eq!(tell[0]["icons"][0]["src"], "https://e/${PLACE}");
    assert_eq!(tell[0]["_meta"][shown], 1);
    assert_eq!(tell[0]["more"][0], shown);
    let problems = manager.server("s").unwrap().problems;
    let name =
        "its tool `get_${PLACE}` is left out: its name contains a secret of the server's entry";
    let argument = "its tool `argued` is left out: the name of an argument contains a secret of the server's entry";
    assert_eq!(problems, [name, argument]);
    let report = format!("{} {:?}", pool.report(), manager.pins());
    assert!(!report.contains(SECRET) && !report.contains("get_"), "{report}");
    let called = text(&pool, "s.argued", json!({})).await;
    assert!(called.contains("the name of an argument contains a secret"), "{called}");
    manager.close().await;
}

#[tokio::test]
async fn marked_values_are_masked_where_the_text_of_a_server_goes() {
    let script = json!({ "tools": ["raw", "die"], "title": format!("of {SECRET} changed") });
    let config = faulty(&script).args([SECRET]).env("MODE", "changed");
    let config = config.secret("args[1]").env("MY_PW", "qwertyui").secret("MY_PW");
    let (pool, manager) = connected(McpManager::builder().server("s", config)).await;
    let status = manager.server("s").unwrap();
    assert_eq!(status.instructions.as_deref(), Some("of .. changed"));
    let result =
        json!({ "content": [{ "type": "text", "text": format!("{SECRET} qwertyui changed") }] });
    let result = call(&pool, "s.raw", raw_answer(&result)).await;
    assert_eq!(result.observation().to_text(), ".. ${MY_PW} changed");
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":ID,"error":{{"code":-32000,"message":"{SECRET} changed"}}}}"#
    );
    let error = text(&pool, "s.raw", json!({ "line": line })).await;
    assert!(error.contains(".. changed"), "{error}");
    manager.close().await;
}

#[tokio::test]
async fn expanded_values_are_masked_and_plain_words_are_not() {
    let variables =
        [("MINE", "q7-s3cret"), ("FOLDER", "/srv/books"), ("TEAM", "platform"), ("PORT", "808080")];
    let entry = json!({
        "command": env!("CARGO_BIN_EXE_faulty_server"),
        "args": [json!({ "tools": ["echo"] }).to_string(), "${MINE}", "${FOLDER}", "${TEAM}", "${PORT}"],
        "env": { "LOG_LEVEL": "detailed", "SITE": "https://example.com/" },
    });
    let loader = McpConfig::loader().variables(variables);
    let config = loader.value(json!({ "mcpServers": { "s": entry } })).load().unwrap();
    let (pool, manager) = connected(McpManager::builder().config(config)).await;
    let message =
        "q7-s3cret at /srv/books/1 of platform, 808080, detailed, https://example.com/, true";
    assert_eq!(
        text(&pool, "s.echo", json!({ "text": message })).await,
        json!({ "text": message.replace("q7-s3cret", "${MINE}") }).to_string()
    );
    manager.close().await;
}

/// Records requests, and answers nothing.
#[derive(Default)]
struct RecordingPeer(std::sync::Mutex<Vec<String>>);

impl Peer for RecordingPeer {
    fn can(&self, _: PeerCapability) -> bool {
        true
    }

    fn request(
        &self,
        request: PeerRequest,
    ) -> tool_runtime::BoxFuture<'_, Result<Value, PeerError>> {
        self.0.lock().unwrap().push(Value::Object(request.params().clone()).to_string());
        Box::pin(async { Ok(json!({ "action": "decline" })) })
    }
}

#[tokio::test]
async fn a_question_of_a_server_shows_no_secret() {
    for version in ["2025-11-25", "2026-07-28"] {
        let peer = Arc::new(RecordingPeer::default());
        let script = json!({ "tools": ["ask"], "version": version });
        let config = faulty(&script).env("PASSWORD", "Sure-or-not?");
        let builder = McpManager::builder().server("s", config).peer(Arc::clone(&peer) as _);
        let (pool, manager) = connected(builder).await;
        call(&pool, "s.ask", json!({ "message": "Sure-or-not?" })).await;
        let questions = peer.0.lock().unwrap().join("\n");
        assert!(questions.contains("${PASSWORD}"), "{version}: {questions}");
        assert!(!questions.contains("Sure-or-not?"), "{version}: {questions}");
        manager.close().await;
    }
}

#[tokio::test]
async fn a_resource_shows_no_secret() {
    let server = || McpServerConfig::stdio(env!("CARGO_BIN_EXE_offering_server")).resources(true);
    let (_, manager) = connected(McpManager::builder().server("notes", server())).await;
    let definitions = manager.resources("notes").await.unwrap();
    let mut texts = Vec::new();
    for resource in definitions.iter().filter(|resource| !resource.is_template()) {
        let contents = manager.read_resource("notes", &resource.uri).await.unwrap_or_default();
        let contents = contents.into_iter().filter_map(|contents| contents.text);
        texts.extend(
            contents.filter(|text| text.len() > 6).map(|text| (resource.uri.clone(), text)),
        );
    }
    manager.close().await;
    let (uri, text) = texts.pop().expect("a resource with text");
    let (read, others): (Vec<_>, Vec<_>) =
        definitions.iter().partition(|resource| resource.uri == uri);
    let description = read[0].description.as_str();
    let secret = server().env("TOKEN", text).env("MY_PW", description);
    let secret = secret.env("OTHER_TOKEN", others[0].uri.as_str());
    let (pool, manager) = connected(McpManager::builder().server("notes", secret)).await;
    let listed = manager.resources("notes").await.unwrap();
    assert_eq!(listed.len(), definitions.len() - 1, "a masked URI could not be read");
    let by_model = self::text(&pool, "list_mcp_resources", json!({})).await;
    for shown in [format!("{listed:?}"), by_model] {
        assert!(shown.contains("${MY_PW}") && !shown.contains(description), "{shown}");
    }
    let contents = manager.read_resource("notes", &uri).await.unwrap();
    assert_eq!(contents[0].text.as_deref(), Some("${TOKEN}"));
    manager.close().await;
}

/// A gateway to a server: a served pool with its tools.
async fn gateway(script: &Value) -> (McpServer, McpManager) {
    let (pool, manager) = connected(McpManager::builder().server("s", faulty(script))).await;
    (McpServer::new(pool, "gateway", "1.0.0"), manager)
}

fn result_with_unknown_parts() -> Value {
    json!({
        "content": [
            { "type": "text", "text": "a", "voice": "low", "annotations": { "mood": "calm" } },
            { "type": "hologram", "depth": 3 },
            { "type": "resource", "resource": { "uri": "a:b", "text": "c", "size": 1 } },
        ],
        "structuredContent": { "n": 1 },
        "_meta": { "k": 1 },
        "cost": { "cents": 3 },
    })
}

#[tokio::test]
async fn a_gateway_passes_unknown_parts_on() {
    for version in ["2025-11-25", "2026-07-28"] {
        let script = json!({ "tools": ["raw-marked"], "version": version });
        let (server, first) = gateway(&script).await;
        let (pool, second) = connected(McpManager::builder().in_process("g", server)).await;
        let definition = pool.get("g.s.raw-marked").unwrap().definition().clone();
        let json = serde_json::to_value(&definition).unwrap();
        assert_eq!(json["execution"], json!({ "taskSupport": "optional" }), "{version}: {json}");
        assert_eq!(json["annotations"]["progressEnabled"], true, "{version}: {json}");
        assert_eq!(json["annotations"]["readOnlyHint"], true);
        assert_eq!(
            json["_meta"],
            json!({
                "tool-runtime/progress": true, "tool-runtime/untrusted-annotations": true,
            })
        );
        assert!(definition.reports_progress);

        let mut sent = result_with_unknown_parts();
        sent["resultType"] = "complete".into();
        let result = call(&pool, "g.s.raw-marked", raw_answer(&sent)).await;
        assert_eq!(
            serde_json::to_value(result.observation()).unwrap(),
            result_with_unknown_parts(),
            "{version}"
        );
        second.close().await;
        first.close().await;
    }
}

#[tokio::test]
async fn a_gateway_over_http_passes_unknown_parts_on() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (server, first) = gateway(&json!({ "tools": ["raw-marked"] })).await;
    let served = tokio::spawn(server.serve_http_on(listener, HttpOptions::default()));
    let config = McpServerConfig::http(url);
    let (pool, second) = connected(McpManager::builder().server("g", config)).await;
    let definition = pool.get("g.s.raw-marked").unwrap().definition().clone();
    let execution = Map::from_iter([("taskSupport".to_owned(), json!("optional"))]);
    assert_eq!(definition.other["execution"], Value::Object(execution));
    assert!(definition.reports_progress);
    let result = call(&pool, "g.s.raw-marked", raw_answer(&result_with_unknown_parts())).await;
    assert_eq!(serde_json::to_value(result.observation()).unwrap(), result_with_unknown_parts());
    second.close().await;
    first.close().await;
    served.abort();
}

#[tokio::test]
async fn only_needless_nulls_are_left_out() {
    let script = json!({ "tools": ["echo-nullable", "echo-strict"] });
    let (pool, manager) = connected(McpManager::builder().server("s", faulty(&script))).await;
    let answer = text(&pool, "s.echo-nullable", json!({ "clear": null, "n": null, "free": null }));
    assert_eq!(answer.await, r#"{"clear":null,"free":null}"#);
    let rejected = text(&pool, "s.echo-strict", json!({ "n": null })).await;
    assert!(rejected.contains("`n`"), "a null that is required is a mistake: {rejected}");
    manager.close().await;
}

#[tokio::test]
async fn names_that_differ_in_case_alone_are_two_tools() {
    let config = faulty(&json!({ "tools": ["echo-a", "echo-A"] }));
    let (pool, manager) = connected(McpManager::builder().server("s", config)).await;
    assert_eq!(names(&pool), ["s.echo-A", "s.echo-a"]);
    assert_eq!(text(&pool, "s.echo-A", json!({ "n": 1 })).await, r#"{"n":1}"#);
    assert_eq!(pool.report().alike, [["s.echo-A", "s.echo-a"]]);
    manager.close().await;
}

#[tokio::test]
async fn the_tools_of_a_server_that_is_removed_cannot_be_approved() {
    let builder = McpManager::builder().only_approved(McpPins::default());
    let config = faulty(&json!({ "tools": ["echo"] }));
    let (_, manager) = connected(builder.server("s", config)).await;
    let unapproved = manager.unapproved().remove(0);
    manager.remove("s").await.unwrap();
    assert!(manager.unapproved().is_empty());
    assert!(manager.pins().servers.is_empty());
    assert!(manager.approve(&unapproved).is_err());
    manager.close().await;
}
