//! Connecting: what is refused, and why.

use super::NatsServer;
use crate::{Board as _, BoardError, LEASE, NatsBoard, NatsOptions};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

async fn refused(address: &str, options: NatsOptions) -> String {
    match NatsBoard::connect(address, options).await.map(drop) {
        Err(BoardError::Refused(text)) => text,
        other => panic!("{other:?}"),
    }
}

/// A server of a version that takes connections, and answers nothing else. Returns its address.
async fn speechless(version: &'static str) -> (String, AbortOnDropHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("nats://{}", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = BufReader::new(stream);
        let info = format!(
            r#"INFO {{"server_id":"test","version":"{version}","max_payload":1048576,"headers":true}}"#
        );
        stream.write_all(format!("{info}\r\n").as_bytes()).await.unwrap();
        let mut line = String::new();
        while stream.read_line(&mut line).await.is_ok_and(|length| length > 0) {
            if line.starts_with("PING") {
                stream.write_all(b"PONG\r\n").await.unwrap();
            }
            line.clear();
        }
    });
    (address, AbortOnDropHandle::new(served))
}

#[tokio::test]
async fn a_server_that_is_too_old_is_refused_with_the_reason() {
    let (address, _served) = speechless("2.10.29").await;
    let text = refused(&address, NatsOptions::default()).await;
    assert!(text.contains("has version 2.10.29; at least 2.11 is needed"), "{text}");
}

#[tokio::test]
async fn a_server_that_does_not_say_whether_it_has_streams_is_away() {
    let (address, _served) = speechless("2.11.0").await;
    // Whether they are those of another account depends on the answer.
    match NatsBoard::connect(&address, NatsOptions::default()).await.map(drop) {
        Err(BoardError::Disconnected(text)) => {
            assert!(text.contains("does not say whether it has streams"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn addresses_and_credentials_are_checked() {
    for (address, text) in [
        ("http://127.0.0.1:1", "write `nats://HOST:PORT`"),
        ("nats://a.b:secret@127.0.0.1:1", "`a.b` is not a valid name of a caller"),
        ("nats://pool1:secret@:::1", "is not the address of a NATS server"),
    ] {
        let error = refused(address, NatsOptions::default()).await;
        assert!(error.contains(text) && !error.contains("secret"), "{error}");
    }
    let options = |file: &str| NatsOptions::default().credentials(file);
    let error = refused("nats://127.0.0.1:1", options("/no/such.nk")).await;
    assert!(error.contains("cannot read `/no/such.nk`"), "{error}");
    let error = refused("nats://127.0.0.1:1", options("Cargo.toml")).await;
    assert!(error.contains("`Cargo.toml` has no credentials"), "{error}");
    let error = refused("nats://127.0.0.1:1", NatsOptions::default().namespace("A")).await;
    assert!(error.contains("`A` is not a valid namespace"), "{error}");
}

#[tokio::test]
async fn a_server_without_these_credentials_refuses_the_program() {
    let server = NatsServer::start(LEASE).await;
    let error = refused(&server.address, NatsOptions::default()).await;
    assert!(error.contains("check the credentials"), "{error}");
}

#[tokio::test]
async fn the_user_of_the_address_is_the_name_of_the_caller() {
    let server = NatsServer::start(LEASE).await;
    let address = server.address.replace("nats://", "nats://pool1@");
    let options = NatsOptions::default().credentials(server.key("pool1"));
    let board = NatsBoard::connect(&address, options).await.unwrap();
    assert_eq!(board.caller().as_str(), "pool1");
    assert_eq!(board.address(), format!("{}/tools", server.address));
}

#[tokio::test]
async fn a_server_that_is_silent_is_noticed() {
    let server = NatsServer::start(LEASE).await;
    let board = server.board("pool1").await;
    server.stop();
    // Of its own accord the client takes three minutes.
    let outage = tokio::time::timeout(4 * LEASE, board.next_outage(&None)).await;
    assert!(matches!(outage, Ok(Some(BoardError::Disconnected(_)))), "{outage:?}");
}
