//! The outcome of a call as JSON: a result of MCP, or an error.

use crate::names::RunnerId;
use crate::payload::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_runtime_core::tool::Observation;
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};

/// The most levels of arrays and objects of an outcome: as many as `serde_json` reads.
const MAX_DEPTH: usize = 128;

/// An outcome, to be written.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Written<'a> {
    Ok(&'a Observation),
    Error(&'a CallError),
}

/// An outcome, as another process wrote it.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Read {
    Ok(Observation),
    Error(Failure),
}

/// An error, of any version.
#[derive(Deserialize)]
struct Failure {
    class: String,
    message: String,
    #[serde(default)]
    detail: Option<String>,
}

/// The JSON of an outcome.
pub(crate) fn write(outcome: Result<&Observation, &CallError>) -> Json {
    Json::from_value(&match outcome {
        Ok(observation) => Written::Ok(observation),
        Err(error) => Written::Error(error),
    })
}

/// The JSON of an error.
pub(crate) fn write_error(class: ErrorClass, message: impl Into<String>) -> Json {
    write(Err(&CallError::new(class, message)))
}

/// The error of a call whose runner is gone.
pub(crate) fn unknown(tool: &str, runner: &RunnerId) -> CallError {
    let text = format!(
        "runner `{runner}` started `{tool}` and is gone, so the outcome is unknown; check whether it had its effect before you call it again"
    );
    CallError::new(ErrorClass::Indeterminate, text)
}

/// Reads the outcome that another process wrote. One that cannot be read is an internal error; so is one that clients could
/// not read, since most parsers have a limit of depth.
pub(crate) fn read(json: &str) -> Result<Observation, CallError> {
    let depth = depth(json);
    if depth > MAX_DEPTH {
        let text = format!(
            "the result of the remote tool has {depth} levels of arrays and objects; at most {MAX_DEPTH} are passed on"
        );
        return Err(CallError::new(ErrorClass::Internal, text));
    }
    // The exact form keeps the issues of arguments.
    if let Ok(Exact::Error(error)) = serde_json::from_str(json) {
        return Err(error);
    }
    match serde_json::from_str(json) {
        Ok(Read::Ok(observation)) => Ok(observation),
        Ok(Read::Error(failure)) => Err(failure.into()),
        Err(error) => {
            let text = "the result of the remote tool cannot be read";
            Err(CallError::new(ErrorClass::Internal, text).with_detail(error.to_string()))
        }
    }
}

/// The levels of arrays and objects of a JSON text.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => depth += 1,
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Exact {
    Error(CallError),
}

impl From<Failure> for CallError {
    fn from(failure: Failure) -> Self {
        let class = ErrorClass::deserialize(Value::from(failure.class));
        let error = Self::new(class.unwrap_or(ErrorClass::Internal), failure.message);
        failure.detail.into_iter().fold(error, Self::with_detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_survive_the_way_there_and_back() {
        let observation = Observation::text("found").with_meta("k", 1);
        assert_eq!(read(write(Ok(&observation)).as_str()).unwrap(), observation);
        let error = CallError::new(ErrorClass::Denied, "no").with_detail("rule 3");
        let back = read(write(Err(&error)).as_str()).unwrap_err();
        assert_eq!(
            (back.class(), back.message(), back.detail()),
            (ErrorClass::Denied, "no", Some("rule 3"))
        );
    }

    #[test]
    fn an_outcome_that_clients_could_not_read_is_refused() {
        let nested = |levels: usize| {
            let value = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            read(&format!(
                r#"{{"ok":{{"content":[],"structuredContent":{{"a":{value},"t":"\"[[{{"}}}}}}"#
            ))
        };
        assert!(nested(MAX_DEPTH - 3).is_ok());
        let error = nested(MAX_DEPTH - 2).unwrap_err();
        assert!(error.message().contains("has 129 levels"), "{error}");
        assert_eq!(nested(100_000).unwrap_err().class(), ErrorClass::Internal);
    }

    #[test]
    fn an_error_of_a_newer_version_keeps_its_message() {
        let json = r#"{"error":{"class":"haunted","message":"a ghost","level":7}}"#;
        let error = read(json).unwrap_err();
        assert_eq!((error.class(), error.message()), (ErrorClass::Internal, "a ghost"));
        let known = read(r#"{"error":{"class":"denied","message":"no","level":7}}"#).unwrap_err();
        assert_eq!(known.class(), ErrorClass::Denied);
        assert_eq!(read("[]").unwrap_err().class(), ErrorClass::Internal);
    }
}
