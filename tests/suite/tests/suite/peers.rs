//! The official client libraries drive the quickstart. The program `clients` of this package checks all clients over each
//! transport, in each lifecycle.

use super::quickstart::binary;
use suite::peers::Lifecycle::{Stateful, Stateless};
use suite::peers::Transport::{Http, Stdio};
use suite::peers::{CLIENTS, Lifecycle, Transport};

#[test]
fn python_sdk_over_stdio() {
    check("Python SDK 2 (`mcp`)", Stdio, Stateful);
}

#[test]
fn typescript_sdk_over_http() {
    check("TypeScript SDK 2", Http, Stateless);
}

fn check(name: &str, transport: Transport, lifecycle: Lifecycle) {
    let client = CLIENTS.iter().find(|client| client.name == name).expect("a client");
    let ended = client.check(lifecycle, transport, binary());
    assert!(ended.is_success(), "{name} {}", ended.described());
}
