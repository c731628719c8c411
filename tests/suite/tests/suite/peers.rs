//! Third-party clients drive the quickstart, over stdio and HTTP, in both lifecycles.

use super::quickstart::binary;
use suite::peers::Lifecycle::{Stateful, Stateless};
use suite::peers::Transport::{Http, Stdio};
use suite::peers::{CLIENTS, Lifecycle, Transport};

#[test]
fn over_stdio_2025_11_25() {
    check(Stdio, Stateful);
}

#[test]
fn over_stdio_2026_07_28() {
    check(Stdio, Stateless);
}

#[test]
fn over_http_2025_11_25() {
    check(Http, Stateful);
}

#[test]
fn over_http_2026_07_28() {
    check(Http, Stateless);
}

/// Runs all clients of a lifecycle; on a failed check prints all their output.
fn check(transport: Transport, lifecycle: Lifecycle) {
    let speaking = CLIENTS.iter().filter(|client| client.lifecycles.contains(&lifecycle));
    let failed: Vec<String> = speaking
        .map(|client| (client.name, client.check(lifecycle, transport, binary())))
        .filter(|(_, ended)| !ended.is_success())
        .map(|(name, ended)| format!("{name} {}", ended.described()))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
