//! Data between a child and its connection.

use super::super::exit::Exit;
use super::support::{
    IGNORES_SIGTERM, SHORT_GRACE, Server, UNREACHED_GRACE, closed, exited, redactor, script, start,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

#[tokio::test]
async fn written_values_are_read_back() {
    let mut server = Server::run("cat").await;
    let long = "x".repeat(1_000_000) + "\n";
    let (written, read) = tokio::join!(server.stdin.write_all(long.as_bytes()), async {
        let mut read = vec![0; long.len()];
        server.stdout.read_exact(&mut read).await.map(|_| read)
    });
    written.expect("it reads");
    assert!(read.expect("it writes") == long.as_bytes());
}

#[tokio::test]
async fn shutting_down_the_input_ends_it() {
    let mut server = Server::run("cat; echo end").await;
    server.stdin.shutdown().await.expect("always");
    assert_eq!(server.line().await, "end");
    let error = server.stdin.write_all(b"x").await.expect_err("it is closed");
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn closing_a_child_wakes_a_waiting_writer() {
    let mut server = Server::run("echo ready; exec sleep 60").await;
    assert_eq!(server.line().await, "ready");
    let flood = vec![0; 10_000_000];
    let (written, ()) = tokio::join!(server.stdin.write_all(&flood), async {
        closed(&server.child, SHORT_GRACE).await;
    });
    assert_eq!(written.expect_err("the reader is closed").kind(), std::io::ErrorKind::BrokenPipe);
    assert_eq!(server.child.exit(), Some(Exit::Signal(15)));
}

#[tokio::test]
async fn a_flood_on_standard_error_does_not_block() {
    let lines = "yes 'the same again and again' | head -c 25000000 >&2";
    let endless = "head -c 25000000 /dev/zero >&2; echo >&2";
    let mut server = Server::run(&format!("{lines}; {endless}; echo last >&2; echo done")).await;
    assert_eq!(server.line().await, "done");
    assert_eq!(exited(&server.child).await, Exit::Code(0));
    let tail = server.child.stderr_tail();
    assert!(tail.len() <= 16 * 1024 && tail.contains("the same again and again\n"));
    assert!(tail.ends_with("…\nlast"), "{}", &tail[tail.len() - 100..]);
}

#[tokio::test]
async fn the_last_output_of_a_child_is_available_after_its_exit() {
    for number in 0..20 {
        let server = Server::run(&format!("echo 'no such key {number}' >&2; exit 1")).await;
        assert_eq!(exited(&server.child).await, Exit::Code(1));
        assert_eq!(server.child.stderr_tail(), format!("no such key {number}"));
    }
}

#[tokio::test]
async fn a_process_that_keeps_stderr_open_is_not_awaited() {
    let mut server = Server::run(&format!("{IGNORES_SIGTERM} read line; echo bye >&2")).await;
    server.process().await;
    drop(server.stdin);
    assert_eq!(exited(&server.child).await, Exit::Code(0));
    assert_eq!(server.child.stderr_tail(), "bye");
    closed(&server.child, UNREACHED_GRACE).await;
}

#[tokio::test]
async fn values_that_a_child_prints_are_not_shown() {
    let mut command = script("echo \"bad key $TOKEN for $1\" >&2");
    command.args.extend(["sh".to_owned(), "expanded-value".to_owned()]);
    command.env.insert("TOKEN".to_owned(), "s3cret-value".to_owned());
    command.redactor = redactor(&[("${ACCOUNT}", "expanded-value"), ("${TOKEN}", "s3cret-value")]);
    let server = start(&command).await;
    exited(&server.child).await;
    assert_eq!(server.child.stderr_tail(), "bad key ${TOKEN} for ${ACCOUNT}");
}
