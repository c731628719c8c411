//! The way in: a schema and the arguments of one call.

use serde_json::Value;

use crate::issue::Issue;
use crate::schema::check::findings::Findings;
use crate::schema::check::kind::Kind;
use crate::schema::check::walk::Walker;

/// Everything that is wrong with `arguments`: in the order of the schema's properties, unknown ones after them.
///
/// At most 32 issues are given, each once. Values and schemas that are nested too deeply, or too tangled, to be walked
/// to the end give an issue that says so: what was not checked must not pass for checked.
pub(crate) fn check(schema: &Value, arguments: &Value) -> Vec<Issue> {
    let kind = Kind::of(arguments);
    if kind != Kind::Object {
        let message = format!("the arguments must be a JSON object, got {}", kind.with_article());
        return vec![Issue::new("", "type", message)];
    }
    let walker = Walker::new(schema, arguments);
    let mut found = Findings::default();
    walker.walk(schema, arguments, &walker.start(arguments), &mut found);
    found.into_issues(walker.gave_up())
}
