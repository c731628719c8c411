//! Peers that read slowly, late, or not at all.

use std::io;
use std::pin::pin;
use std::time::Duration;

use rmcp::transport::Transport;
use tokio::time::Instant;

use super::super::StdioTransport;
use super::support::{
    Peer, blocking, closed, id_of, large_message, over_pipes, over_sockets, ping, poll_once,
    received, sent,
};
use crate::time_limit::in_time;

/// More than a pipe or a socket takes without being read.
const BULK: usize = 1024 * 1024;

/// Ids of the messages a peer reads, byte by byte if it is slow.
fn read_ids(mut peer: Peer, count: i64) -> Vec<i64> {
    (0..count).map(|_| peer.expect()["id"].as_i64().expect("a number")).collect()
}

/// Many large messages, queued at once, read late.
async fn floods((peer, transport): (Peer, StdioTransport)) {
    let mut transport = transport.with_queue_limit(1000);
    let sends: Vec<_> =
        (0..50).map(|id| tokio::spawn(transport.send(large_message(id, BULK / 10)))).collect();
    let ids = blocking(move || read_ids(peer, 50)).await;
    assert_eq!(ids, (0..50).collect::<Vec<_>>());
    for send in sends {
        in_time("a message to be sent", send).await.expect("no panic").expect("sent");
    }
}

#[tokio::test]
async fn nothing_is_lost_or_reordered_on_a_pipe() {
    floods(over_pipes()).await;
}

#[tokio::test]
async fn nothing_is_lost_or_reordered_on_a_socket() {
    floods(over_sockets()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_reordered_on_two_workers() {
    floods(over_pipes()).await;
}

#[tokio::test]
async fn send_waits_while_the_write_queue_is_full() {
    let (peer, transport) = over_pipes();
    let mut transport = transport.with_queue_limit(1000);
    let mut send = pin!(transport.send(large_message(0, BULK)));
    assert!(poll_once(send.as_mut()).is_pending());
    let ids = tokio::spawn(blocking(move || read_ids(peer, 1)));
    in_time("a message to be sent", send).await.expect("sent");
    assert_eq!(ids.await.expect("no panic"), [0]);
}

#[tokio::test]
async fn reading_waits_while_the_write_queue_is_full() {
    let (mut peer, transport) = over_pipes();
    let mut transport = transport.with_queue_limit(1000);
    peer.write(ping(7));
    let mut send = pin!(transport.send(large_message(0, BULK)));
    assert!(poll_once(send.as_mut()).is_pending());
    assert!(poll_once(pin!(transport.receive())).is_pending());
    let ids = tokio::spawn(blocking(move || read_ids(peer, 1)));
    assert_eq!(id_of(received(&mut transport).await), Some(7));
    assert_eq!(ids.await.expect("no panic"), [0]);
}

#[tokio::test(start_paused = true)]
async fn unread_answers_are_dropped_after_the_end_of_the_input() {
    let (mut peer, transport) = over_pipes();
    let mut transport = transport.with_queue_limit(1000);
    assert!(poll_once(pin!(transport.send(large_message(0, BULK)))).is_pending());
    peer.write(ping(1));
    let connection = transport.connection();
    let Peer { to, from: _from } = peer;
    drop(to);
    let limit = Duration::from_secs(1);
    let begun = Instant::now();
    let (received, ()) = tokio::join!(received(&mut transport), connection.drop_unread(limit));
    assert!(received.is_none());
    assert!(begun.elapsed() < 2 * limit, "{:?}", begun.elapsed());
    let error = in_time("the answers to be dropped", connection.drained())
        .await
        .expect_err("the reader is closed");
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}

async fn a_closed_reader_ends_the_input((peer, mut transport): (Peer, StdioTransport)) {
    let Peer { to: _to, from } = peer;
    assert!(poll_once(pin!(transport.receive())).is_pending());
    drop(from);
    assert!(received(&mut transport).await.is_none());
}

#[tokio::test]
async fn a_closed_reader_of_a_pipe_ends_the_input() {
    a_closed_reader_ends_the_input(over_pipes()).await;
}

#[tokio::test]
async fn a_closed_reader_of_a_socket_ends_the_input() {
    a_closed_reader_ends_the_input(over_sockets()).await;
}

#[tokio::test]
async fn a_waiting_send_fails_when_the_reader_closes() {
    let (peer, transport) = over_pipes();
    let mut transport = transport.with_queue_limit(1000);
    let mut send = pin!(transport.send(large_message(0, BULK)));
    assert!(poll_once(send.as_mut()).is_pending());
    drop(peer);
    let error = in_time("a message to be sent", send).await.expect_err("the reader is closed");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn close_writes_messages_whose_sends_were_dropped() {
    let (mut peer, mut transport) = over_pipes();
    drop(transport.send(large_message(1, 10)));
    drop(transport.send(large_message(2, 10)));
    closed(&mut transport).await.expect("closed");
    assert_eq!(peer.expect()["id"], 1);
    assert_eq!(peer.expect()["id"], 2);
}

#[tokio::test]
async fn close_waits_for_a_late_reader() {
    let (peer, mut transport) = over_pipes();
    sent(&mut transport, large_message(1, BULK)).await.expect("queued");
    let ids = tokio::spawn(blocking(move || read_ids(peer, 1)));
    closed(&mut transport).await.expect("closed");
    assert_eq!(ids.await.expect("no panic"), [1]);
}

#[tokio::test]
async fn a_dropped_transport_still_writes() {
    let (peer, mut transport) = over_pipes();
    sent(&mut transport, large_message(1, BULK)).await.expect("queued");
    drop(transport);
    assert_eq!(blocking(move || read_ids(peer, 1)).await, [1]);
}

#[tokio::test(start_paused = true)]
async fn close_gives_up_on_a_peer_that_never_reads() {
    let (_peer, mut transport) = over_pipes();
    sent(&mut transport, large_message(1, BULK)).await.expect("queued");
    let error = closed(&mut transport).await.expect_err("the reader is closed");
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}
