//! A race between servers that do not say the same would mean nothing.

use super::contender::STDIO;
use crate::stdio::ask;
use crate::{Call, Load, ProtocolVersion};
use serde_json::Value;
use std::io;
use std::time::Duration;

/// Sees to it that all servers answer the same bytes.
///
/// # Errors
/// If they do not, or do not answer.
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

/// What a call gave, as text, in the order of the wire.
fn result(line: &str) -> io::Result<String> {
    let message: Value = serde_json::from_str(line)?;
    let parts = ["content", "structuredContent"].map(|part| message["result"][part].to_string());
    Ok(parts.join(" "))
}
