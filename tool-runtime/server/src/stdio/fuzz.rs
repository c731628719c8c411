//! Parses lines for the fuzz targets.

use super::message::parse;
use rmcp::model::JsonRpcMessage;
use serde_json::Value;
use tool_runtime_mcp::lines::{Line, LineBuffer};

/// The outcome of a line.
#[derive(Debug, PartialEq)]
pub enum LineOutcome {
    /// The line is a message, with an id if it is a request.
    Passed {
        /// The request's id.
        id: Option<Value>,
    },
    /// The line is rejected.
    Rejected {
        /// The text of the answer.
        answer: String,
    },
    /// The line is a notification to ignore.
    Ignored,
}

/// The lines in `bytes`, read in pieces of `piece`, and the outcome of each. A line longer than `limit` has
/// no content.
pub fn line_outcomes(
    bytes: &[u8],
    piece: usize,
    limit: usize,
) -> Vec<(Option<Vec<u8>>, LineOutcome)> {
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

fn take(lines: &mut LineBuffer, found: &mut Vec<(Option<Vec<u8>>, LineOutcome)>) {
    while let Some(line) = lines.next_line() {
        found.push(match line {
            Line::Whole(bytes) => (Some(bytes.to_vec()), outcome(bytes)),
            Line::TooLong { limit } => {
                let rejection = crate::rejection::Rejection::too_long(limit);
                (None, LineOutcome::Rejected { answer: text(&rejection) })
            }
        });
    }
}

fn outcome(line: &[u8]) -> LineOutcome {
    match parse(line) {
        Ok(Some(JsonRpcMessage::Request(request))) => {
            LineOutcome::Passed { id: serde_json::to_value(&request.id).ok() }
        }
        Ok(Some(_)) => LineOutcome::Passed { id: None },
        Ok(None) => LineOutcome::Ignored,
        Err(rejection) => LineOutcome::Rejected { answer: text(&rejection) },
    }
}

fn text(answer: &impl serde::Serialize) -> String {
    serde_json::to_string(answer).expect("an answer can be written")
}
