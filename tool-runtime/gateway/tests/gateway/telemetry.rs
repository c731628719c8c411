//! Traces and metrics, as a collector and Prometheus receive them.

use crate::collector::{Collector, Received, attribute};
use crate::support::{Folder, Server, ended, request};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::{Value, json};
use std::sync::Arc;
use tool_runtime::agent::{AgentSpawner, SpawnRequest};
use tool_runtime::export::{Api, ApiFormat};
use tool_runtime::mcp::McpConfig;
use tool_runtime::otel::Telemetry;
use tool_runtime::prelude::*;
use tool_runtime::remote::{Hub, Remote, Runner};
use tool_runtime::{BoxFuture, CancellationToken};
use tool_runtime_agent::{Agent, Model, ModelError, ModelRequest, ScriptedModel, SubAgents};
use tracing::subscriber::NoSubscriber;
use tracing_subscriber::layer::SubscriberExt as _;

/// The tokens of a gateway with metrics.
const TOKENS: &str = "ada:8fQm2x1vXk9pTz\nprometheus:1vXk9p8fQm2xTz scopes=metrics\n";

/// A model that calls the only tool that reads, and is done.
struct Reader;

impl Model for Reader {
    fn format(&self) -> Arc<dyn ApiFormat> {
        Arc::new(Api::Anthropic)
    }

    fn answer(&self, request: ModelRequest) -> BoxFuture<'_, Result<Value, ModelError>> {
        let names = request.tools.definitions();
        let names = serde_json::to_value(names).expect("JSON");
        let names = names.as_array().expect("a list").iter().filter_map(|it| it["name"].as_str());
        let name = names.into_iter().find(|name| name.contains("Read")).expect("a tool");
        let content = match request.messages.len() {
            1 => {
                json!({ "type": "tool_use", "id": "1", "name": name, "input": { "file_path": "confidential" } })
            }
            _ => json!({ "type": "text", "text": "Done." }),
        };
        let answer = json!({
            "model": "test-model",
            "content": [content],
            "stop_reason": "end_turn",
            "usage": { "input_tokens": 12, "output_tokens": 3 },
        });
        Box::pin(std::future::ready(Ok(answer)))
    }
}

/// Runs work in one thread, whose spans go to a collector.
fn traced<T>(collector: &Collector, service: &str, work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let variables = collector.variables(service);
        let telemetry = Telemetry::from_variables(variables, service, "1.0.0");
        assert!(telemetry.problems().is_empty(), "{telemetry:?}");
        let subscriber = tracing_subscriber::registry().with(telemetry.layer());
        let done = {
            // While a subscriber is the only one of the process, an event that a thread without one reaches first is forgotten.
            let _is_first = tracing::subscriber::set_global_default(NoSubscriber::new());
            let _guard = tracing::subscriber::set_default(subscriber);
            work.await
        };
        telemetry.close().await;
        done
    })
}

/// The spans from one to the root of its trace, with their services and kinds.
fn path(received: &Received, is_leaf: impl Fn(&Span) -> bool) -> Option<Vec<String>> {
    let mut found = received.spans.iter().find(|(_, span)| is_leaf(span))?;
    let (trace, mut path) = (&found.1.trace_id, Vec::new());
    loop {
        let (service, span) = found;
        let kind = SpanKind::try_from(span.kind).expect("a kind");
        path.push(format!("{service} {kind:?} {}", span.name));
        if span.parent_span_id.is_empty() {
            return Some(path);
        }
        assert_eq!(span.trace_id, *trace);
        found = received.spans.iter().find(|(_, parent)| parent.span_id == span.parent_span_id)?;
    }
}

#[test]
fn one_trace_leads_from_an_agent_through_the_gateway_to_a_tool_of_another_process() {
    let collector = Collector::start();
    let program = env!("CARGO_BIN_EXE_tool-gateway");
    let variables = collector.variables("files").map(|(name, value)| format!("{name} = '{value}'"));
    let folder = Folder::new(&format!(
        "[http]\nlisten = '127.0.0.1:0'\n[mcpServers.files]\ncommand = '{program}'\nargs = ['--config', 'files.toml', 'serve']\n[mcpServers.files.env]\n{}",
        variables.join("\n")
    ));
    folder.write("files.toml", "[tools]\nfamilies = ['files']");
    folder.write("confidential", "hello");
    let mut command = folder.command(&["serve"]);
    let server = Server::with(command.envs(collector.variables("gateway")));
    let servers =
        json!({ "mcpServers": { "remote": { "url": format!("http://{}/mcp", server.address) } } });
    let text = traced(&collector, "agent", async {
        let servers = McpConfig::from_json(&servers.to_string()).expect("a configuration");
        let pool = ToolPool::builder().allow_empty().build().expect("a pool");
        Agent::new(Reader, pool).mcp_servers(servers).run("Read it.").finish().await
    });
    assert_eq!(text.expect("it ends"), "Done.");
    let is_leaf =
        |span: &Span| span.name == "tools/call Read" && span.kind == SpanKind::Server as i32;
    let path = collector.wait(|received| path(received, is_leaf));
    let expected = [
        "files Server tools/call Read",
        "gateway Client tools/call Read",
        "gateway Server tools/call files.Read",
        "agent Client tools/call files.Read",
        "agent Internal execute_tool remote.files.Read",
        "agent Internal invoke_agent",
    ];
    assert_eq!(path, expected);
    collector.wait(|received| {
        let (_, chat) = received.spans.iter().find(|(_, span)| span.name == "chat")?;
        let (_, agent) = received.spans.iter().find(|(_, span)| span.name == "invoke_agent")?;
        assert_eq!(chat.parent_span_id, agent.span_id);
        let attribute = |name| attribute(&chat.attributes, name);
        assert_eq!(attribute("gen_ai.usage.input_tokens").as_deref(), Some("12"));
        assert_eq!(attribute("gen_ai.response.model").as_deref(), Some("test-model"));
        let everything = format!("{:?}", received.spans);
        assert!(!everything.contains("confidential"), "{everything}");
        Some(())
    });
}

#[test]
fn a_trace_continues_at_runners() {
    let collector = Collector::start();
    traced(&collector, "fleet", async {
        let (hub, end) = (Hub::memory(), CancellationToken::new());
        let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
        let served = ToolPool::builder().add(ping).build().expect("a pool");
        let runner = Runner::new(hub.board("runner".parse().expect("a name")));
        let (runner, stop) = (runner.queue("math".parse().expect("a name")), end.clone());
        let running = tokio::spawn(async move { runner.serve_until(&served, &stop).await });
        let pool = ToolPool::builder().allow_empty().build().expect("a pool");
        let board = hub.board("caller".parse().expect("a name"));
        let remote = Remote::builder(board).connect(&pool).await.expect("it connects");
        let result = pool.call(ToolCall::new("ping", "{}")).await;
        assert_eq!(result.observation().to_text(), "pong");
        remote.close().await;
        end.cancel();
        running.await.expect("no panic").expect("it ends");
    });
    let path = collector.wait(|received| {
        let inner =
            |span: &Span| span.name == "execute_tool ping" && !span.parent_span_id.is_empty();
        path(received, inner)
    });
    assert_eq!(path, ["fleet Internal execute_tool ping", "fleet Internal execute_tool ping"]);
}

#[test]
fn a_trace_continues_in_a_sub_agent_in_the_background() {
    let collector = Collector::start();
    let script = |text| ScriptedModel::from_json(text).expect("a script");
    let agents = SubAgents::new(script(r#"[{ "text": "42" }]"#));
    let delegate = Tool::builder("delegate", "Delegate.").handler(
        |_: serde_json::Map<String, Value>, context: ToolContext| async move {
            let agents = context.get::<Arc<dyn AgentSpawner>>().expect("a state").clone();
            let request = SpawnRequest::new("Help.").background();
            Ok::<_, ToolError>(agents.spawn(request, &context).await?.await?.text)
        },
    );
    let pool = ToolPool::builder().add(delegate).state(Arc::new(agents) as Arc<dyn AgentSpawner>);
    let pool = pool.build().expect("a pool");
    let model = script(r#"[{ "calls": [{ "name": "delegate" }] }, { "text": "Done." }]"#);
    let text = traced(&collector, "agent", Agent::new(model, pool).run("Do it.").finish());
    assert_eq!(text.expect("it ends"), "Done.");
    let path = collector.wait(|received| {
        let is_nested = |span: &Span| attribute(&span.attributes, "gen_ai.agent.id").is_some();
        path(received, is_nested)
    });
    let expected = [
        "agent Internal invoke_agent",
        "agent Internal execute_tool delegate",
        "agent Internal invoke_agent",
    ];
    assert_eq!(path, expected);
}

#[test]
fn metrics_are_for_those_who_may_read_them() {
    let folder = Folder::new(
        "[http]\nlisten = '127.0.0.1:0'\ntokens_file = 'tokens'\nmetrics = true\n[tools]\nfamilies = ['files']\n[policy]\nfile = 'policy.yaml'",
    );
    folder.write("tokens", TOKENS);
    folder.write(
        "policy.yaml",
        "default: deny\nrules:\n- id: reads\n  when: {tools: [Read]}\n  then: {decision: allow}",
    );
    folder.write("note", "hello");
    let server = Server::start(&folder);
    let (ada, prometheus) = ("8fQm2x1vXk9pTz", "1vXk9p8fQm2xTz");
    assert_eq!(server.call(ada, "Read", json!({ "file_path": "note" })).0, 200);
    assert_eq!(server.call(ada, "Write", json!({ "file_path": "a", "content": "b" })).0, 200);
    for name in ["made-up", "files.made-up"] {
        assert_eq!(server.call(ada, name, json!({})).0, 200);
    }
    let metrics = |token: &str| {
        let head = format!("GET /metrics HTTP/1.1\r\nauthorization: Bearer {token}\r\n");
        request(server.address, &head, "")
    };
    assert_eq!(metrics("wrong").0, 401);
    assert_eq!(metrics(ada).0, 403);
    let (status, text) = metrics(prometheus);
    assert_eq!(status, 200, "{text}");
    let value = |name: &str, labels: &[&str]| {
        let is_it = |line: &&str| {
            line.starts_with(&format!("{name}{{")) && labels.iter().all(|it| line.contains(it))
        };
        let line = text.lines().find(is_it).unwrap_or_else(|| panic!("{name} {labels:?}: {text}"));
        line.rsplit_once(' ').expect("a value").1.parse::<f64>().expect("a number")
    };
    let calls = "mcp_server_operation_duration_seconds_count";
    assert_eq!(value(calls, &[r#"gen_ai_tool_name="Read""#, r#"network_transport="tcp""#]), 1.0);
    assert_eq!(value(calls, &[r#"gen_ai_tool_name="Write""#, r#"error_type="denied""#]), 1.0);
    let decisions = "tool_runtime_policy_decisions_total";
    assert_eq!(value(decisions, &[r#"effect="allow""#, r#"rule="reads""#]), 1.0);
    assert_eq!(value(decisions, &[r#"effect="deny""#]), 1.0);
    let requests = "http_server_request_duration_seconds_count";
    let count = |status: &str| value(requests, &[r#"http_request_method="GET""#, status]);
    assert_eq!(count(r#"http_response_status_code="401""#), 1.0);
    assert_eq!(count(r#"http_response_status_code="403""#), 1.0);
    // Anyone could invent names.
    assert!(!text.contains("made-up"), "{text}");
}

#[test]
fn questions_and_servers_are_counted() {
    let collector = Collector::start();
    let program = env!("CARGO_BIN_EXE_tool-gateway");
    let folder = Folder::new(&format!(
        "[http]\nlisten = '127.0.0.1:0'\ntokens_file = 'tokens'\nmetrics = true\n[tools]\nfamilies = ['files']\n[policy]\nfile = 'policy.yaml'\n[approvals]\ncaller = false\nterminal = false\ninbox = 'inbox'\n[mcpServers.files]\ncommand = '{program}'\nargs = ['--config', 'files.toml', 'serve']"
    ));
    folder.write("files.toml", "[tools]\nfamilies = ['files']");
    folder.write("tokens", TOKENS);
    folder.write("policy.yaml", "default: allow\nrules:\n- id: writes\n  when: {tools: [Write]}\n  then: {decision: ask, reason: 'Write?'}");
    let mut command = folder.command(&["serve"]);
    let server = Server::with(command.envs(collector.variables("gateway")));
    server.line("connections to the MCP servers were attempted");
    let scrape = || {
        let head = "GET /metrics HTTP/1.1\r\nauthorization: Bearer 1vXk9p8fQm2xTz\r\n";
        let (_, text) = request(server.address, head, "");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let has = |lines: &[String], name: &str, value: &str| {
        lines.iter().any(|line| line.starts_with(name) && line.ends_with(value))
    };
    std::thread::scope(|scope| {
        let address = server.address;
        let call = scope.spawn(move || {
            let arguments = json!({ "file_path": "a", "content": "b" });
            crate::support::call(address, "8fQm2x1vXk9pTz", "Write", &arguments)
        });
        let question = std::iter::repeat_with(|| folder.ok(&["approvals", "list", "--json"]))
            .find_map(|list| {
                let list: Value = serde_json::from_str(&list).expect("JSON");
                Some(list.as_array()?.first()?["id"].as_str()?.to_owned())
            })
            .expect("a question");
        let lines = scrape();
        assert!(has(&lines, "tool_runtime_questions_waiting", " 1"), "{lines:#?}");
        assert!(has(&lines, "tool_runtime_servers_connected", " 1"), "{lines:#?}");
        folder.ok(&["approvals", "deny", &question, "--reason", "no"]);
        assert!(call.join().expect("no panic").1.contains("no"));
    });
    assert!(has(&scrape(), "tool_runtime_questions_waiting", " 0"));
    #[cfg(unix)]
    {
        server.signal(rustix::process::Signal::TERM);
        assert_eq!(server.end(), 0);
        // The last metrics of the gateway.
        collector.wait(|received| {
            let own = received.metrics.iter().filter(|(service, _)| service == "gateway");
            let names: Vec<_> = own.map(|(_, metric)| &*metric.name).collect();
            let expected = ["mcp.client.session.duration", "mcp.server.operation.duration"];
            expected.iter().all(|name| names.contains(name)).then_some(())
        });
        let waited = collector.wait(|received| {
            received.spans.iter().find(|(_, span)| span.name == "approval").map(|it| it.1.clone())
        });
        assert_eq!(attribute(&waited.attributes, "outcome").as_deref(), Some("rejected"));
        assert_eq!(attribute(&waited.attributes, "rule").as_deref(), Some("writes"));
    }
}

#[test]
fn traces_are_exported_without_metrics_and_whatever_the_level_of_lines() {
    let collector = Collector::start();
    let folder = Folder::new("[tools]\nfamilies = ['files']");
    folder.write("note", "hello");
    let mut command = folder.command(&["call", "Read", "file_path=note", "--log-level", "off"]);
    command.envs(collector.variables("cli")).env("OTEL_METRICS_EXPORTER", "none");
    assert_eq!(ended(&mut command).0, 0);
    collector.wait(|received| path(received, |span| span.name == "execute_tool Read"));
}

#[test]
fn a_wrong_variable_is_named_and_the_program_runs() {
    let folder = Folder::new("[tools]\nfamilies = ['files']");
    folder.write("note", "hello");
    let mut command = folder.command(&["call", "Read", "file_path=note", "--log-level", "warn"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317");
    let (code, text) = ended(command.env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"));
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("`OTEL_EXPORTER_OTLP_PROTOCOL=grpc` is not supported"), "{text}");
}

#[test]
fn a_collector_that_takes_nothing_is_named_with_the_cause() {
    let folder = Folder::new("[http]\nlisten = '127.0.0.1:0'\n[tools]\nfamilies = ['files']");
    // Nothing listens there any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
    let url = format!("http://{}", gone.expect("a port"));
    let mut command = folder.command(&["serve"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &url).env("OTEL_BSP_SCHEDULE_DELAY", "50");
    let server = Server::with(&mut command);
    server.call("", "Read", json!({ "file_path": "note" }));
    let line = server.line(&format!("the collector at {url}/v1/traces takes nothing: "));
    assert!(line.contains("refused"), "{line}");
}
