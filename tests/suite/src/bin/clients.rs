//! Checks the quickstart with every client, and prints the table of the README.

use std::path::Path;
use std::process::ExitCode;
use suite::built::built;
use suite::peers::{CLIENTS, Client, Lifecycle, Transport};

const COLUMNS: [(Transport, Lifecycle); 4] = [
    (Transport::Stdio, Lifecycle::Stateful),
    (Transport::Stdio, Lifecycle::Stateless),
    (Transport::Http, Lifecycle::Stateful),
    (Transport::Http, Lifecycle::Stateless),
];

#[expect(clippy::print_stdout, reason = "the table is the output of the program")]
fn main() -> ExitCode {
    let server = built("quickstart");
    let mut succeeded = true;
    println!(
        "| client | stdio, 2025-11-25 | stdio, 2026-07-28 | HTTP, 2025-11-25 | HTTP, 2026-07-28 |"
    );
    println!("|---|---|---|---|---|");
    for client in CLIENTS {
        let cells = COLUMNS.map(|column| cell(&client, column, &server));
        succeeded &= cells.iter().all(Result::is_ok);
        let cells = cells.map(|cell| cell.unwrap_or_else(|failed| failed));
        println!("| {} | {} |", client.name, cells.join(" | "));
    }
    if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Number of checks that pass; an error if some fail.
fn cell(
    client: &Client,
    (transport, lifecycle): (Transport, Lifecycle),
    server: &Path,
) -> Result<String, String> {
    if !client.lifecycles.contains(&lifecycle) {
        return Ok("not supported".to_owned());
    }
    let ended = client.check(lifecycle, transport, server);
    let count = |mark| ended.output.lines().filter(|line| line.starts_with(mark)).count();
    let (passed, failed) = (count("ok - "), count("not ok - "));
    if ended.is_success() && failed == 0 {
        return Ok(format!("{passed} of {passed}"));
    }
    eprintln!("{} {}", client.name, ended.described());
    Err(format!("**{passed} of {}**", passed + failed))
}
