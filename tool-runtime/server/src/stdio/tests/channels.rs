//! Every kind of descriptor that a host may pass.

use std::fs::File;
use std::io::{self, BufReader, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::fs::{OFlags, fcntl_getfl};

use super::super::StdioTransport;
use super::support::{
    Output, Peer, blocking, closed, connect, id_of, large_message, over_pipes, over_sockets, ping,
    pipe, pipe_ends, received, sent, socket_ends,
};

/// One message each way, many in one chunk, and the end.
async fn converse((mut peer, mut transport): (Peer, StdioTransport)) {
    peer.write(ping(1));
    assert_eq!(id_of(received(&mut transport).await), Some(1));
    sent(&mut transport, large_message(1, 10)).await.expect("sent");
    assert_eq!(peer.expect()["id"], 1);
    let many: String = (2..500).map(ping).collect();
    peer.write(many);
    for id in 2..500 {
        assert_eq!(id_of(received(&mut transport).await), Some(id));
    }
    let Peer { to, mut from } = peer;
    drop(to);
    assert!(received(&mut transport).await.is_none());
    assert!(received(&mut transport).await.is_none());
    closed(&mut transport).await.expect("closed");
    drop(transport);
    // The descriptor closes with the last task that holds it, so the runtime must not be blocked.
    let rest = blocking(move || io::read_to_string(&mut from)).await;
    assert_eq!(rest.expect("the end"), "");
}

#[tokio::test]
async fn pipes() {
    converse(over_pipes()).await;
}

#[tokio::test]
async fn sockets() {
    converse(over_sockets()).await;
}

/// An unlinked regular file with this content, positioned at its beginning.
fn file_with(name: &str, content: &str) -> File {
    let path = std::env::temp_dir().join(format!("stdio-{name}-{}", std::process::id()));
    let mut options = File::options();
    let open = options.read(true).write(true).create(true).truncate(true);
    let mut file = open.open(&path).expect("a temporary file");
    std::fs::remove_file(path).expect("removable");
    file.write_all(content.as_bytes()).expect("writable");
    file.rewind().expect("seekable");
    file
}

#[tokio::test]
async fn a_regular_file_is_read_to_its_end_and_written_in_order() {
    let lines: String = (0..5000).map(ping).collect();
    let output = file_with("output", "");
    let mut read_back = output.try_clone().expect("a duplicate");
    let input = file_with("input", lines.trim_end());
    let mut transport =
        StdioTransport::from_descriptors(input.into(), output.into()).expect("a transport");
    for id in 0..5000 {
        assert_eq!(id_of(received(&mut transport).await), Some(id));
        sent(&mut transport, large_message(id, 10)).await.expect("sent");
    }
    assert!(received(&mut transport).await.is_none());
    closed(&mut transport).await.expect("closed");
    read_back.rewind().expect("seekable");
    let written = io::read_to_string(read_back).expect("UTF-8");
    let ids: Vec<_> = written.lines().map(id_in).collect();
    assert_eq!(ids, (0..5000).collect::<Vec<_>>());
}

/// The id of a message on a line.
fn id_in(line: &str) -> i64 {
    let message: serde_json::Value = serde_json::from_str(line).expect("JSON");
    message["id"].as_i64().expect("a number")
}

#[tokio::test]
async fn dev_null_ends_immediately() {
    let null = File::options().read(true).write(true).open("/dev/null");
    let null: OwnedFd = null.expect("/dev/null").into();
    let output = null.try_clone().expect("a duplicate");
    let mut transport = StdioTransport::from_descriptors(null, output).expect("a transport");
    assert!(received(&mut transport).await.is_none());
    sent(&mut transport, large_message(1, 10)).await.expect("swallowed");
    closed(&mut transport).await.expect("closed");
}

#[tokio::test]
async fn a_pipe_whose_writers_closed_ends_after_its_content() {
    let (mut peer, input, output) = pipe_ends();
    peer.write(ping(1));
    peer.write(ping(2).trim_end());
    let Peer { to, from: _from } = peer;
    drop(to);
    let mut transport = StdioTransport::from_descriptors(input, output).expect("a transport");
    assert_eq!(id_of(received(&mut transport).await), Some(1));
    assert_eq!(id_of(received(&mut transport).await), Some(2));
    assert!(received(&mut transport).await.is_none());
}

#[tokio::test]
async fn an_empty_pipe_without_writers_ends_immediately() {
    let (input, writing_end) = pipe();
    let (_reading_end, output) = pipe();
    drop(writing_end);
    let mut transport = StdioTransport::from_descriptors(input, output).expect("a transport");
    assert!(received(&mut transport).await.is_none());
}

/// Builds a transport, and returns whether a duplicate of each descriptor became non-blocking.
fn leaks_flag((peer, input, output): (Peer, OwnedFd, OwnedFd)) -> bool {
    let duplicates = [&input, &output].map(|fd| fd.try_clone().expect("a duplicate"));
    let _connected = connect((peer, input, output));
    let is_nonblocking =
        |fd: &OwnedFd| fcntl_getfl(fd.as_fd()).is_ok_and(|flags| flags.contains(OFlags::NONBLOCK));
    duplicates.iter().any(is_nonblocking)
}

#[tokio::test]
async fn other_holders_of_the_descriptors_keep_them_blocking() {
    assert!(!leaks_flag(pipe_ends()));
    assert!(!leaks_flag(socket_ends()));
}

/// The peer stops reading, but continues to send requests.
async fn reader_leaves((mut peer, mut transport): (Peer, StdioTransport)) {
    sent(&mut transport, large_message(1, 10)).await.expect("sent");
    assert_eq!(peer.expect()["id"], 1);
    let Peer { mut to, from } = peer;
    drop(from);
    let error = sent(&mut transport, large_message(2, 10)).await.expect_err("the reader is closed");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    let error = sent(&mut transport, large_message(3, 10)).await.expect_err("the reader is closed");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    write!(to, "not json\n{}", ping(4)).expect("the input is open");
    assert!(received(&mut transport).await.is_none());
    assert!(closed(&mut transport).await.is_err());
}

#[tokio::test]
async fn an_unread_pipe_is_an_error_of_send() {
    reader_leaves(over_pipes()).await;
}

#[tokio::test]
async fn an_unread_socket_is_an_error_of_send() {
    reader_leaves(over_sockets()).await;
}

#[tokio::test]
async fn a_pipe_whose_reader_closed_is_an_error_of_close() {
    let (Peer { to: _to, from }, input, output) = pipe_ends();
    drop(from);
    let mut transport = StdioTransport::from_descriptors(input, output).expect("a transport");
    // A pipe without a reader cannot be reopened: a thread writes it, and `send` does not wait for the thread.
    let _ = sent(&mut transport, large_message(1, 10)).await;
    let error = closed(&mut transport).await.expect_err("the reader is closed");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn one_socket_for_both_directions() {
    let (ours, theirs) = UnixStream::pair().expect("a socket pair");
    let (input, theirs) = (OwnedFd::from(ours), OwnedFd::from(theirs));
    let output = input.try_clone().expect("a duplicate");
    let mut peer = Peer {
        to: theirs.try_clone().expect("a duplicate").into(),
        from: BufReader::new(Output(theirs.into())),
    };
    let mut transport = StdioTransport::from_descriptors(input, output).expect("a transport");
    peer.write(ping(1));
    assert_eq!(id_of(received(&mut transport).await), Some(1));
    sent(&mut transport, large_message(1, 10)).await.expect("sent");
    assert_eq!(peer.expect()["id"], 1);
    drop(peer);
    assert!(received(&mut transport).await.is_none());
}

#[tokio::test]
async fn a_closed_transport_sends_nothing() {
    let (_peer, mut transport) = over_pipes();
    closed(&mut transport).await.expect("closed");
    let error = sent(&mut transport, large_message(1, 10)).await.expect_err("closed");
    assert_eq!(error.kind(), io::ErrorKind::NotConnected);
}

#[test]
fn a_transport_outside_of_a_runtime_is_an_error() {
    let (_peer, input, output) = pipe_ends();
    assert!(StdioTransport::from_descriptors(input, output).is_err());
}
