//! Whole sessions: rmcp's service loop, our transport, a peer that exchanges JSON.

use std::io::{BufRead as _, BufReader};
use std::os::fd::OwnedFd;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, ServiceExt};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use super::super::StdioTransport;
use super::support::{Output, Peer, blocking, over_pipes, over_sockets};
use crate::arguments::RawArguments;
use crate::time_limit::in_time;

/// Answers each call with the contents of its `RequestContext`.
struct Mirror;

impl ServerHandler for Mirror {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let raw = context.extensions.get::<RawArguments>();
        let seen = json!({
            "name": request.name,
            "raw": raw.map(RawArguments::get),
            "parsed": request.arguments,
            "state": request.request_state,
            "progress": context.meta.get_progress_token(),
            "version": context.protocol_version(),
            "hasCapabilities": context.client_capabilities().is_some(),
        });
        Ok(CallToolResult::structured(seen).into())
    }
}

/// Runs a server until the script of the peer has disconnected.
async fn serve<T: Send + 'static>(
    (peer, transport): (Peer, StdioTransport),
    script: impl FnOnce(Peer) -> T + Send + 'static,
) -> T {
    let script = tokio::spawn(blocking(move || script(peer)));
    let service = in_time("a session", Mirror.serve(transport)).await.expect("a session");
    in_time("the session to end", service.waiting()).await.expect("no panic");
    in_time("the peer to end", script).await.expect("no panic")
}

/// The `initialize` request of 2025-11-25.
fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "peer", "version": "1"},
    }})
}

/// The `_meta` of each request of 2026-07-28.
fn stateless_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "p1",
    })
}

/// Handshake, valid and invalid calls, and the end.
fn legacy_script(mut peer: Peer) {
    let answer = peer.ask(&initialize());
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    peer.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    peer.write("garbage\n");
    assert_eq!(peer.expect()["error"]["code"], -32700);
    let answer = peer.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "t", "arguments": {"a": 1}, "_meta": {"progressToken": 5}, "requestState": "s",
    }}));
    let seen = &answer["result"]["structuredContent"];
    assert_eq!(seen["raw"], "{\"a\":1}");
    assert_eq!(seen["parsed"], Value::Null);
    assert_eq!(seen["state"], "s");
    assert_eq!(seen["progress"], 5);
    assert_eq!(seen["version"], "2025-11-25");
    assert_eq!(seen["hasCapabilities"], true);
    let answer = peer.ask(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "t", "arguments": ["no object"]}}));
    let seen = &answer["result"]["structuredContent"];
    assert_eq!(seen["raw"], "[\"no object\"]");
}

#[tokio::test]
async fn a_session_of_2025_11_25_over_pipes() {
    serve(over_pipes(), legacy_script).await;
}

#[tokio::test]
async fn a_session_of_2025_11_25_over_sockets() {
    serve(over_sockets(), legacy_script).await;
}

/// A probe, then calls that carry their own metadata.
fn stateless_script(mut peer: Peer) {
    let discover = json!({"jsonrpc": "2.0", "id": 0, "method": "server/discover",
        "params": {"_meta": stateless_meta()}});
    let answer = peer.ask(&discover);
    let versions = answer["result"]["supportedVersions"].as_array();
    assert!(versions.is_some_and(|all| all.contains(&json!("2026-07-28"))));
    let answer = peer.ask(&json!({"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": {
        "_meta": stateless_meta(), "arguments": {"a": 1}, "name": "t",
    }}));
    assert_eq!(answer["id"], "c");
    let seen = &answer["result"]["structuredContent"];
    assert_eq!(seen["raw"], "{\"a\":1}");
    assert_eq!(seen["progress"], "p1");
    assert_eq!(seen["version"], "2026-07-28");
    assert_eq!(seen["hasCapabilities"], true);
    let bare = peer.ask(&json!({"jsonrpc": "2.0", "id": "d", "method": "tools/call", "params": {
        "arguments": {"a": 1}, "name": "t",
    }}));
    assert_eq!(bare["error"]["code"], -32602);
}

#[tokio::test]
async fn a_session_of_2026_07_28_over_pipes() {
    serve(over_pipes(), stateless_script).await;
}

#[tokio::test]
async fn a_call_opens_a_stateless_session() {
    serve(over_pipes(), |mut peer| {
        let answer = peer.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"_meta": stateless_meta(), "name": "t"}}));
        assert_eq!(answer["result"]["structuredContent"]["raw"], Value::Null);
    })
    .await;
}

#[tokio::test]
async fn stray_messages_before_the_session_do_not_end_it() {
    serve(over_pipes(), |mut peer| {
        peer.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":9}}\n");
        peer.write("{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n");
        peer.write("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"\"}}\n");
        assert_eq!(peer.ask(&json!({"jsonrpc":"2.0","id":1,"method":"ping"}))["id"], 1);
        legacy_script(peer);
    })
    .await;
}

#[tokio::test]
async fn many_calls_in_flight_are_all_answered() {
    let answered = serve(over_pipes(), |mut peer| {
        peer.ask(&initialize());
        let calls: String = (1..=1000).map(|id| call(id).to_string() + "\n").collect();
        let mut input = peer.to.try_clone().expect("a duplicate");
        let writer =
            std::thread::spawn(move || std::io::Write::write_all(&mut input, calls.as_bytes()));
        let mut ids: Vec<_> = (0..1000).map(|_| peer.expect()["id"].as_i64()).collect();
        writer.join().expect("no panic").expect("written");
        ids.sort_unstable();
        ids
    })
    .await;
    assert_eq!(answered, (1..=1000).map(Some).collect::<Vec<_>>());
}

/// A plain call.
fn call(id: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "t", "arguments": {"a": 1}}})
}

#[tokio::test]
async fn calls_in_flight_at_the_end_of_the_input_are_answered() {
    serve(over_pipes(), |mut peer| {
        peer.ask(&initialize());
        let last = call(7).to_string();
        peer.write(last);
        let Peer { to, from } = peer;
        drop(to);
        let lines: Vec<_> = from.lines().collect();
        assert_eq!(lines.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_socket_whose_peer_only_stopped_sending_is_served_to_the_end() {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().expect("sockets");
    let input = ours.try_clone().expect("a duplicate");
    let transport = StdioTransport::from_descriptors(input.into(), ours.into()).expect("a server");
    let to = OwnedFd::from(theirs.try_clone().expect("a duplicate")).into();
    let from = BufReader::new(Output(OwnedFd::from(theirs).into()));
    let mut peer = Peer { to, from };
    peer.write(format!("{}\n{}\n{}\n", initialize(), call(1), call(2)));
    rustix::net::shutdown(&peer.to, rustix::net::Shutdown::Write).expect("it is connected");
    let lines = serve((peer, transport), |peer| peer.from.lines().count()).await;
    assert_eq!(lines, 3);
}
