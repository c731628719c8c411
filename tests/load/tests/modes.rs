//! Runs every mode of the load generator briefly: all calls are answered correctly.

use load::{Call, Channel, Load, Outcome, ProtocolVersion};
use serde_json::json;
use std::process::Command;
use std::time::Duration;

const OURS: &str = env!("CARGO_BIN_EXE_ours");
const BY_HAND: &str = env!("CARGO_BIN_EXE_by-hand");
const RMCP: &str = env!("CARGO_BIN_EXE_rmcp-baseline");

fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// Briefly calls in both protocol versions, one and several at a time.
fn short_loads() -> impl Iterator<Item = Load> {
    ProtocolVersion::ALL.into_iter().flat_map(|version| {
        [1, 8].map(|in_flight| Load {
            version,
            call: Call::add(),
            in_flight,
            time: Duration::from_millis(50),
        })
    })
}

fn assert_right(outcome: &Outcome) {
    assert!(outcome.answered > 0 && outcome.wrong == 0, "{outcome}");
    assert!(outcome.quantile(0.5) <= outcome.quantile(0.99));
    assert!(outcome.peak_rss > 0, "{outcome}");
}

#[test]
fn servers_on_pipes_and_sockets_answer_correctly() {
    for load in short_loads() {
        for channel in [Channel::Pipes, Channel::Sockets] {
            for (program, argument) in
                [(OURS, "serve"), (BY_HAND, "stdio"), (RMCP, "stdio"), (RMCP, "pipes")]
            {
                let outcome = load::stdio(command(program, &[argument]), channel, &load);
                assert_right(&outcome.expect("a run"));
            }
        }
    }
}

#[test]
fn servers_on_http_answer_correctly() {
    for load in short_loads() {
        for words in [&["nagle"][..], &[], &["json", "stateless"]] {
            let server = command(RMCP, &[&["http", "0"], words].concat());
            assert_right(&load::http(server, &load).expect("a run"));
        }
        let server = command(OURS, &["serve", "--http", "127.0.0.1:0"]);
        assert_right(&load::http(server, &load).expect("a run"));
        let server = command(BY_HAND, &["http", "0"]);
        assert_right(&load::http(server, &load).expect("a run"));
    }
}

#[test]
fn a_wrong_answer_is_counted_and_shown() {
    let mut load = short_loads().next().expect("a moment");
    load.call = Call::echo("yes");
    load.call.arguments = json!({ "text": "no" });
    let outcome = load::stdio(command(OURS, &["serve"]), Channel::Pipes, &load).expect("a run");
    assert_eq!(outcome.wrong, outcome.answered);
    assert!(outcome.first_wrong.expect("one is shown").contains(r#""text":"no""#));
}

#[test]
fn a_server_that_ends_early_is_an_error() {
    let load = short_loads().next().expect("a moment");
    assert!(load::stdio(Command::new("true"), Channel::Pipes, &load).is_err());
    assert!(load::http(Command::new("true"), &load).is_err());
}

#[test]
fn rejects_more_than_a_pipe_holds() {
    let mut load = short_loads().next().expect("a moment");
    load.in_flight = 2;
    load.call = Call::echo(&"x".repeat(40_000));
    let rejected = load::stdio(command(OURS, &["serve"]), Channel::Pipes, &load);
    assert!(rejected.expect_err("too much").to_string().contains("more than a pipe holds"));
}
