//! Computes the definition of a transformed tool and the mapping of its arguments, or lists all
//! problems of the transform.

use super::rewrite::{Argument, Mapping};
use super::schema::{self, InputSchema};
use super::{ArgumentTransform, ToolTransform};
use crate::schema::nearest::nearest;
use crate::tool::arguments::parameter::Parameter;
use crate::tool::tool::definition::ToolDefinition;
use serde_json::Value;
use std::collections::BTreeSet;

/// The definition after a transform, and the mapping of arguments to those of the tool.
///
/// # Errors
/// All problems, each as a sentence about the tool.
pub(super) fn plan(
    old: &ToolDefinition,
    parameters: &[Parameter],
    transform: &ToolTransform,
) -> Result<(ToolDefinition, Mapping), Vec<String>> {
    let input = InputSchema::new(&old.input_schema);
    let mut problems = problems(&input, transform);
    if !problems.is_empty() {
        return Err(problems);
    }
    problems.extend(name_conflicts(&input, transform));
    for (name, change) in &transform.arguments {
        problems.extend(schema::problems(&input, name, change));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut definition = new_definition(old, transform);
    let secret = parameters.iter().filter(|parameter| parameter.is_secret);
    let secret: Vec<&str> = secret.map(|parameter| parameter.name).collect();
    definition.input_schema = input.transform(&transform.arguments, &secret);
    Ok((definition, mapping(parameters, transform, &input)))
}

/// The name after a transform.
pub(super) fn new_name(old: &str, transform: &ToolTransform) -> String {
    let name = transform.name.as_deref().unwrap_or(old);
    match &transform.prefix {
        Some(prefix) => format!("{prefix}.{name}"),
        None => name.to_owned(),
    }
}

/// The definition with new descriptions.
fn new_definition(old: &ToolDefinition, transform: &ToolTransform) -> ToolDefinition {
    let mut definition = old.clone();
    definition.name = new_name(&definition.name, transform);
    if let Some(title) = &transform.title {
        definition.title = Some(title.clone());
    }
    if let Some(description) = &transform.description {
        definition.description.clone_from(description);
    }
    for tag in &transform.tags {
        if !definition.tags.contains(tag) {
            definition.tags.push(tag.clone());
        }
    }
    definition
}

fn mapping(
    parameters: &[Parameter],
    transform: &ToolTransform,
    input: &InputSchema<'_>,
) -> Mapping {
    let argument = |name: &str, change: &ArgumentTransform| {
        let parameter = parameters.iter().find(|parameter| parameter.name == name);
        let default = change.default.as_ref().filter(|_| !change.is_hidden());
        let new_name = || change.name.clone().unwrap_or_else(|| name.to_owned());
        Argument {
            original: name.to_owned(),
            advertised: (!change.is_hidden()).then(new_name),
            aliases: parameter.map_or(&[], |parameter| parameter.aliases),
            constant: change.constant().map(Value::to_string),
            default: default.map(Value::to_string),
            takes_null: input.accepts(name, &Value::Null),
        }
    };
    let mut arguments: Vec<Argument> =
        transform.arguments.iter().map(|(name, change)| argument(name, change)).collect();
    if !arguments.is_empty() {
        // Aliases of other arguments are resolved as well, so that errors do not mention them.
        let is_other = |parameter: &&Parameter| {
            !parameter.aliases.is_empty() && !transform.arguments.contains_key(parameter.name)
        };
        let others = parameters.iter().filter(is_other);
        arguments
            .extend(others.map(|parameter| argument(parameter.name, &ArgumentTransform::new())));
    }
    Mapping { arguments, narrowed: input.narrowing(&transform.arguments) }
}

fn problems(input: &InputSchema<'_>, transform: &ToolTransform) -> Vec<String> {
    let mut problems = Vec::new();
    if transform.prefix.as_ref().is_some_and(String::is_empty) {
        problems.push("its new prefix is empty; leave it out".to_owned());
    }
    for (name, change) in &transform.arguments {
        if input.property(name).is_none() {
            problems.push(unknown_argument(input, name));
        }
        let contradictions = change.problems().into_iter();
        problems.extend(contradictions.map(|problem| format!("argument `{name}` {problem}")));
    }
    problems
}

fn unknown_argument(input: &InputSchema<'_>, name: &str) -> String {
    let names: Vec<&str> = input.names().collect();
    let help = match (nearest(name, names.iter().copied(), 1).first(), names.as_slice()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => "it has no arguments".to_owned(),
        (None, names) => format!("its arguments are `{}`", names.join("`, `")),
    };
    format!("it has no argument `{name}`; {help}")
}

/// Finds arguments that would have the same name.
fn name_conflicts(input: &InputSchema<'_>, transform: &ToolTransform) -> Vec<String> {
    let (mut seen, mut problems) = (BTreeSet::new(), Vec::new());
    for name in input.names() {
        let change = transform.arguments.get(name);
        if change.is_some_and(ArgumentTransform::is_hidden) {
            continue;
        }
        let name = change.and_then(|change| change.name.as_deref()).unwrap_or(name);
        if !seen.insert(name) {
            problems
                .push(format!("two of its arguments would be named `{name}`; rename one of them"));
        }
    }
    problems
}
