//! A client that asks faster than it is served.

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
use super::super::backlog::{MAX_AT_WORK, MAX_BYTES, PLACE, STALL_TIMEOUT};
use super::support::{bulky, id_of, ping, received, sent};

const IN_FLIGHT: i64 = MAX_AT_WORK as i64;

/// How many [`fat_calls`] may wait.
const WAITING: i64 = 8;

/// Longer than anything that takes no patience, on a clock that is paused.
const MOMENT: Duration = Duration::from_secs(1);

/// A transport whose session is open, and its client. The stream holds more than any test writes.
async fn open() -> (BufReader<DuplexStream>, StdioTransport) {
    open_until(CancellationToken::new()).await
}

/// The same, whose input the token ends.
async fn open_until(gone: CancellationToken) -> (BufReader<DuplexStream>, StdioTransport) {
    let (ours, theirs) = tokio::io::duplex(64 << 20);
    let mut client = BufReader::new(ours);
    let mut transport = StdioTransport::in_memory(theirs, None).telling(gone);
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

fn call(id: i64, padding: usize) -> String {
    let params = json!({"name": "t", "arguments": " ".repeat(padding)});
    let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    format!("{message}\n")
}

fn calls(ids: std::ops::Range<i64>) -> String {
    ids.map(|id| call(id, 0)).collect()
}

/// So many of these are too much to wait.
fn fat_calls(ids: std::ops::Range<i64>) -> String {
    ids.map(|id| call(id, MAX_BYTES / WAITING as usize - PLACE)).collect()
}

fn cancelled(id: i64) -> String {
    let params = json!({"requestId": id});
    let message = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    format!("{message}\n")
}

async fn answer(transport: &mut StdioTransport, id: i64) {
    sent(transport, bulky(id, 1)).await.expect("sent");
}

/// What comes without any patience; `None` when nothing does.
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
    write(&mut client, call(9999, 0)).await;
    for id in 20..28 {
        answer(&mut transport, id).await;
    }
    for id in (IN_FLIGHT + 3..IN_FLIGHT + 10).chain([9999]) {
        assert_eq!(id_of(next(&mut transport).await), Some(id));
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_call_passes_those_that_wait() {
    let (mut client, mut transport) = open().await;
    write(&mut client, calls(1..IN_FLIGHT + 3)).await;
    write(&mut client, cancelled(5)).await;
    write(&mut client, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n".to_owned()).await;
    write(&mut client, ping(9999)).await;
    for id in 1..=IN_FLIGHT {
        assert_eq!(id_of(next(&mut transport).await), Some(id));
    }
    assert!(matches!(next(&mut transport).await, Some(JsonRpcMessage::Notification(_))));
    // The one that is taken back makes place.
    assert_eq!(id_of(next(&mut transport).await), Some(IN_FLIGHT + 1));
    assert!(matches!(next(&mut transport).await, Some(JsonRpcMessage::Response(_))));
    assert_eq!(id_of(next(&mut transport).await), Some(9999));
    assert!(next(&mut transport).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waits_can_be_taken_back() {
    let (mut client, mut transport) = open().await;
    write(&mut client, calls(1..IN_FLIGHT + 4)).await;
    write(&mut client, cancelled(IN_FLIGHT + 2)).await;
    for id in 1..=IN_FLIGHT {
        assert_eq!(id_of(next(&mut transport).await), Some(id));
    }
    assert!(matches!(next(&mut transport).await, Some(JsonRpcMessage::Notification(_))));
    answer(&mut transport, 1).await;
    answer(&mut transport, 2).await;
    assert_eq!(id_of(next(&mut transport).await), Some(IN_FLIGHT + 1));
    assert_eq!(id_of(next(&mut transport).await), Some(IN_FLIGHT + 3));
    assert!(next(&mut transport).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_id_of_one_that_waits_is_taken() {
    let (mut client, mut transport) = open().await;
    write(&mut client, calls(1..IN_FLIGHT + 2)).await;
    write(&mut client, call(IN_FLIGHT + 1, 0)).await;
    receives(&mut transport, 1..IN_FLIGHT + 1).await;
    let refusal = read(&mut client).await;
    assert_eq!(
        (&refusal["id"], &refusal["error"]["code"]),
        (&json!(IN_FLIGHT + 1), &json!(-32600))
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_read_while_too_much_waits() {
    let (mut client, mut transport) = open().await;
    let full = IN_FLIGHT + WAITING;
    write(&mut client, calls(1..IN_FLIGHT + 1)).await;
    write(&mut client, fat_calls(IN_FLIGHT + 1..full + 1)).await;
    write(&mut client, cancelled(1)).await;
    receives(&mut transport, 1..IN_FLIGHT + 1).await;
    answer(&mut transport, 9).await;
    assert_eq!(id_of(next(&mut transport).await), Some(IN_FLIGHT + 1));
    assert!(matches!(next(&mut transport).await, Some(JsonRpcMessage::Notification(_))));
}

#[tokio::test(start_paused = true)]
async fn a_waiting_request_that_is_cancelled_makes_room() {
    let (mut client, mut transport) = open().await;
    let full = IN_FLIGHT + WAITING;
    write(&mut client, calls(1..IN_FLIGHT + 1)).await;
    write(&mut client, fat_calls(IN_FLIGHT + 1..full)).await;
    write(&mut client, cancelled(IN_FLIGHT + 2)).await;
    write(&mut client, fat_calls(full..full + 1)).await;
    // Would not be read if what waits were too much.
    write(&mut client, cancelled(1)).await;
    for id in 1..=IN_FLIGHT {
        assert_eq!(id_of(next(&mut transport).await), Some(id));
    }
    for _ in 0..2 {
        assert!(matches!(next(&mut transport).await, Some(JsonRpcMessage::Notification(_))));
    }
}

#[tokio::test(start_paused = true)]
async fn the_id_of_a_request_that_found_no_room_is_free() {
    let (mut client, mut transport) = open().await;
    let full = IN_FLIGHT + WAITING;
    write(&mut client, calls(1..IN_FLIGHT + 1)).await;
    write(&mut client, fat_calls(IN_FLIGHT + 1..full + 1)).await;
    write(&mut client, call(full + 1, 0)).await;
    receives(&mut transport, 1..IN_FLIGHT + 1).await;
    assert!(timeout(2 * STALL_TIMEOUT, transport.receive()).await.is_err());
    assert_eq!(read(&mut client).await["error"]["code"], -32603);
    for id in 1..=WAITING {
        answer(&mut transport, id).await;
        assert_eq!(read(&mut client).await["id"], id);
    }
    receives(&mut transport, IN_FLIGHT + 1..full + 1).await;
    write(&mut client, call(full + 1, 0)).await;
    answer(&mut transport, WAITING + 1).await;
    assert_eq!(id_of(next(&mut transport).await), Some(full + 1));
}

/// All that are in flight may wait for what is behind those that wait.
#[tokio::test(start_paused = true)]
async fn when_none_gets_its_turn_further_ones_are_refused_and_the_rest_is_heard() {
    let (mut client, mut transport) = open().await;
    let full = IN_FLIGHT + WAITING;
    write(&mut client, calls(1..IN_FLIGHT + 1)).await;
    write(&mut client, fat_calls(IN_FLIGHT + 1..full + 1)).await;
    write(&mut client, calls(full + 1..full + 3)).await;
    write(&mut client, cancelled(1)).await;
    for id in 1..=IN_FLIGHT {
        assert_eq!(id_of(next(&mut transport).await), Some(id));
    }
    let before = Instant::now();
    let heard = received(&mut transport).await;
    assert!(matches!(heard, Some(JsonRpcMessage::Notification(_))), "{heard:?}");
    assert_eq!(before.elapsed().as_secs(), STALL_TIMEOUT.as_secs());
    for id in [full + 1, full + 2] {
        let refusal = read(&mut client).await;
        assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(id), &json!(-32603)));
        assert!(refusal["error"]["message"].as_str().is_some_and(|text| text.contains("1024")));
    }
    assert_eq!(id_of(next(&mut transport).await), Some(IN_FLIGHT + 1));
    // When it goes on, the client is held up again.
    write(&mut client, fat_calls(full + 3..full + 5)).await;
    write(&mut client, cancelled(full + 4)).await;
    let before = Instant::now();
    let heard = received(&mut transport).await;
    assert!(matches!(heard, Some(JsonRpcMessage::Notification(_))), "{heard:?}");
    assert!(before.elapsed() > Duration::ZERO && before.elapsed() < MOMENT);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_gone_is_not_held_up() {
    let (mut client, mut transport) = open().await;
    write(&mut client, calls(1..IN_FLIGHT + 1)).await;
    write(&mut client, fat_calls(IN_FLIGHT + 1..IN_FLIGHT + WAITING + 1)).await;
    receives(&mut transport, 1..IN_FLIGHT + 1).await;
    drop(client);
    let _ = sent(&mut transport, bulky(7, 1)).await;
    let before = Instant::now();
    while received(&mut transport).await.is_some() {}
    assert!(before.elapsed() < STALL_TIMEOUT);
}

#[tokio::test(start_paused = true)]
async fn those_that_wait_get_their_turn_after_the_end_of_the_input() {
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
async fn those_that_get_no_turn_after_the_end_of_the_input_are_told() {
    let (mut client, mut transport) = open().await;
    write(&mut client, calls(1..IN_FLIGHT + 3)).await;
    client.shutdown().await.expect("open");
    receives(&mut transport, 1..IN_FLIGHT + 1).await;
    let before = Instant::now();
    assert!(received(&mut transport).await.is_none());
    assert!(before.elapsed() < STALL_TIMEOUT);
    for id in [IN_FLIGHT + 1, IN_FLIGHT + 2] {
        let refusal = read(&mut client).await;
        assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(id), &json!(-32603)));
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_ends_the_input_does_not_wait_for_them() {
    let gone = CancellationToken::new();
    let (mut client, mut transport) = open_until(gone.clone()).await;
    write(&mut client, calls(1..IN_FLIGHT + 1)).await;
    write(&mut client, fat_calls(IN_FLIGHT + 1..IN_FLIGHT + WAITING + 9)).await;
    receives(&mut transport, 1..IN_FLIGHT + 1).await;
    gone.cancel();
    let before = Instant::now();
    assert!(received(&mut transport).await.is_none());
    assert_eq!(before.elapsed(), Duration::ZERO);
    assert_eq!(read(&mut client).await["error"]["code"], -32603);
}
