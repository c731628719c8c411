//! Checks a JSON value against a JSON Schema (2020-12) and describes every mistake so that a model can correct it.
//!
//! Decoding is the first check of a call. This walker runs when decoding failed, or when the schema asserts more than
//! decoding enforces. It differs from the standard where tools do: a property that is not required may be null, `1.0` is
//! not an integer (serde does not decode it as one), and `format` is asserted. Annotations, unknown keywords, references
//! to other documents and invalid patterns are ignored. A few keywords are not checked; a tool whose schema uses one of
//! them is rejected when it is built ([`problem`]).

mod array;
mod assertions;
mod combine;
mod describe;
mod explain;
mod fields;
mod findings;
mod hide;
mod kind;
mod literal;
mod location;
mod names;
mod number;
mod object;
mod parts;
mod secrets;
mod survey;
mod text;
mod unevaluated;
mod union;
mod variants;
mod walk;
mod wording;

#[cfg(test)]
mod tests;

pub(crate) use self::assertions::{
    asserts_more_than_types, asserts_more_than_written, excludes_all, has_patterns, own_problem,
    problem,
};
pub(crate) use self::fields::{fields_at, holds_secrets, unknown_field};
pub(crate) use self::findings::MAX_ISSUES;
pub use self::hide::hide_secrets;
pub(crate) use self::parts::target_below;
pub(crate) use self::wording::cut;

use self::findings::Findings;
use self::kind::Kind;
use self::location::DocumentKind;
use self::walk::Walker;
use crate::schema::engine::{self, Engine};
use crate::vocabulary::error::Issue;
use serde_json::Value;

/// Returns all issues of `arguments`, in the order of the schema's properties, with unknown ones last.
///
/// Returns at most 32 issues, without duplicates. Values and schemas that are too deeply nested or too complex to be
/// checked completely are an issue themselves.
pub fn check(schema: &Value, arguments: &Value) -> Vec<Issue> {
    let kind = Kind::of(arguments);
    if kind != Kind::Object {
        let message = format!("the arguments must be a JSON object, got {}", kind.with_article());
        return vec![Issue::new("", "type", message)];
    }
    walked(schema, arguments, DocumentKind::Arguments)
}

/// Returns the issues of a tool's structured `result`, which may be of any kind. Same limit as [`check`].
pub(crate) fn check_result(schema: &Value, result: &Value) -> Vec<Issue> {
    walked(schema, result, DocumentKind::Result)
}

/// Returns the issues of the parameters of a configuration. Same limit as [`check`].
pub(crate) fn check_params(schema: &Value, params: &Value) -> Vec<Issue> {
    walked(schema, params, DocumentKind::Params)
}

fn walked(schema: &Value, value: &Value, whole: DocumentKind) -> Vec<Issue> {
    walked_with(engine::linked(), schema, value, whole)
}

/// Walks the value, with or without the engine for patterns and formats.
fn walked_with(
    engine: Option<&'static Engine>,
    schema: &Value,
    value: &Value,
    whole: DocumentKind,
) -> Vec<Issue> {
    let walker = Walker::new(schema, value, engine).of(whole);
    let mut found = Findings::default();
    walker.walk(schema, value, &walker.start(whole, value), &mut found);
    found.into_issues(walker.gave_up())
}
