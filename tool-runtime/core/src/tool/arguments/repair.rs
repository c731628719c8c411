//! Corrects arguments and names of models where the schema allows only one interpretation.
//!
//! Repairs are tried only for a call that would be rejected: valid input is never altered.

mod arguments;
mod json;
mod name;
#[cfg(test)]
mod tests;

use super::Arguments;
use crate::schema::Applicable;
use crate::schema::check::check;
use crate::tool::results::observation::Observation;
use crate::tool::tool::Tool;
use serde_json::{Map, Value};
use std::fmt;

/// The metadata of a result that lists the repairs of its call.
const META: &str = "tool-runtime/repairs";

/// Repairs arguments that would be rejected. `is_rejected` is the result of decoding; tools without an action do not
/// decode, and their schema decides.
pub(crate) fn repair_arguments(
    tool: &Tool,
    text: &str,
    is_rejected: bool,
) -> Option<(String, Vec<Repair>)> {
    let schema = &tool.definition().input_schema;
    if tool.has_action() {
        return if is_rejected { repair_action(tool, text) } else { None };
    }
    let whole = Value::Object(schema.clone());
    let conforms = |text: &str| {
        let value = serde_json::from_str(text);
        value.is_ok_and(|value| check(&whole, &value).is_empty())
    };
    if conforms(text) {
        return None;
    }
    arguments::repair(schema, text).filter(|(repaired, _)| conforms(repaired))
}

/// The repairs of a schema do not reach arguments by other names, so these get the advertised ones before.
fn repair_action(tool: &Tool, text: &str) -> Option<(String, Vec<Repair>)> {
    let schema = &tool.definition().input_schema;
    let Some((renamed, mut repairs)) = with_advertised_names(tool, text) else {
        return arguments::repair(schema, text);
    };
    let Some((arguments, others)) = arguments::repair(schema, &renamed) else {
        return Some((renamed, repairs));
    };
    repairs.extend(others);
    Some((arguments, repairs))
}

/// The arguments with those by other names under the advertised ones. One that is `null`, or the same as under its
/// advertised name, is left out. `None` if there are none, or some are given twice.
fn with_advertised_names(tool: &Tool, text: &str) -> Option<(String, Vec<Repair>)> {
    let mut given: Map<String, Value> = serde_json::from_str(Arguments::new(text).as_str()).ok()?;
    let is_alias = |name: &&String| tool.argument_name(name) != name.as_str();
    let others: Vec<String> = undeclared(tool, &given).filter(is_alias).cloned().collect();
    let mut repairs = Vec::new();
    for other in others {
        let (at, value) = (tool.argument_name(&other).to_owned(), given.shift_remove(&other)?);
        match given.get(&at) {
            Some(same) if value.is_null() || *same == value => {}
            Some(_) => return None,
            None => drop(given.insert(at.clone(), value)),
        }
        repairs.push(Repair { at, kind: RepairKind::ArgumentName });
    }
    (!repairs.is_empty()).then(|| (Value::Object(given).to_string(), repairs))
}

/// The arguments as JSON, if their text is nearly JSON.
pub(crate) fn repair_json(text: &str) -> Option<(String, Vec<Repair>)> {
    let mut repairs = Vec::new();
    let value = json::parse(text, &mut repairs)?;
    Some((value.to_string(), repairs))
}

/// The only tool that a malformed name can refer to.
pub(crate) fn repair_name(tools: &[Tool], written: &str) -> Option<String> {
    let names = tools.iter().map(Tool::name);
    let nearest = name::nearest_name(written, names).map(str::to_owned);
    nearest.or_else(|| {
        let bare = name::bare(written);
        let mut named = tools.iter().filter(|tool| tool.has_other_name(&bare));
        let found = named.next()?.name().to_owned();
        named.next().is_none().then_some(found)
    })
}

/// The arguments that are given by names that the tool accepts and the schema does not list.
pub(crate) fn other_names(tool: &Tool, text: &str) -> Vec<Repair> {
    let given = serde_json::from_str::<Map<String, Value>>(Arguments::new(text).as_str());
    let given = given.unwrap_or_default();
    let names = undeclared(tool, &given).map(|name| tool.argument_name(name).to_owned());
    names.map(|at| Repair { at, kind: RepairKind::ArgumentName }).collect()
}

/// The names of arguments that the schema does not list.
fn undeclared<'a>(tool: &Tool, given: &'a Map<String, Value>) -> impl Iterator<Item = &'a String> {
    let schema = Applicable::of_object(&tool.definition().input_schema);
    given.keys().filter(move |name| !schema.takes_name(name))
}

/// Lists the repairs in the metadata of a result.
pub(crate) fn note(observation: Observation, repairs: &[Repair]) -> Observation {
    let repairs: Vec<Value> = repairs.iter().map(|repair| repair.to_string().into()).collect();
    observation.with_meta(META, repairs)
}

/// A correction of a call that a model wrote.
///
/// [`ToolPoolBuilder::repair`](crate::pool::ToolPoolBuilder::repair) has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// The path in the arguments, as errors name it: `filter.limit`. Empty for the arguments as a
    /// whole and for the name of the tool.
    pub at: String,
    /// The kind of correction.
    pub kind: RepairKind,
}

impl Repair {
    pub(crate) fn tool_name() -> Self {
        Self { at: String::new(), kind: RepairKind::ToolName }
    }
}

/// The kind of a [`Repair`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepairKind {
    /// The name of the tool was written with a prefix, in XML, or in another case, or is another one of the tool.
    ToolName,
    /// Control characters in a string were not escaped.
    ControlCharacters,
    /// Text followed the last bracket.
    TrailingText,
    /// An object or a list was written as a string.
    StringifiedJson,
    /// A number was written as a string.
    StringifiedNumber,
    /// A boolean was written as a string.
    StringifiedBoolean,
    /// An optional argument was `null`, which it does not accept.
    NullForAbsent,
    /// An argument's name was written in another case or with other separators, or is another one that the tool accepts.
    ArgumentName,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let correction = match self.kind {
            RepairKind::ToolName => return f.write_str("corrected the name of the tool"),
            RepairKind::ControlCharacters => "escaped control characters",
            RepairKind::TrailingText => "removed text after the last bracket",
            RepairKind::StringifiedJson => "parsed JSON from a string",
            RepairKind::StringifiedNumber => "parsed a number from a string",
            RepairKind::StringifiedBoolean => "parsed a boolean from a string",
            RepairKind::NullForAbsent => "removed `null`",
            RepairKind::ArgumentName => "corrected the name",
        };
        match self.at.as_str() {
            "" => write!(f, "arguments: {correction}"),
            at => write!(f, "`{at}`: {correction}"),
        }
    }
}

/// The letters and digits of a name in lower case, which are equal for names that differ only in
/// style.
pub(crate) fn fold_name(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}
