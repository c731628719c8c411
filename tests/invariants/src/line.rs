//! Arbitrary bytes on standard input: every line is found independent of the chunks it arrives in,
//! and every request is passed on or rejected with its id.
use serde_json::{Value, value::RawValue};
use tool_runtime::__fuzz::{LineOutcome, line_outcomes};

/// Limit on the length of a line: short, so that inputs exceed it.
const LIMIT: usize = 1000;

/// Checks an input.
///
/// # Panics
/// The invariant does not hold.
pub fn check(data: &[u8]) {
    let Some((&piece, bytes)) = data.split_first() else {
        return;
    };
    let found = line_outcomes(bytes, usize::from(piece) + 1, LIMIT);
    assert_eq!(found, line_outcomes(bytes, bytes.len().max(1), LIMIT), "pieces make a difference");
    let contents: Vec<Option<&[u8]>> = found.iter().map(|(line, _)| line.as_deref()).collect();
    assert_eq!(contents, lines(bytes));
    for (line, outcome) in &found {
        check_rejection(outcome);
        if let Some(text) = line.as_deref().and_then(|line| str::from_utf8(line).ok()) {
            check_line(text, outcome);
        } else {
            assert!(matches!(outcome, LineOutcome::Rejected { .. }));
        }
    }
}

/// The lines that are not blank, by a reference implementation.
fn lines(bytes: &[u8]) -> Vec<Option<&[u8]>> {
    let mut parts: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let first = parts.first_mut().expect("there is always one");
    let is_short = first.len() <= LIMIT;
    if let Some(rest) = first.strip_prefix(b"\xEF\xBB\xBF").filter(|_| is_short) {
        *first = rest;
    }
    let is_kept = |line: &&[u8]| line.len() > LIMIT || !line.trim_ascii().is_empty();
    let lines = parts.into_iter().filter(is_kept);
    lines.map(|line| (line.len() <= LIMIT).then(|| line.trim_ascii())).collect()
}

/// An answer is a JSON-RPC error on one line.
fn check_rejection(outcome: &LineOutcome) {
    if let LineOutcome::Rejected { answer } = outcome {
        let message: Value = serde_json::from_str(answer).expect("an answer is JSON");
        assert!(!answer.contains('\n') && message["jsonrpc"] == "2.0");
        assert!(message["error"]["code"].is_i64() && message["error"]["message"].is_string());
        assert!(message.get("id").is_some_and(|id| !id.is_array() && !id.is_object()));
    }
}

fn check_line(text: &str, outcome: &LineOutcome) {
    if serde_json::from_str::<&RawValue>(text).is_err() {
        assert!(matches!(outcome, LineOutcome::Rejected { .. }), "not JSON, and not rejected");
        return;
    }
    // The value and the line written from it have no duplicate members.
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return;
    };
    let Some(id) = request_id(&value) else {
        return;
    };
    match &line_outcomes(value.to_string().as_bytes(), usize::MAX, usize::MAX)[..] {
        [(_, LineOutcome::Passed { id: Some(passed) })] => {
            assert!(is_same(passed, id), "{id} has become {passed}");
        }
        [(_, LineOutcome::Rejected { answer })] => {
            let answer: Value = serde_json::from_str(answer).expect("an answer is JSON");
            assert!(is_same(&answer["id"], id), "{id} has become {}", answer["id"]);
        }
        other => panic!("a request without an answer: {other:?}"),
    }
}

/// Whether two ids are equal. 1.0 is an integer in JSON, and written as 1; a number with many
/// digits is rounded.
fn is_same(one: &Value, other: &Value) -> bool {
    let is_near = |one: f64, other: f64| (one - other).abs() <= one.abs() * 1e-14;
    let is_close = one.as_f64().zip(other.as_f64()).is_some_and(|(a, b)| is_near(a, b));
    one == other || other.is_f64() && is_close
}

/// The id, if the message is a request.
fn request_id(value: &Value) -> Option<&Value> {
    let is_request = value["jsonrpc"] == "2.0"
        && value["method"].is_string()
        && value.get("result").is_none()
        && value.get("error").is_none();
    value.get("id").filter(|id| is_request && (id.is_string() || id.is_number()))
}
