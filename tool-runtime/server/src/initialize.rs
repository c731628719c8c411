//! Rejects an `initialize` that lacks a member, in the terms of its own version.
//!
//! rmcp takes it for a request of a later version, and would ask for the metadata of that version.

use crate::rejection::Rejection;
use rmcp::model::{ConstString as _, ErrorData, InitializeResultMethod};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Member of `_meta` that a request of 2026-07-28 or later has.
const VERSION: &str = "/_meta/io.modelcontextprotocol~1protocolVersion";

/// The required members of the parameters, with the kind of their values.
const REQUIRED: [(&str, Kind); 5] = [
    ("protocolVersion", Kind::String),
    ("capabilities", Kind::Object),
    ("clientInfo", Kind::Object),
    ("clientInfo.name", Kind::String),
    ("clientInfo.version", Kind::String),
];

#[derive(Clone, Copy)]
enum Kind {
    String,
    Object,
}

#[derive(Deserialize)]
struct Initialize<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(default)]
    params: Value,
}

/// The rejection of an `initialize` whose parameters lack members or have some of a wrong kind.
pub(crate) fn unusable_initialize(line: &str) -> Option<Rejection> {
    if !line.contains(InitializeResultMethod::VALUE) {
        return None;
    }
    let request = serde_json::from_str::<Initialize<'_>>(line).ok()?;
    if request.method != InitializeResultMethod::VALUE || request.params.pointer(VERSION).is_some()
    {
        return None;
    }
    let problems = problems(&request.params);
    if problems.is_empty() {
        return None;
    }
    let text = format!("invalid `initialize`: {}", problems.join("; "));
    Some(Rejection::new(Some(request.id), ErrorData::invalid_params(text, None)))
}

fn problems(params: &Value) -> Vec<String> {
    if !params.is_object() {
        return vec!["`params` must be an object".to_owned()];
    }
    let problem = |(path, kind): &(&str, Kind)| kind.problem(path, params);
    REQUIRED.iter().filter_map(problem).collect()
}

impl Kind {
    /// `None` also if the object around the member is missing, which is a problem of its own.
    fn problem(self, path: &str, params: &Value) -> Option<String> {
        let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
        let parent = if parent.is_empty() { params } else { &params[parent] };
        let expected = match self {
            Self::String => "a string",
            Self::Object => "an object",
        };
        match parent.as_object()?.get(name) {
            Some(Value::String(_)) if matches!(self, Self::String) => None,
            Some(Value::Object(_)) if matches!(self, Self::Object) => None,
            Some(_) => Some(format!("`{path}` must be {expected}")),
            None => Some(format!("`{path}` is missing; send {expected}")),
        }
    }
}
