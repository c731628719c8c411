//! The generated program: `serve --http`.

use super::client::{Connection, RawRequest};
use super::test_server::in_time;
use std::net::SocketAddr;
use std::process::{Output, Stdio};
use suite::process::{Signal, signal};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStderr, Command};

pub(super) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_misbehaving_tools"));
    command.arg("serve").args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// A running server, its address, and its log.
pub(super) struct Program {
    child: Child,
    address: SocketAddr,
    log: BufReader<ChildStderr>,
}

impl Program {
    pub(super) async fn start(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let mut log = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        in_time(log.read_line(&mut line)).await.expect("a line");
        let address = line.strip_prefix("listening on http://").expect("where it is");
        let address = address.trim_end().strip_suffix("/mcp").expect("where it is");
        Self { address: address.parse().expect("an address"), child, log }
    }

    pub(super) async fn request(&self, request: &RawRequest) -> u16 {
        in_time(async { Connection::open(self.address).await.request(request).await })
            .await
            .status()
    }

    async fn log_until(&mut self, text: &str) {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            let read = in_time(self.log.read_line(&mut line)).await.expect("UTF-8");
            assert!(read > 0, "{text:?} was not logged");
        }
    }

    fn signal(&self, name: Signal) {
        signal(self.child.id().expect("it runs"), name);
    }
}

async fn rejected(arguments: &[&str]) -> (Option<i32>, String) {
    let output: Output = in_time(command(arguments).output()).await.expect("it starts");
    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
}

#[tokio::test]
async fn the_program_prints_its_address_and_answers_there() {
    let program = Program::start(&mut command(&["--http", "0"])).await;
    assert!(program.address.ip().is_loopback() && program.address.port() > 0);
    assert_eq!(program.request(&RawRequest::call(1, "numbers")).await, 200);
    assert_eq!(
        program.request(&RawRequest::call(1, "numbers").with("host", "a.example")).await,
        403
    );
}

#[tokio::test]
async fn flags_allow_other_hosts_and_origins() {
    let flags = [
        "--http",
        ":0",
        "--allow-host",
        "a.example",
        "--allow-host",
        "b.example",
        "--allow-origin",
        "https://c.example",
        "--no-sessions",
    ];
    let program = Program::start(&mut command(&flags)).await;
    for host in ["a.example", "b.example"] {
        assert_eq!(program.request(&RawRequest::call(1, "numbers").with("host", host)).await, 200);
    }
    let call = RawRequest::call(1, "numbers").with("origin", "https://c.example");
    assert_eq!(program.request(&call).await, 200);
    let listen = RawRequest::new("GET", "/mcp").with("accept", "text/event-stream");
    assert_eq!(program.request(&listen).await, 405);
}

#[tokio::test]
async fn tokens_come_from_a_variable_or_a_file() {
    let file = std::env::temp_dir().join(format!("tokens-{}", std::process::id()));
    std::fs::write(&file, "ada:one\n").expect("a file");
    let path = file.to_str().expect("UTF-8");
    let flags = ["--http", "0", "--auth-token-env", "SUITE_TOKENS", "--auth-token-file", path];
    let program = Program::start(command(&flags).env("SUITE_TOKENS", "two")).await;
    std::fs::remove_file(&file).expect("it was there");
    assert_eq!(program.request(&RawRequest::call(1, "numbers")).await, 401);
    for token in ["one", "two"] {
        let call = RawRequest::call(1, "numbers").with("authorization", &format!("Bearer {token}"));
        assert_eq!(program.request(&call).await, 200);
    }
}

#[tokio::test]
async fn a_public_address_needs_authentication() {
    let (code, message) = rejected(&["--http", "0.0.0.0:0"]).await;
    assert_eq!(code, Some(1));
    for flag in ["--auth-token-env", "--auth-token-file", "--insecure-no-auth"] {
        assert!(message.contains(flag), "{message}");
    }
    assert!(!message.contains("listening"), "{message}");
    let program =
        Program::start(&mut command(&["--http", "0.0.0.0:0", "--insecure-no-auth"])).await;
    assert!(program.address.ip().is_unspecified());
}

#[tokio::test]
async fn wrong_flags_are_reported_with_a_remedy() {
    let issuer = "https://login.example.com";
    let cases: [(&[&str], i32, &str); 10] = [
        (&["--no-sessions"], 2, "not provided:\n  --http <ADDR>"),
        (&["--http", "localhost"], 2, "write `8080`"),
        (&["--http", "0", "--allow-origin", "c.example"], 2, "write `https://example.com`"),
        (&["--http", "0", "--auth-token-env", "SUITE_UNSET"], 2, "`SUITE_UNSET`"),
        (&["--http", "0", "--auth-token-file", "/no/such/file"], 2, "/no/such/file"),
        (&["--http", "0", "--http", "0"], 2, "cannot be used multiple times"),
        (&["--htpp", "0"], 2, "'--http'"),
        (
            &["--http", "0", "--auth-jwt-issuer", issuer],
            2,
            "not provided:\n  --auth-jwt-audience <URL>",
        ),
        (
            &["--http", "0", "--auth-jwt-issuer", "login", "--auth-jwt-audience", issuer],
            2,
            "`login` is not a URL",
        ),
        (
            &[
                "--http",
                "0",
                "--auth-jwt-issuer",
                issuer,
                "--auth-jwt-audience",
                issuer,
                "--auth-token-env",
                "X",
            ],
            2,
            "cannot be used with '--auth-token-env <VAR>'",
        ),
    ];
    for (flags, code, message) in cases {
        let (ended, output_text) = rejected(flags).await;
        assert_eq!(ended, Some(code), "{flags:?}: {output_text}");
        assert!(output_text.contains(message), "{flags:?}: {output_text}");
    }
    let empty = command(&["--http", "0", "--auth-token-env", "SUITE_EMPTY"])
        .env("SUITE_EMPTY", "ada:")
        .output();
    let output_text =
        String::from_utf8(in_time(empty).await.expect("it starts").stderr).expect("UTF-8");
    assert!(output_text.contains("has no token"), "{output_text}");
}

#[tokio::test]
async fn a_wrong_flag_is_reported_once_beside_a_valid_issuer() {
    let issuer = "https://login.example.com";
    let valid = ["--auth-jwt-issuer", issuer, "--auth-jwt-audience", issuer];
    let flags = [&["--http", "0", "--allow-origin", "c.example"][..], &valid].concat();
    let (_, output_text) = rejected(&flags).await;
    assert_eq!(output_text.matches("write `https://example.com`").count(), 1, "{output_text}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_lets_calls_finish_and_a_second_one_stops_them() {
    for name in [Signal::TERM, Signal::INT] {
        let mut program = Program::start(&mut command(&["--http", "0"])).await;
        program.signal(name);
        assert!(in_time(program.child.wait()).await.expect("it ends").success());
    }
    let mut program = Program::start(&mut command(&["--http", "0"])).await;
    let mut connection = Connection::open(program.address).await;
    connection.send(&RawRequest::call(1, "hang")).await;
    program.log_until("hanging").await;
    program.signal(Signal::TERM);
    // New connections are rejected, and the call has ten seconds to finish.
    in_time(async { while tokio::net::TcpStream::connect(program.address).await.is_ok() {} }).await;
    program.signal(Signal::TERM);
    let status = in_time(program.child.wait()).await.expect("it ends");
    assert_eq!(status.code(), Some(1), "a second signal ends the process");
}
