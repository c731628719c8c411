//! The same two tools with rmcp's macros, served in the ways that rmcp offers:
//!
//! - `stdio`, `pipes`: its two transports over standard input and output;
//! - `http PORT`: streamable HTTP. `json` answers without an event stream, `stateless` keeps no
//!   sessions, `nagle` leaves the delay on that `axum::serve` has by itself.

use axum::serve::ListenerExt as _;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio, stdio_pipes};
use rmcp::{Json, ServiceExt as _, tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::error::Error;
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct AddArguments {
    /// First addend.
    a: i64,
    /// Second addend.
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    result: i64,
}

#[derive(Deserialize, JsonSchema)]
struct EchoArguments {
    /// The text.
    text: String,
}

#[derive(Clone)]
struct Baseline;

#[tool_router(server_handler)]
impl Baseline {
    #[tool(description = "Add two integers.")]
    async fn add(&self, Parameters(arguments): Parameters<AddArguments>) -> Json<Sum> {
        Json(Sum { result: arguments.a + arguments.b })
    }

    #[tool(description = "Echo the text back.")]
    async fn echo(&self, Parameters(arguments): Parameters<EchoArguments>) -> String {
        arguments.text
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match *arguments {
            ["stdio"] => drop(Baseline.serve(stdio()).await?.waiting().await?),
            ["pipes"] => drop(Baseline.serve(stdio_pipes()).await?.waiting().await?),
            ["http", port, ref words @ ..] => serve_http(port.parse()?, words).await?,
            _ => return Err("stdio | pipes | http PORT [json] [stateless] [nagle]".into()),
        }
        Ok(())
    })
}

async fn serve_http(port: u16, words: &[&str]) -> Result<(), Box<dyn Error>> {
    let config = StreamableHttpServerConfig::default()
        .with_json_response(words.contains(&"json"))
        .with_legacy_session_mode(!words.contains(&"stateless"));
    let sessions = LocalSessionManager::default();
    let service = StreamableHttpService::new(|| Ok(Baseline), sessions.into(), config);
    let router = axum::Router::new().route_service("/mcp", service);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    if words.contains(&"nagle") {
        axum::serve(listener, router).await?;
    } else {
        let prompt = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        axum::serve(prompt, router).await?;
    }
    Ok(())
}
