//! Arbitrary bytes on an HTTP connection: the answer is HTTP with a status below 500, and the
//! connection ends with its input.
use crate::tools::AddAction;
use std::sync::LazyLock;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::Builder;
use tokio::time::timeout;
use tool_runtime::__fuzz;
use tool_runtime::http::HttpOptions;
use tool_runtime::mcp::McpServer;
use tool_runtime::prelude::*;

static POOL: LazyLock<ToolPool> =
    LazyLock::new(|| ToolPool::builder().tool::<AddAction>().build().expect("a pool"));

/// Longer than all limits of one request together.
const HANG_LIMIT: Duration = Duration::from_secs(600);

/// Capacity of the connection in bytes: small, so that writes wait.
const CAPACITY: usize = 512;

/// Checks an input.
///
/// # Panics
/// The invariant does not hold.
pub fn check(data: &[u8]) {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
    let conversation = async { timeout(HANG_LIMIT, converse(data)).await.expect("it ends") };
    let output = runtime.expect("a runtime").block_on(conversation);
    if output.is_empty() {
        return;
    }
    let status = output.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2));
    assert!(status.is_some_and(|first| (b'1'..=b'4').contains(first)), "{output:?}");
}

/// The server's answer to these bytes.
async fn converse(input: &[u8]) -> Vec<u8> {
    let server = __fuzz::inline(McpServer::new(POOL.clone(), "fuzz", "0"));
    let (theirs, ours) = tokio::io::duplex(CAPACITY);
    let (mut reader, mut writer) = tokio::io::split(ours);
    let input = input.to_vec();
    let serving = tokio::spawn(__fuzz::serve_http(server, HttpOptions::default(), theirs));
    tokio::spawn(async move {
        // The server may close the connection.
        writer.write_all(&input).await.ok();
        writer.shutdown().await.ok();
    });
    let mut output = Vec::new();
    reader.read_to_end(&mut output).await.expect("memory does not fail");
    serving.await.expect("no panic");
    output
}
