//! Bytes on a connection over HTTP: it is answered as HTTP, is nobody's fault but its client's, and
//! ends with its input.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::Builder;
use tokio::time::timeout;
use tool_runtime::prelude::*;
use tool_runtime::mcp::McpServer;
use tool_runtime::{__fuzz, HttpOptions};

/// Add two integers.
#[tool]
async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: Option<i64>,
) -> i64 {
    a.saturating_add(b.unwrap_or(1))
}

static POOL: LazyLock<ToolPool> =
    LazyLock::new(|| ToolPool::builder().tool::<AddAction>().build().expect("a pool"));

/// Longer than all limits of one request together.
const HANGING: Duration = Duration::from_secs(600);

/// How many bytes fit into the connection: few, so that writes wait.
const ROOM: usize = 512;

fuzz_target!(|data: &[u8]| {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
    let talk = async { timeout(HANGING, converse(data)).await.expect("it ends") };
    let output = runtime.expect("a runtime").block_on(talk);
    if output.is_empty() {
        return;
    }
    let status = output.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2));
    assert!(status.is_some_and(|first| (b'1'..=b'4').contains(first)), "{output:?}");
});

/// The server's answer to these bytes.
async fn converse(input: &[u8]) -> Vec<u8> {
    let server = __fuzz::inline(McpServer::new(POOL.clone(), "fuzz", "0"));
    let (theirs, ours) = tokio::io::duplex(ROOM);
    let (mut reader, mut writer) = tokio::io::split(ours);
    let input = input.to_vec();
    let serving = tokio::spawn(__fuzz::serve_http(server, HttpOptions::default(), theirs));
    tokio::spawn(async move {
        // It may be hung up on.
        writer.write_all(&input).await.ok();
        writer.shutdown().await.ok();
    });
    let mut output = Vec::new();
    reader.read_to_end(&mut output).await.expect("memory does not fail");
    serving.await.expect("no panic");
    output
}
