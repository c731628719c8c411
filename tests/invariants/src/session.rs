//! Arbitrary lines to a server on a socket: it answers in lines of JSON, at most one per request,
//! answers the last request, and ends with its input.
use crate::tools::AddAction;
use serde_json::Value;
use std::cell::LazyCell;
use std::io::Write as _;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use tokio::io::AsyncReadExt as _;
use tokio::runtime::{Builder, Runtime};
use tool_runtime::__fuzz;
use tool_runtime::mcp::McpServer;
use tool_runtime::prelude::*;

const HELLO: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"f","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;
const LAST_REQUEST: &[u8] =
    b"\n{\"jsonrpc\":\"2.0\",\"id\":\"the last request\",\"method\":\"ping\"}\n";

/// Limit on the input: more could fill the socket.
const MAX_INPUT: usize = 16 * 1024;

thread_local! {
    static SERVER: LazyCell<(Runtime, McpServer)> = LazyCell::new(|| {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let pool = ToolPool::builder().tool::<AddAction>().build().expect("a pool");
        (runtime, McpServer::new(pool, "fuzz", "0"))
    });
}

/// Checks an input.
///
/// # Panics
/// The invariant does not hold.
pub fn check(data: &[u8]) {
    let Some((&first, bytes)) = data.split_first().filter(|_| data.len() <= MAX_INPUT) else {
        return;
    };
    let hello = if first % 2 == 0 { HELLO } else { b"" };
    let input = [hello, bytes, LAST_REQUEST].concat();
    let output = SERVER.with(|stage| stage.0.block_on(serve(stage.1.clone(), &input)));
    let requests = input.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let answers: Vec<Value> = output
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
        .filter(|message: &Value| message.get("method").is_none())
        .collect();
    assert!(answers.len() <= requests.count(), "more answers than requests");
    let last = answers.iter().filter(|answer| answer["id"] == "the last request").count();
    assert_eq!(last, 1, "the last request is answered");
}

async fn serve(server: McpServer, input: &[u8]) -> String {
    let (theirs, mut ours) = UnixStream::pair().expect("sockets");
    ours.write_all(input).expect("it fits into the socket");
    ours.shutdown(Shutdown::Write).expect("it is connected");
    ours.set_nonblocking(true).expect("it can be");
    let mut ours = tokio::net::UnixStream::from_std(ours).expect("a runtime");
    let reading = tokio::spawn(async move {
        let mut output = String::new();
        ours.read_to_string(&mut output).await.expect("UTF-8");
        output
    });
    let output = theirs.try_clone().expect("a duplicate");
    __fuzz::serve(server, theirs.into(), output.into()).await.expect("it ends well");
    reading.await.expect("no panic")
}
