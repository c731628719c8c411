//! Requests that do not match the protocol version of the connection.

use serde_json::{Value, json};

use super::super::StdioTransport;
use super::support::{Peer, id_of, large_message, over_pipes, ping, received, sent};

/// A request of 2026-07-28.
fn stateless(id: i64, method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }})
}

fn initialize(id: i64) -> Value {
    let mut request = stateless(id, "initialize");
    request["params"].as_object_mut().expect("an object").remove("_meta");
    request
}

/// Sends requests that are rejected, then one that is served. Returns the codes of the rejections.
async fn rejected(
    (peer, transport): (&mut Peer, &mut StdioTransport),
    requests: &[Value],
) -> Vec<Value> {
    for request in requests {
        peer.write(format!("{request}\n"));
    }
    peer.write(format!("{}\n", stateless(99, "server/discover")));
    assert_eq!(id_of(received(transport).await), Some(99));
    requests
        .iter()
        .map(|request| {
            let mut rejection = peer.expect();
            assert_eq!(rejection["id"], request["id"]);
            rejection["error"]["code"].take()
        })
        .collect()
}

#[tokio::test]
async fn methods_of_other_versions_are_rejected_at_any_time() {
    let (mut peer, mut transport) = over_pipes();
    let requests = [stateless(1, "initialize"), stateless(2, "ping")];
    let two_errors = [json!(-32601), json!(-32601)];
    assert_eq!(rejected((&mut peer, &mut transport), &requests).await, two_errors);
    peer.write(format!("{}\n", initialize(3)));
    assert_eq!(id_of(received(&mut transport).await), Some(3));
    let requests = [stateless(4, "initialize"), stateless(5, "ping")];
    sent(&mut transport, large_message(99, 1)).await.expect("sent");
    peer.expect();
    assert_eq!(rejected((&mut peer, &mut transport), &requests).await, two_errors);
    peer.write(ping(6));
    assert_eq!(id_of(received(&mut transport).await), Some(6));
}

#[tokio::test]
async fn an_unknown_version_is_rejected_and_a_long_one_is_cut() {
    let (mut peer, mut transport) = over_pipes();
    let version = "x".repeat(10_000);
    let mut request = stateless(1, "tools/list");
    request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
    peer.write(format!("{request}\n{}\n", ping(2)));
    assert_eq!(id_of(received(&mut transport).await), Some(2));
    let error = &peer.expect()["error"];
    assert_eq!(error["code"], json!(-32022));
    assert!(error["data"]["requested"].as_str().is_some_and(|said| said.starts_with("xxx")));
    assert!(error.to_string().len() < 1000, "{error}");
}

#[tokio::test]
async fn a_session_does_not_begin_after_requests_without_one() {
    let (mut peer, mut transport) = over_pipes();
    peer.write(format!("{}\n", stateless(1, "tools/list")));
    assert_eq!(id_of(received(&mut transport).await), Some(1));
    let rejections = rejected((&mut peer, &mut transport), &[initialize(2)]).await;
    assert_eq!(rejections, [json!(-32600)]);
}

#[tokio::test]
async fn an_initialize_that_lacks_members_names_them_and_a_correct_one_may_follow() {
    let (mut peer, mut transport) = over_pipes();
    let client = json!({"name": "t", "version": "1"});
    for (params, named) in [
        (Value::Null, "`params`"),
        (
            json!({"protocolVersion": "2025-06-18", "clientInfo": client}),
            "`capabilities` is missing",
        ),
        (
            json!({"protocolVersion": "2025-06-18", "capabilities": null, "clientInfo": client}),
            "`capabilities` must be an object",
        ),
        (json!({"protocolVersion": "2025-06-18", "capabilities": {}}), "`clientInfo` is missing"),
        (
            json!({"protocolVersion": 1, "capabilities": {}, "clientInfo": {"name": "t"}}),
            "`protocolVersion` must be a string; `clientInfo.version` is missing",
        ),
    ] {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        peer.write(format!("{request}\n{}\n", ping(2)));
        assert_eq!(id_of(received(&mut transport).await), Some(2), "{request}");
        let answer = peer.expect();
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32602)));
        assert!(message.contains(named) && !message.contains("_meta"), "{message}");
        sent(&mut transport, large_message(2, 1)).await.expect("sent");
        peer.expect();
    }
    peer.write(format!("{}\n", initialize(3)));
    assert_eq!(id_of(received(&mut transport).await), Some(3));
}
