//! A client that sends requests faster than they are answered.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::JsonRpcMessage;
use rmcp::service::RxJsonRpcMessage;
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::super::StdioTransport;
use super::super::read_loop::STALL_TIMEOUT;
use super::super::requests::MAX_CALLS;
use super::support::{id_of, large_message, ping, received, sent};

const IN_FLIGHT: i64 = MAX_CALLS as i64;

/// Time on a paused clock that only a stalled reader exceeds.
const MOMENT: Duration = Duration::from_secs(1);

/// A transport whose session is open, and its client. The stream holds more than any test writes.
async fn open() -> (BufReader<DuplexStream>, StdioTransport) {
    open_until(CancellationToken::new()).await
}

/// Like [`open`], with a token that ends the input.
async fn open_until(disconnected: CancellationToken) -> (BufReader<DuplexStream>, StdioTransport) {
    let (ours, theirs) = tokio::io::duplex(64 << 20);
    let mut client = BufReader::new(ours);
    let mut transport = StdioTransport::in_memory(theirs, None).with_end(disconnected);
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});
    write(&mut client, format!("{hello}\n")).await;
    assert_eq!(id_of(received(&mut transport).await), Some(0));
    answer(&mut transport, 0).await;
    assert_eq!(read(&mut client).await["id"], 0);
    (client, transport)
}

async fn write(client: &mut BufReader<DuplexStream>, text: String) {
    client.write_all(text.as_bytes()).await.expect("there is room");
}

async fn read(client: &mut BufReader<DuplexStream>) -> Value {
    let mut line = String::new();
    timeout(MOMENT, client.read_line(&mut line)).await.expect("an answer").expect("UTF-8");
    serde_json::from_str(&line).expect("a line of JSON")
}

fn call(id: i64) -> String {
    let params = json!({"name": "t"});
    let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    format!("{message}\n")
}

fn calls(ids: std::ops::Range<i64>) -> String {
    ids.map(call).collect()
}

fn cancelled(id: i64) -> String {
    let params = json!({"requestId": id});
    let message = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    format!("{message}\n")
}

async fn answer(transport: &mut StdioTransport, id: i64) {
    sent(transport, large_message(id, 1)).await.expect("sent");
}

/// The next message; `None` if none arrives soon.
async fn next(transport: &mut StdioTransport) -> Option<RxJsonRpcMessage<RoleServer>> {
    timeout(MOMENT, transport.receive()).await.ok().map(|message| message.expect("no end yet"))
}

/// Receives requests with these ids, in this order, and then no more.
async fn receives(transport: &mut StdioTransport, ids: std::ops::Range<i64>) {
    for id in ids {
        assert_eq!(id_of(next(transport).await), Some(id));
    }
    assert!(next(transport).await.is_none(), "a request too many");
}

#[tokio::test(start_paused = true)]
async fn further_requests_wait_for_an_answer_and_keep_their_order() {
    let (mut client, mut transport) = open().await;
    write(&mut client, calls(1..IN_FLIGHT + 10)).await;
    receives(&mut transport, 1..IN_FLIGHT + 1).await;
    answer(&mut transport, 500).await;
    answer(&mut transport, 7).await;
    receives(&mut transport, IN_FLIGHT + 1..IN_FLIGHT + 3).await;
    write(&mut client, call(9999)).await;
    for id in 20..28 {
        answer(&mut transport, id).await;
    }
    for id in (IN_FLIGHT + 3..IN_FLIGHT + 10).chain([9999]) {
        assert_eq!(id_of(next(&mut transport).await), Some(id));
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_frees_its_slot() {
    let (mut client, mut transport) = open().await;
    write(&mut client, calls(1..IN_FLIGHT + 1)).await;
    write(&mut client, cancelled(5)).await;
    write(&mut client, ping(9999)).await;
    write(&mut client, calls(IN_FLIGHT + 1..IN_FLIGHT + 3)).await;
    for id in 1..=IN_FLIGHT {
        assert_eq!(id_of(next(&mut transport).await), Some(id));
    }
    assert!(matches!(next(&mut transport).await, Some(JsonRpcMessage::Notification(_))));
    assert_eq!(id_of(next(&mut transport).await), Some(9999));
    receives(&mut transport, IN_FLIGHT + 1..IN_FLIGHT + 2).await;
}

/// Running calls may wait for a message behind calls without a slot.
#[tokio::test(start_paused = true)]
async fn stalled_calls_reject_further_calls_and_reading_continues() {
    let (mut client, mut transport) = open().await;
    write(&mut client, calls(1..IN_FLIGHT + 3)).await;
    write(&mut client, cancelled(1)).await;
    for id in 1..=IN_FLIGHT {
        assert_eq!(id_of(next(&mut transport).await), Some(id));
    }
    let before = Instant::now();
    let next_message = received(&mut transport).await;
    assert!(matches!(next_message, Some(JsonRpcMessage::Notification(_))), "{next_message:?}");
    assert_eq!(before.elapsed().as_secs(), STALL_TIMEOUT.as_secs());
    for id in [IN_FLIGHT + 1, IN_FLIGHT + 2] {
        let rejection = read(&mut client).await;
        assert_eq!((&rejection["id"], &rejection["error"]["code"]), (&json!(id), &json!(-32603)));
        assert!(rejection["error"]["message"].as_str().is_some_and(|text| text.contains("1024")));
    }
    // The ids are free, and calls wait for a slot again.
    write(&mut client, calls(IN_FLIGHT + 1..IN_FLIGHT + 3)).await;
    receives(&mut transport, IN_FLIGHT + 1..IN_FLIGHT + 2).await;
    answer(&mut transport, 2).await;
    receives(&mut transport, IN_FLIGHT + 2..IN_FLIGHT + 3).await;
}

#[tokio::test(start_paused = true)]
async fn a_disconnected_client_is_not_awaited() {
    let (mut client, mut transport) = open().await;
    write(&mut client, calls(1..IN_FLIGHT + 2)).await;
    receives(&mut transport, 1..IN_FLIGHT + 1).await;
    drop(client);
    let _ = sent(&mut transport, large_message(7, 1)).await;
    let before = Instant::now();
    while received(&mut transport).await.is_some() {}
    assert!(before.elapsed() < STALL_TIMEOUT);
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_are_served_after_the_end_of_the_input() {
    let (mut client, mut transport) = open().await;
    write(&mut client, calls(1..IN_FLIGHT + 4)).await;
    client.shutdown().await.expect("open");
    receives(&mut transport, 1..IN_FLIGHT + 1).await;
    for id in 1..=3 {
        answer(&mut transport, id).await;
        assert_eq!(id_of(next(&mut transport).await), Some(IN_FLIGHT + id));
    }
    assert!(received(&mut transport).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_do_not_delay_a_requested_end() {
    let disconnected = CancellationToken::new();
    let (mut client, mut transport) = open_until(disconnected.clone()).await;
    write(&mut client, calls(1..IN_FLIGHT + 2)).await;
    receives(&mut transport, 1..IN_FLIGHT + 1).await;
    disconnected.cancel();
    let before = Instant::now();
    assert!(received(&mut transport).await.is_none());
    assert_eq!(before.elapsed(), Duration::ZERO);
    assert_eq!(read(&mut client).await["error"]["code"], -32603);
}
