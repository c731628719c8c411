//! Members of streamed responses that are not known here: they are kept and sent back, as reasoning and its signatures
//! must be.

use super::{append, list, member};
use serde_json::Value;

/// Members that come in pieces. Others are whole, and may be repeated.
const GROWING: [&str; 8] = [
    "content",
    "refusal",
    "reasoning",
    "reasoning_content",
    "reasoning_text",
    "thinking",
    "text",
    "summary",
];

/// Whether a member of this name comes in pieces.
pub(super) fn grows(key: &str) -> bool {
    GROWING.contains(&key)
}

/// Adds a member of an event to that of the response: text in pieces is joined, objects member by member, and lists entry
/// by entry.
pub(super) fn merge(into: &mut Value, key: &str, piece: &Value) {
    match piece {
        Value::Null => {}
        Value::String(text) if grows(key) => append(into, text),
        Value::Object(members) => {
            for (key, piece) in members {
                merge(member(into, key), key, piece);
            }
        }
        Value::Array(pieces) => {
            let list = list(into);
            for piece in pieces {
                merge_entry(list, piece);
            }
        }
        whole => *into = whole.clone(),
    }
}

/// Adds an entry of a list: to the entry of its index, or to the last if it is of the same type and neither has an
/// identity.
pub(super) fn merge_entry(list: &mut Vec<Value>, piece: &Value) {
    let continued = match &piece["index"] {
        Value::Null => list.len().checked_sub(1).filter(|last| continues(&list[*last], piece)),
        index => list
            .iter()
            .rposition(|entry| entry["index"] == *index && is_same(&entry["type"], &piece["type"])),
    };
    match continued {
        Some(known) => merge(&mut list[known], "", piece),
        None => list.push(piece.clone()),
    }
}

fn continues(last: &Value, piece: &Value) -> bool {
    let is_text = |value: &Value| {
        value.as_object().is_some_and(|members| members.keys().any(|key| grows(key)))
    };
    is_text(last)
        && is_text(piece)
        && last["type"] == piece["type"]
        && ["id", "index", "signature"]
            .iter()
            .all(|key| last[*key].is_null() && piece[*key].is_null())
}

fn is_same(known: &Value, piece: &Value) -> bool {
    piece.is_null() || known.is_null() || known == piece
}
