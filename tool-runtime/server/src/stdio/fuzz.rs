//! The line entry as the fuzz targets see it.

use super::message::parse;
use rmcp::model::JsonRpcMessage;
use serde_json::Value;
use tool_runtime_mcp::lines::{Line, LineBuffer};

/// What becomes of a line.
#[derive(Debug, PartialEq)]
pub enum Fate {
    /// It goes on to the protocol, with its id if it is a request.
    Passed {
        /// The request's id.
        id: Option<Value>,
    },
    /// It is answered here.
    Refused {
        /// The text of the answer.
        answer: String,
    },
    /// It is a notification that says nothing.
    Ignored,
}

/// The lines in `bytes`, which come in pieces of `piece`, and the fate of each. A line longer than
/// `limit` has no content.
pub fn fates(bytes: &[u8], piece: usize, limit: usize) -> Vec<(Option<Vec<u8>>, Fate)> {
    let mut lines = LineBuffer::new(limit);
    let mut found = Vec::new();
    for piece in bytes.chunks(piece) {
        lines.room().extend_from_slice(piece);
        take(&mut lines, &mut found);
    }
    lines.end();
    take(&mut lines, &mut found);
    found
}

fn take(lines: &mut LineBuffer, found: &mut Vec<(Option<Vec<u8>>, Fate)>) {
    while let Some(line) = lines.next_line() {
        found.push(match line {
            Line::Whole(bytes) => (Some(bytes.to_vec()), fate(bytes)),
            Line::TooLong { limit } => {
                let refusal = crate::rejection::Rejection::too_long(limit);
                (None, Fate::Refused { answer: text(&refusal) })
            }
        });
    }
}

fn fate(line: &[u8]) -> Fate {
    match parse(line) {
        Ok(Some(JsonRpcMessage::Request(request))) => {
            Fate::Passed { id: serde_json::to_value(&request.id).ok() }
        }
        Ok(Some(_)) => Fate::Passed { id: None },
        Ok(None) => Fate::Ignored,
        Err(refusal) => Fate::Refused { answer: text(&refusal) },
    }
}

fn text(answer: &impl serde::Serialize) -> String {
    serde_json::to_string(answer).expect("an answer can be written")
}
