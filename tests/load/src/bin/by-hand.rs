//! The same two tools without any SDK, optimized by hand: the upper bound for the other servers.
//!
//! - `stdio`: a loop over lines on one thread; answers are flushed when no whole line is left;
//! - `http PORT`: axum with raw bodies and `TCP_NODELAY`, without sessions.
//!
//! The server reads the envelope and `_meta` like the others and answers with the same bytes. It has no time limits,
//! cancellation, or errors for wrong arguments.

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::serve::ListenerExt as _;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::error::Error;
use std::io::{self, BufRead as _, BufReader, Write as _};
use tokio::net::TcpListener;

/// The protocol version whose requests each carry the client's information.
const STATELESS: &str = "2026-07-28";

/// A message of a client.
#[derive(Deserialize)]
struct Message<'a> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// The parameters of a call.
#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: &'a RawValue,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientInfo")]
    _client: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    _capabilities: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Echo<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

/// Answers a message; a notification has no answer.
fn answer(line: &[u8], out: &mut Vec<u8>) -> Result<(), Box<dyn Error>> {
    let message: Message<'_> = serde_json::from_slice(line)?;
    if message.jsonrpc != "2.0" {
        return Err("not JSON-RPC 2.0".into());
    }
    let Some(id) = message.id else { return Ok(()) };
    write!(out, r#"{{"jsonrpc":"2.0","id":{id},"result":"#)?;
    match &*message.method {
        "tools/call" => call(message.params.ok_or("no params")?.get(), out)?,
        "initialize" => out.extend_from_slice(
            br#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"by-hand","version":"0"}}"#,
        ),
        method => return Err(format!("unknown method {method}").into()),
    }
    out.push(b'}');
    Ok(())
}

fn call(params: &str, out: &mut Vec<u8>) -> Result<(), Box<dyn Error>> {
    let call: Call<'_> = serde_json::from_str(params)?;
    let version = call.meta.as_ref().and_then(|meta| meta.version.as_deref());
    out.push(b'{');
    match version {
        Some(STATELESS) => out.extend_from_slice(br#""resultType":"complete","#),
        None => {}
        Some(version) => return Err(format!("unknown version {version}").into()),
    }
    match &*call.name {
        "add" => {
            let Add { a, b } = serde_json::from_str(call.arguments.get())?;
            let sum = format!(r#"{{"result":{}}}"#, a.checked_add(b).ok_or("overflow")?);
            out.extend_from_slice(br#""content":[{"type":"text","text":"#);
            serde_json::to_writer(&mut *out, &sum)?;
            write!(out, r#"}}],"structuredContent":{sum},"isError":false}}"#)?;
        }
        "echo" => {
            let Echo { text } = serde_json::from_str(call.arguments.get())?;
            out.extend_from_slice(br#""content":[{"type":"text","text":"#);
            serde_json::to_writer(&mut *out, &text)?;
            out.extend_from_slice(br#"}],"isError":false}"#);
        }
        name => return Err(format!("unknown tool {name}").into()),
    }
    Ok(())
}

fn serve_stdio() -> Result<(), Box<dyn Error>> {
    let mut input = BufReader::with_capacity(64 << 10, io::stdin().lock());
    let mut output = io::stdout().lock();
    let (mut line, mut out) = (Vec::new(), Vec::new());
    while input.read_until(b'\n', &mut line)? > 0 {
        let before = out.len();
        answer(&line, &mut out)?;
        if out.len() > before {
            out.push(b'\n');
        }
        line.clear();
        if !input.buffer().contains(&b'\n') {
            output.write_all(&out)?;
            output.flush()?;
            out.clear();
        }
    }
    Ok(())
}

async fn serve_http(port: u16) -> Result<(), Box<dyn Error>> {
    let router = Router::new().route("/mcp", post(respond));
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    axum::serve(listener.tap_io(|stream| drop(stream.set_nodelay(true))), router).await?;
    Ok(())
}

/// Checks the headers that MCP requires, then answers.
async fn respond(headers: HeaderMap, body: Bytes) -> Response {
    let has = |name: &str, part: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| value.contains(part))
    };
    if !has("content-type", "application/json") || !has("accept", "application/json") {
        return StatusCode::NOT_ACCEPTABLE.into_response();
    }
    let mut out = Vec::with_capacity(256);
    match answer(&body, &mut out) {
        Ok(()) if out.is_empty() => StatusCode::ACCEPTED.into_response(),
        Ok(()) => ([(header::CONTENT_TYPE, "application/json")], out).into_response(),
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["stdio"] => serve_stdio(),
        ["http", port] => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(serve_http(port.parse()?))
        }
        _ => Err("stdio | http PORT".into()),
    }
}
