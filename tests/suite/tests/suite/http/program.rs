//! The generated program: `serve --http`.

use super::client::{Connection, RawRequest};
use super::test_server::{TestServer, in_time};
use std::net::SocketAddr;
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use suite::process::{Signal, signal};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tool_runtime::http::HttpOptions;

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
        let (_, address) = line.split_once("listening on http://").expect("where it is");
        let (address, _) = address.split_once("/mcp").expect("where it is");
        Self { address: address.parse().expect("an address"), child, log }
    }

    pub(super) async fn request(&self, request: &RawRequest) -> u16 {
        in_time(async { Connection::open(self.address).await.request(request).await })
            .await
            .status()
    }

    /// The next line with this text.
    async fn log_until(&mut self, text: &str) -> String {
        loop {
            let mut line = String::new();
            let read = in_time(self.log.read_line(&mut line)).await.expect("UTF-8");
            assert!(read > 0, "{text:?} was not logged");
            if line.contains(text) {
                return line;
            }
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
async fn requests_and_rejections_are_logged() {
    let flags = ["--http", "0", "--auth-token-env", "SUITE_TOKENS", "--log-level", "info"];
    let mut program = Program::start(command(&flags).env("SUITE_TOKENS", "ada:one")).await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let call = RawRequest::call(1, "numbers");
    let with_token = |token: &str| call.clone().with("authorization", &format!("Bearer {token}"));
    let traced = with_token("one").with("traceparent", &format!("00-{trace}-00f067aa0ba902b7-01"));
    assert_eq!(program.request(&traced).await, 200);
    let line = program.log_until("status=200").await;
    for words in [" INFO ", "POST", "\"/mcp\"", "127.0.0.1", "\"ada\"", "\"numbers\"", trace] {
        assert!(line.contains(words), "{words} is not in {line}");
    }
    for (request, status, reason) in [
        (with_token("two"), 401, "rejected: the token is unknown"),
        (call.clone(), 401, "rejected: it has no bearer token"),
        (with_token("one").with("host", "a.example"), 403, "the host `a.example` is not allowed"),
        (RawRequest::new("GET", "/other"), 404, "nothing is served at `/other`"),
    ] {
        assert_eq!(program.request(&request).await, status);
        let line = program.log_until(reason).await;
        assert!(line.contains("WARN") && line.contains("127.0.0.1"), "{line}");
        assert!(line.contains(&format!("status={status}")), "{line}");
    }
    // No more of one client than an operator reads.
    for _ in 0..20 {
        assert_eq!(program.request(&call).await, 401);
    }
    assert_eq!(program.request(&with_token("one")).await, 200);
    let mut rejections = 0;
    loop {
        let line = program.log_until("").await;
        if line.contains("status=200") {
            break;
        }
        rejections += usize::from(line.contains("rejected"));
    }
    assert_eq!(rejections, 16);
}

#[tokio::test]
async fn a_server_is_ready_while_its_conditions_hold() {
    let is_loaded = Arc::new(AtomicBool::new(false));
    let check = Arc::clone(&is_loaded);
    let options = HttpOptions::default().ready_when(move || match check.load(Ordering::Relaxed) {
        true => Ok(()),
        false => Err("the index is being loaded".to_owned()),
    });
    let server = TestServer::start(options).await;
    let ready = RawRequest::new("GET", "/readyz");
    let answer = server.request(&ready).await;
    assert_eq!((answer.status(), &*answer.body), (503, "the index is being loaded\n"));
    is_loaded.store(true, Ordering::Relaxed);
    assert_eq!(server.request(&ready).await.status(), 200);
    let program = Program::start(&mut command(&["--http", "0"])).await;
    assert_eq!(program.request(&ready).await, 200);
}

#[tokio::test]
async fn lines_of_the_log_are_json_if_wanted() {
    let flags = ["--http", "0", "--log-level", "info", "--log-format", "json"];
    let mut program = Program::start(&mut command(&flags)).await;
    assert_eq!(program.request(&RawRequest::call(1, "numbers")).await, 200);
    let line = program.log_until("status").await;
    let line: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!((&line["level"], &line["fields"]["status"]), (&"INFO".into(), &200.into()));
    let (code, message) = rejected(&["--http", "0", "--log-format", "yaml"]).await;
    assert_eq!(code, Some(2));
    assert!(message.contains("`yaml` is not `text` or `json`"), "{message}");
}

#[tokio::test]
async fn all_lines_are_json_if_wanted() {
    let flags = ["--http", "0", "--log-format", "json"];
    let mut server = command(&flags).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(server.stderr.take().expect("piped")).lines();
    let line = in_time(lines.next_line()).await.expect("UTF-8").expect("a line");
    let line: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    let url = line["fields"]["url"].as_str().expect("where it listens");
    assert!(url.starts_with("http://127.0.0.1:"), "{line}");
}

#[tokio::test]
async fn an_error_that_ends_the_program_is_json_if_wanted() {
    let (code, message) = rejected(&["--http", "0.0.0.0:0", "--log-format", "json"]).await;
    assert_eq!(code, Some(1));
    let line: serde_json::Value = serde_json::from_str(&message).expect("one line of JSON");
    let text = line["fields"]["message"].as_str().expect("a message");
    assert_eq!(line["level"], "ERROR");
    assert!(text.contains("--insecure-no-auth"), "{text}");
}

#[tokio::test]
async fn lines_of_a_call_have_its_ids() {
    let flags = ["--http", "0", "--auth-token-env", "SUITE_TOKENS"];
    let mut program = Program::start(command(&flags).env("SUITE_TOKENS", "ada:one")).await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let call = RawRequest::call(7, "boom").with("authorization", "Bearer one");
    let call = call.with("traceparent", &format!("00-{trace}-00f067aa0ba902b7-01"));
    assert_eq!(program.request(&call).await, 200);
    for text in ["panicked", "WARN"] {
        let line = program.log_until(text).await;
        for words in [r#"call.id="7""#, r#"user.id="ada""#, r#"tool.name="boom""#, trace] {
            assert!(line.contains(words), "{words} is not in {line}");
        }
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
    let mut program = Program::start(&mut command(&["--http", "0", "--log-level", "info"])).await;
    let mut connection = Connection::open(program.address).await;
    connection.send(&RawRequest::call(1, "hang")).await;
    program.log_until("hanging").await;
    program.signal(Signal::TERM);
    program.log_until("the server stops: it accepts no connection").await;
    // New connections are rejected, and the call has ten seconds to finish.
    in_time(async { while tokio::net::TcpStream::connect(program.address).await.is_ok() {} }).await;
    program.signal(Signal::TERM);
    let status = in_time(program.child.wait()).await.expect("it ends");
    assert_eq!(status.code(), Some(1), "a second signal ends the process");
}
