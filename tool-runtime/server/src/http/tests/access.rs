//! Lines of the log about requests.

use super::*;
use axum::response::IntoResponse as _;
use axum::routing::get;
use futures_util::StreamExt as _;
use std::io::Write;
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;
use tool_runtime_core::govern::{CallView, Decision, PolicyEngine};
use tool_runtime_core::seam::{ACCESS, lock};
use tool_runtime_core::tool::Observation;
use tool_runtime_core::vocabulary::Principal;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing_subscriber::fmt::MakeWriter;

/// The lines of a test.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn start() -> (Self, DefaultGuard) {
        // While a subscriber is the only one of the process, an event that a thread without one reaches first is forgotten.
        let _is_first = tracing::subscriber::set_global_default(NoSubscriber::new());
        let log = Self::default();
        let lines = tracing_subscriber::fmt().json().with_writer(log.clone()).finish();
        (log, tracing::subscriber::set_default(lines))
    }

    /// The fields of the lines about requests, without those of earlier calls.
    fn take(&self) -> Vec<Value> {
        let lines = std::mem::take(&mut *lock(&self.0));
        let lines = serde_json::Deserializer::from_slice(&lines).into_iter::<Value>();
        let lines = lines.map(|line| line.expect("JSON")).filter(|line| line["target"] == ACCESS);
        lines.map(|mut line| line["fields"].take()).collect()
    }

    /// The fields of the only line.
    fn line(&self) -> Value {
        let lines = self.take();
        let [line] = &*lines else { panic!("{lines:?}") };
        line.clone()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        lock(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

struct Rules;

impl PolicyEngine for Rules {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        match call.name() {
            "denied" => Decision::deny("no"),
            "declined" => Decision::ask("Sure?"),
            _ => Decision::allow(),
        }
    }
}

/// A server with a tool for each outcome, and one that reports progress and waits for a permit.
fn server(permits: &Arc<Semaphore>) -> McpServer {
    let permits = Arc::clone(permits);
    let slow = move |_: Map<String, Value>, context: ToolContext| {
        let permits = Arc::clone(&permits);
        async move {
            context.progress(1, 2, "half");
            permits.acquire().await.expect("never closed").forget();
            "whole"
        }
    };
    let ask = |_: Map<String, Value>, context: ToolContext| async move {
        let sure = context.ask::<bool>("sure", "Sure?").await;
        sure.map(|_| "asked").map_err(|error| ToolError::user(error.to_string()))
    };
    let reply = || "done";
    let tool = |name: &str| Tool::builder(name, "Work.").handler(move || async move { reply() });
    let pool = ToolPool::builder()
        .add(tool("fine"))
        .add(tool("denied"))
        .add(tool("declined"))
        .add(
            Tool::builder("failed", "Fail.")
                .handler(|| async { Err::<(), _>(ToolError::user("no")) }),
        )
        .add(Tool::builder("error", "Fail.").handler(|| async { Observation::error("no") }))
        .add(Tool::builder("slow", "Wait.").handler(slow))
        .add(Tool::builder("ask", "Ask.").handler(ask))
        .policy(Rules)
        .approver(|_| async { tool_runtime_core::govern::Approval::rejected("no") });
    McpServer::new(pool.build().expect("a pool"), "test", "1")
}

/// A client in a session, which accepts this from now on.
async fn in_session(server: &McpServer, accept: &str) -> Client {
    let mut client = Client::new(server).in_session().await;
    client.headers.push(("accept", accept.to_owned()));
    client
}

const BOTH: &str = "application/json, text/event-stream";

#[tokio::test]
async fn a_line_has_the_outcome_and_the_id_of_its_call() {
    let (log, _guard) = Log::start();
    let permits = Arc::new(Semaphore::new(1000));
    let server = server(&permits);
    // Without `Accept`, rmcp answers the calls.
    for accept in [BOTH, "*/*"] {
        let client = || Client::new(&server).with("accept", accept);
        let session = in_session(&server, accept).await;
        for (tool, outcome) in [
            ("fine", "ok"),
            ("slow", "ok"),
            ("failed", "tool_error"),
            ("error", "tool_error"),
            ("denied", "denied"),
            ("declined", "approval_rejected"),
            ("unknown", "not_found"),
        ] {
            let (modern, message) = client().modern(tool);
            log.take();
            let answer = modern.post(&message).await;
            let line = log.line();
            let seen = (&line["outcome"], &line["id"], &line["tool"], &line["status"]);
            let expected = (&json!(outcome), &json!("1"), &json!(tool), &json!(200));
            assert_eq!(seen, expected, "{accept}: {line}: {}", answer.body);
            session.post(&call(tool, &json!({}))).await;
            let line = log.line();
            let seen = (&line["outcome"], &line["id"]);
            assert_eq!(seen, (&json!(outcome), &json!("2")), "{accept}: {line}");
        }
        let (modern, mut message) = client().modern("ask");
        message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({"elicitation": {}});
        log.take();
        modern.post(&message).await;
        assert_eq!(log.line()["outcome"], "input_required");
        session.post(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})).await;
        let line = log.line();
        assert_eq!((&line["outcome"], &line["id"]), (&Value::Null, &json!("3")), "{line}");
    }
}

#[tokio::test]
async fn the_line_of_a_streamed_answer_is_written_at_its_end() {
    let (log, _guard) = Log::start();
    let permits = Arc::new(Semaphore::new(0));
    let server = server(&permits);
    let client = || Client::new(&server).with("accept", BOTH);
    let session = in_session(&server, BOTH).await;
    let (modern, message) = client().modern("slow");
    for (client, message) in [(&modern, &message), (&session, &call("slow", &json!({})))] {
        log.take();
        let mut body = client.open(message).await;
        body.next().await.expect("an event").expect("a message");
        assert!(log.take().is_empty());
        permits.add_permits(1);
        while body.next().await.is_some() {}
        let line = log.line();
        assert_eq!(
            (&line["message"], &line["outcome"]),
            (&json!("request"), &json!("ok")),
            "{line}"
        );
        let mut body = client.open(message).await;
        body.next().await.expect("an event").expect("a message");
        drop(body);
        let line = log.line();
        let seen = (&line["message"], &line["status"]);
        let left = json!("the client left before the end of the response");
        assert_eq!(seen, (&left, &json!(200)), "{line}");
        assert_eq!(line["tool"], "slow", "{line}");
    }
}

#[tokio::test]
async fn the_line_of_initialize_has_the_session_that_it_opens() {
    let (log, _guard) = Log::start();
    let client = Client::new(&server(&Arc::new(Semaphore::new(0)))).with("accept", BOTH);
    let answer = client.post(&initialize()).await;
    assert_eq!(log.line()["session"], answer.header("mcp-session-id"));
}

#[tokio::test]
async fn a_route_of_the_application_names_its_caller_also_when_it_rejects() {
    let (log, _guard) = Log::start();
    let reject = || async {
        let mut response = StatusCode::FORBIDDEN.into_response();
        response.extensions_mut().insert(Arc::new(Principal::new("ada")));
        response
    };
    let routes = axum::Router::new().route("/questions", get(reject));
    let options = HttpOptions::default().routes(routes);
    let client = Client::with_options(&server(&Arc::new(Semaphore::new(0))), options);
    client.send("GET", "/questions", &Value::Null).await;
    let lines = log.take();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines.iter().all(|line| line["principal"] == "ada"), "{lines:?}");
}

#[tokio::test]
async fn a_rejected_host_is_allowed_by_an_option_a_key_or_code() {
    let client = Client::new(&server(&Arc::new(Semaphore::new(0))));
    let client = Client { headers: vec![("host", "evil.example.com".to_owned())], ..client };
    let answer = client.post(&initialize()).await;
    for way in ["`--allow-host evil.example.com`", "`http.hosts`", "`HttpOptions::allow_host`"] {
        assert!(answer.body.contains(way), "{}", answer.body);
    }
}
