//! Taking the standard streams, in a separate process.

use std::io::Write;
use std::process::{Command, Stdio};

use super::super::StdioTransport;
use super::super::descriptor::Descriptors;
use super::support::{closed, id_of, large_message, ping, received, sent};

/// Environment variable of the child process.
const CHILD: &str = "STDIO_TAKE_CHILD";

/// The child's part. It is a test, so that the child process can run it.
#[tokio::test]
#[allow(clippy::print_stdout, reason = "what a tool prints is what this is about")]
async fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let mut transport = StdioTransport::take().expect("the streams");
    assert!(Descriptors::take().is_err());
    println!("printed by a tool");
    assert_eq!(std::io::read_to_string(std::io::stdin()).expect("empty"), "");
    let id = id_of(received(&mut transport).await).expect("a request");
    sent(&mut transport, large_message(id, 10)).await.expect("sent");
    println!("printed by a tool");
    assert!(received(&mut transport).await.is_none());
    closed(&mut transport).await.expect("closed");
}

#[test]
fn printed_output_is_redirected_to_standard_error() {
    let test = module_path!().split_once("::").expect("a crate").1.to_owned() + "::child";
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args([&test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a child");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(ping(5).as_bytes()).expect("written");
    drop(stdin);
    let output = child.wait_with_output().expect("its output");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}{stderr}");
    assert_eq!(stdout.matches("\"id\":5").count(), 1, "{stdout}");
    assert!(!stdout.contains("printed by a tool"), "{stdout}");
    assert_eq!(stderr.matches("printed by a tool").count(), 2, "{stderr}");
}
