//! Arbitrary requests over HTTP, in sessions and without: each is answered with a status below 500, and a JSON-RPC
//! answer has the id of its request.
//!
//! The input is text. Lines with `%%` separate requests; each is a line `METHOD path`, headers, an
//! empty line and a body. After the path, `keep` leaves the answer open during the next requests,
//! and `leave` does not read it. `SESSION` is replaced by the id of the newest session, `TASK` by
//! that of the newest task.
use crate::tools::AddAction;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use futures_util::stream;
use http_body_util::BodyExt as _;
use serde_json::Value;
use std::convert::Infallible;
use std::sync::LazyLock;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::time::timeout;
use tool_runtime::__fuzz;
use tool_runtime::http::HttpOptions;
use tool_runtime::mcp::McpServer;
use tool_runtime::peer::{Answer, LogLevel};
use tool_runtime::prelude::*;
use tower::ServiceExt as _;

/// Return the region.
#[tool]
async fn place(
    /// The region.
    #[arg(header = "Region")]
    region: String,
) -> String {
    region
}

/// Sleep, and report progress.
#[tool(progress)]
async fn nap(context: &ToolContext) -> &'static str {
    context.progress(1, 2, "half");
    context.log(LogLevel::Error, "half");
    tokio::time::sleep(Duration::from_millis(100)).await;
    "slept"
}

/// Ask before doing anything.
#[tool(task = "optional")]
async fn careful(context: &ToolContext) -> Result<String, ToolError> {
    tokio::task::yield_now().await;
    Ok(match context.ask::<bool>("sure", "Sure?").await? {
        Answer::Accepted(true) => "did it".to_owned(),
        _ => "left it".to_owned(),
    })
}

/// Greet a person.
#[prompt]
async fn greet(
    /// The name.
    name: String,
) -> String {
    format!("Hello {name}")
}

/// A note.
#[resource("notes://{id}")]
async fn note(
    /// The number.
    id: u32,
) -> String {
    format!("note {id}")
}

static POOL: LazyLock<ToolPool> = LazyLock::new(|| {
    let pool = ToolPool::builder().tool::<AddAction>().tool::<PlaceAction>();
    let pool = pool.tool::<NapAction>().tool::<CarefulAction>();
    pool.prompt::<GreetPrompt>().resource::<NoteResource>().build().expect("a pool")
});

/// Longer than any limit of the server.
const HANG_LIMIT: Duration = Duration::from_secs(120);

/// Time for which an endless stream is read.
const STREAM_LIMIT: Duration = Duration::from_secs(1);

/// Checks an input.
///
/// # Panics
/// The invariant does not hold.
pub fn check(data: &[u8]) {
    let Some((&first, script)) = data.split_first() else {
        return;
    };
    let Ok(script) = std::str::from_utf8(script) else {
        return;
    };
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
    let options = HttpOptions::default().sessions(first % 4 != 0);
    let options = match first % 3 {
        0 => options.max_stream_duration(Duration::from_millis(50)),
        _ => options,
    };
    let server = __fuzz::inline(McpServer::new(POOL.clone(), "fuzz", "0"));
    let router = server.into_router(options).expect("valid options");
    runtime.expect("a runtime").block_on(run(router, script, usize::from(first) + 1));
}

/// Makes all requests, one after the other.
async fn run(router: Router, script: &str, piece: usize) {
    let (mut session, mut task) = ("SESSION".to_owned(), "TASK".to_owned());
    let mut responses = Vec::new();
    for text in script.split("\n%%\n") {
        let text = text.replace("SESSION", &session).replace("TASK", &task);
        let Some((request, body, manner)) = read(&text, piece) else {
            continue;
        };
        let is_post = request.method() == Method::POST;
        let answered = timeout(HANG_LIMIT, router.clone().oneshot(request)).await;
        let response = answered.expect("an answer").expect("infallible");
        assert!(response.status().as_u16() < 500, "{} to {text}", response.status());
        if let Some(id) = response.headers().get("mcp-session-id") {
            session = id.to_str().expect("an id").to_owned();
        }
        match manner {
            "keep" => responses.push(response),
            "leave" => drop(response),
            _ => {
                let answer = answer(response, is_post.then(|| id(&body))).await;
                if let Some(id) = answer.unwrap_or_default()["result"]["taskId"].as_str() {
                    task = id.to_owned();
                }
            }
        }
    }
    for response in responses {
        timeout(STREAM_LIMIT, response.into_body().collect()).await.ok();
    }
}

/// Parses a request: its head, its body, and the treatment of its answer.
fn read(text: &str, piece: usize) -> Option<(Request<Body>, Vec<u8>, &str)> {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let mut words = lines.next()?.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    let mut request = Request::builder().method(method).uri(path).body(Body::empty()).ok()?;
    let headers = request.headers_mut();
    for line in lines {
        let (name, value) = line.split_once(':')?;
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        headers.append(name, HeaderValue::from_str(value.trim()).ok()?);
    }
    for (name, value) in [
        (header::HOST, "localhost"),
        (header::CONTENT_TYPE, "application/json"),
        (header::ACCEPT, "application/json, text/event-stream"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    let body = body.as_bytes().to_vec();
    let pieces: Vec<_> = body.chunks(piece).map(Bytes::copy_from_slice).collect();
    let pieces = pieces.into_iter().map(Ok::<_, Infallible>);
    *request.body_mut() = Body::from_stream(stream::iter(pieces));
    Some((request, body, words.next().unwrap_or_default()))
}

/// The id, if a body is a request.
fn id(body: &[u8]) -> Option<Value> {
    let message: Value = serde_json::from_slice(body).ok()?;
    message["method"].is_string().then(|| message.get("id").cloned()).flatten()
}

/// The answer to a request. Checks that it has the id of a posted request, and that a body without a stream ends.
async fn answer(response: Response<Body>, asked: Option<Option<Value>>) -> Option<Value> {
    let (parts, body) = response.into_parts();
    let kind = parts.headers.get(header::CONTENT_TYPE).map_or(&[][..], HeaderValue::as_bytes);
    if kind == b"text/event-stream" {
        let messages = events(body).await;
        let is_answer = |message: &Value| message.get("method").is_none();
        let mut answers = messages.into_iter().filter(is_answer);
        let answer = answers.next();
        assert!(answers.next().is_none(), "two answers to one request");
        return answer.inspect(|answer| check_id(answer, asked.as_ref()));
    }
    let body = timeout(HANG_LIMIT, body.collect()).await.expect("it ends").expect("no error");
    let is_answer = parts.status == StatusCode::OK && kind == b"application/json";
    let answer = is_answer.then(|| serde_json::from_slice(&body.to_bytes()).expect("JSON"));
    answer.inspect(|answer| check_id(answer, asked.as_ref()))
}

/// The messages of a stream that arrive within a second.
async fn events(mut body: Body) -> Vec<Value> {
    let mut text = Vec::new();
    let read = async {
        while let Some(Ok(frame)) = body.frame().await {
            text.extend_from_slice(frame.data_ref().expect("no trailers"));
        }
    };
    timeout(STREAM_LIMIT, read).await.ok();
    let text = String::from_utf8(text).expect("UTF-8");
    let data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    let data = data.filter(|data| !data.is_empty());
    data.map(|data| serde_json::from_str(data).expect("every message is JSON")).collect()
}

fn check_id(answer: &Value, asked: Option<&Option<Value>>) {
    let Some(asked) = asked else { return };
    let id = asked.as_ref().expect("only requests are answered");
    // 1.0 is an integer in JSON, and written as 1.
    let is_same = answer["id"] == *id || (id.is_f64() && answer["id"].as_f64() == id.as_f64());
    assert!(is_same, "{id} was answered as {answer}");
}
