//! The program as a server: it is started as clients start it.

use super::findings::{Finding, Findings, Subject};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout};
use tool_runtime_core::seam::one_line;

/// The time for an answer.
const LIMIT: Duration = Duration::from_secs(30);

/// Clients wait longer, but their users notice.
const SLOW: Duration = Duration::from_secs(3);

/// The length to which a line is cut.
const LINE_CHARS: usize = 80;

/// The lines of an error that are shown after its first.
const REASON_LINES: usize = 5;

/// The time for the end of the process after the end of its input.
const END: Duration = Duration::from_secs(10);

/// Starts `serve` with the options of this process, then as each client starts it, and waits for the answer to `initialize`.
pub(crate) async fn examine(findings: &mut Findings) {
    match std::env::current_exe() {
        Ok(program) => {
            let mut command = Command::new(program);
            command.args(arguments());
            examine_one(Subject::Start, "it", command, findings).await;
        }
        Err(error) => findings.add(Subject::Start, Finding::error(&error.to_string())),
    }
    #[cfg(feature = "install")]
    match tempfile::tempdir() {
        Ok(folder) => {
            for (entry, command) in super::clients::starts(folder.path()) {
                examine_one(Subject::Clients, &entry, command, findings).await;
            }
        }
        Err(error) => findings.add(Subject::Clients, Finding::error(&error.to_string())),
    }
}

/// The command line of this process, with `serve` instead of `doctor`.
fn arguments() -> Vec<OsString> {
    let words = std::env::args_os().skip(1).filter(|word| word != "--json");
    words.map(|word| if word == "doctor" { OsString::from("serve") } else { word }).collect()
}

/// Adds findings about a start. `what` is its subject.
async fn examine_one(subject: Subject, what: &str, command: Command, findings: &mut Findings) {
    let began = Instant::now();
    let finding = match timeout(LIMIT, answered(command)).await {
        Ok(Ok(strays)) => {
            for line in strays {
                findings.add(subject.clone(), stray(what, &line));
            }
            time(what, began.elapsed())
        }
        Ok(Err(problem)) => {
            let finding = Finding::error(&format!("{what} does not serve: {problem}"));
            finding.help(
                "correct what it says; a client starts it in another folder, so its paths must be absolute",
            )
        }
        Err(_) => {
            let seconds = LIMIT.as_secs();
            let text = format!("{what} does not answer within {seconds} seconds");
            Finding::error(&text)
                .help("start it with `RUST_LOG=debug`: the log says where it waits")
        }
    };
    findings.add(subject, finding);
}

fn time(what: &str, time: Duration) -> Finding {
    let seconds = time.as_secs_f64();
    let text = format!("{what} answers a client {seconds:.1} seconds after its start");
    match time > SLOW {
        true => Finding::warning(&text).help("connect and load in the first call, not before"),
        false => Finding::fine(&text),
    }
}

fn stray(what: &str, line: &str) -> Finding {
    let text = format!(
        "{what} prints `{}` to standard output, which is for messages of MCP",
        one_line(line, LINE_CHARS)
    );
    Finding::error(&text).help("print to standard error, by `eprintln!` or a log")
}

/// The lines on standard output that are no messages, up to the answer.
async fn answered(command: Command) -> Result<Vec<String>, String> {
    let mut child = start(command).map_err(|error| error.to_string())?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("it has no input and output".to_owned());
    };
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "doctor", "version": env!("CARGO_PKG_VERSION") },
        },
    });
    // A process that has ended says why on standard error.
    let _ = input.write_all(format!("{request}\n").as_bytes()).await;
    let (mut lines, mut strays) = (BufReader::new(output).lines(), Vec::new());
    let is_answered = loop {
        match lines.next_line().await {
            Ok(Some(line)) => match serde_json::from_str::<Value>(&line) {
                Ok(message) if message["jsonrpc"] == "2.0" => {
                    if message["id"] == 1 {
                        break true;
                    }
                }
                _ => strays.push(line),
            },
            _ => break false,
        }
    };
    drop(input);
    match is_answered {
        true => {
            let _ = timeout(END, child.wait()).await;
            Ok(strays)
        }
        false => Err(reason(child).await),
    }
}

fn start(mut command: Command) -> io::Result<Child> {
    command
        .env("RUST_LOG", "error")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}

/// What a process that has closed its output wrote to standard error.
async fn reason(mut child: Child) -> String {
    let mut text = String::new();
    if let Some(errors) = child.stderr.take() {
        let _ = errors.take(10_000).read_to_string(&mut text).await;
    }
    let mut lines = text.lines().skip_while(|line| !line.starts_with("error: "));
    let Some(first) = lines.next().or(text.lines().last()) else {
        return "it ends without an error on standard error".to_owned();
    };
    // What follows belongs to the error, up to the usage.
    let rest = lines.map(str::trim).take_while(|line| !line.is_empty()).take(REASON_LINES);
    let first = first.trim_start_matches("error: ");
    [first].into_iter().chain(rest).collect::<Vec<_>>().join(" ")
}
