//! Checks that the compared servers give equal answers; otherwise the comparison is meaningless.

use super::contender::STDIO;
use crate::stdio::ask;
use crate::{Call, Load, ProtocolVersion};
use serde_json::Value;
use std::io;
use std::time::Duration;

/// Checks that all servers answer with the same bytes.
///
/// # Errors
/// If their answers differ, or are missing.
pub fn check() -> io::Result<()> {
    for version in ProtocolVersion::ALL {
        for call in [Call::add(), Call::echo("what \"comes\" back\n")] {
            let load = Load { version, call, in_flight: 1, time: Duration::ZERO };
            let mut results = STDIO.iter().map(|contender| {
                let result = result(&ask(contender.command()?, &load)?)?;
                Ok::<_, io::Error>((contender.name, result))
            });
            let (first, expected) = results.next().expect("there is one")?;
            for result in results {
                let (name, result) = result?;
                if result != expected {
                    let message = format!("{first} answers {expected}, {name} {result}");
                    return Err(io::Error::other(message));
                }
            }
        }
    }
    Ok(())
}

/// The result of a call as JSON, with members in the order on the wire.
fn result(line: &str) -> io::Result<String> {
    let message: Value = serde_json::from_str(line)?;
    let parts = ["content", "structuredContent"].map(|part| message["result"][part].to_string());
    Ok(parts.join(" "))
}
