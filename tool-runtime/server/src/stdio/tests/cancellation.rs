//! rmcp drops the future of `receive` whenever another branch of its `select!` is ready.

use std::pin::pin;

use rmcp::transport::Transport;

use super::super::StdioTransport;
use super::support::{Peer, id_of, over_pipes, over_sockets, ping, poll_once, received};

/// Delivers a line in pieces, with a dropped `receive` between them.
async fn deliver_in_pieces((mut peer, mut transport): (Peer, StdioTransport)) {
    let line = ping(1);
    for piece in line.as_bytes().chunks(5) {
        for _ in 0..3 {
            assert!(poll_once(pin!(transport.receive())).is_pending());
        }
        peer.write(piece);
    }
    assert_eq!(id_of(received(&mut transport).await), Some(1));
    peer.write(ping(2));
    assert_eq!(id_of(received(&mut transport).await), Some(2));
}

#[tokio::test]
async fn a_dropped_receive_loses_nothing_on_a_pipe() {
    deliver_in_pieces(over_pipes()).await;
}

#[tokio::test]
async fn a_dropped_receive_loses_nothing_on_a_socket() {
    deliver_in_pieces(over_sockets()).await;
}
