//! The ways in: a schema, and the arguments or the result of one call.

use serde_json::Value;

use crate::issue::Issue;
use crate::schema::check::findings::Findings;
use crate::schema::check::kind::Kind;
use crate::schema::check::place::Whole;
use crate::schema::check::walk::Walker;
use crate::schema::engine::{self, Engine};

/// Everything that is wrong with `arguments`: in the order of the schema's properties, unknown ones after them.
///
/// At most 32 issues are given, each once. Values and schemas that are nested too deeply, or too tangled, to be walked
/// to the end give an issue that says so: what was not checked must not pass for checked.
pub fn check(schema: &Value, arguments: &Value) -> Vec<Issue> {
    let kind = Kind::of(arguments);
    if kind != Kind::Object {
        let message = format!("the arguments must be a JSON object, got {}", kind.with_article());
        return vec![Issue::new("", "type", message)];
    }
    walked(schema, arguments, Whole::Arguments)
}

/// Everything that is wrong with a tool's structured `result`, which may be of any kind; as many issues as [`check`]
/// gives.
pub(crate) fn check_result(schema: &Value, result: &Value) -> Vec<Issue> {
    walked(schema, result, Whole::Result)
}

/// Everything that is wrong with the parameters of a configuration, as many issues as [`check`] gives.
pub(crate) fn check_params(schema: &Value, params: &Value) -> Vec<Issue> {
    walked(schema, params, Whole::Params)
}

fn walked(schema: &Value, value: &Value, whole: Whole) -> Vec<Issue> {
    walked_with(engine::linked(), schema, value, whole)
}

/// The walk, with or without what checks patterns and formats.
pub(super) fn walked_with(
    engine: Option<&'static Engine>,
    schema: &Value,
    value: &Value,
    whole: Whole,
) -> Vec<Issue> {
    let walker = Walker::new(schema, value, engine);
    let mut found = Findings::default();
    walker.walk(schema, value, &walker.start(whole, value), &mut found);
    found.into_issues(walker.gave_up())
}
