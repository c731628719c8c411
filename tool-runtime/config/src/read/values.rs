//! Reads values by type.

use super::Reader;
use super::entry::Entry;
use crate::expand::{ExpandError, Reference, expand};
use crate::findings::Location;
use crate::findings::ValueProblem;
use crate::foreign;
use crate::text::McpText;
use serde_json::{Map, Value};
use tool_runtime_core::seam::nearest;
use tool_runtime_core::vocabulary::Secret;

/// Placeholder for an invalid text, so that the rest of the entry is checked.
const PLACEHOLDER: &str = "unknown";

impl Reader<'_> {
    /// `true` or `false`.
    pub(super) fn flag(&mut self, entry: &mut Entry<'_>, keys: &[&'static str]) -> Option<bool> {
        let member = entry.one_of(keys, self.findings)?;
        let flag = member.value.as_bool();
        if flag.is_none() {
            self.findings.problem(&member.location, "must be a boolean", "write `true` or `false`");
        }
        flag
    }

    /// A text without expansion.
    pub(super) fn plain(&mut self, entry: &mut Entry<'_>, keys: &[&'static str]) -> Option<String> {
        let member = entry.one_of(keys, self.findings)?;
        self.string(&member.location, member.value).map(str::to_owned)
    }

    /// A list of strings without expansion.
    pub(super) fn names(&mut self, entry: &mut Entry<'_>, key: &'static str) -> Vec<String> {
        let Some(member) = entry.one_of(&[key], self.findings) else { return Vec::new() };
        let items = self.list(&member.location, member.value).unwrap_or_default();
        let names = items.into_iter().filter_map(|(location, item)| self.string(&location, item));
        names.map(str::to_owned).collect()
    }

    /// An expanded text. An invalid one is a finding, and a placeholder is returned.
    pub(super) fn text(&mut self, location: &Location, value: &Value) -> McpText {
        let Some(written) = scalar(value) else {
            self.findings.problem(location, "must be a string", "write it in quotes");
            return McpText::from(PLACEHOLDER);
        };
        self.expanded(location, &written).unwrap_or_else(|| McpText::from(PLACEHOLDER))
    }

    pub(super) fn secret(&mut self, location: &Location, value: &Value) -> Secret {
        Secret::from(self.text(location, value).as_str())
    }

    pub(super) fn string<'a>(&mut self, location: &Location, value: &'a Value) -> Option<&'a str> {
        let text = value.as_str();
        if text.is_none() {
            self.findings.problem(location, "must be a string", "write it in quotes");
        }
        text
    }

    pub(super) fn object<'a>(
        &mut self,
        location: &Location,
        value: &'a Value,
    ) -> Option<&'a Map<String, Value>> {
        let object = value.as_object();
        if object.is_none() {
            self.findings.problem(location, "must be an object", r#"write `{ "NAME": .. }`"#);
        }
        object
    }

    /// The items of a list, each with its location.
    pub(super) fn list<'a>(
        &mut self,
        location: &Location,
        value: &'a Value,
    ) -> Option<Vec<(Location, &'a Value)>> {
        let Value::Array(items) = value else {
            self.findings.problem(location, "must be a list", r#"write `["..", ".."]`"#);
            return None;
        };
        Some(items.iter().enumerate().map(|(index, item)| (location.index(index), item)).collect())
    }

    /// The expanded text. A text of a disabled server stays unexpanded if it cannot be expanded.
    pub(super) fn expanded(&mut self, location: &Location, written: &str) -> Option<McpText> {
        let (sources, found) = (self.sources, &mut self.found);
        let look_up = |reference: &Reference<'_>| {
            let value = sources.find(reference)?;
            found.insert(reference.name.to_owned(), Secret::from(&*value));
            Some(value)
        };
        match expand(written, look_up) {
            Ok(value) => {
                self.warn_of_foreign_syntax(location, written);
                Some(McpText::expanded(value, written))
            }
            Err(mistakes) => {
                for mistake in mistakes {
                    let problem = self.unexpanded(mistake);
                    self.lacks(location, problem);
                }
                self.lacking.is_some().then(|| McpText::from(written))
            }
        }
    }

    /// The value of a variable that is named by a value. An unusual name is not shown, since it may be the secret itself.
    pub(super) fn variable(&mut self, location: &Location, name: &str) -> Secret {
        let reference = Reference { name, is_environment: false, default: None };
        if let Some(value) = self.sources.find(&reference) {
            self.found.insert(name.to_owned(), Secret::from(&*value));
            return Secret::from(value);
        }
        let is_usual =
            |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        if !name.is_empty() && name.bytes().all(is_usual) {
            let problem = self.unresolved(reference);
            self.lacks(location, problem);
        } else {
            let text = "no variable with the given name is set";
            self.lacks(
                location,
                ValueProblem::new(text, "write the name of a variable, not its value"),
            );
        }
        Secret::from(PLACEHOLDER)
    }

    /// Notes a missing value: a problem now, or, for a disabled server, once it is enabled.
    pub(super) fn lacks(&mut self, location: &Location, problem: ValueProblem) {
        match &mut self.lacking {
            Some(lacking) => lacking.push(location.locate(problem)),
            None => self.findings.add(location, problem),
        }
    }

    /// The text is not shown: it may be a password.
    fn warn_of_foreign_syntax(&mut self, location: &Location, written: &str) {
        if let Some(syntax) = foreign::syntax(written) {
            let text = format!("{syntax} not expanded, and taken literally");
            self.findings.warn(location, text, "write `${NAME}` if a variable is meant");
        }
    }

    fn unexpanded(&self, mistake: ExpandError<'_>) -> ValueProblem {
        match mistake {
            ExpandError::Unclosed => ValueProblem::new(
                "a `${` is never closed",
                "add `}`, or write `$${` for a literal `${`",
            ),
            ExpandError::Unnamed => ValueProblem::new(
                "a `${..}` names no variable",
                "write `${NAME}`, or `$${` for a literal `${`",
            ),
            ExpandError::Form(name) => ValueProblem::new(
                format!("`${{{name}..}}` is of a form that is not known"),
                "write `${NAME}` or `${NAME:-default}`, or `$${` for a literal `${`",
            ),
            ExpandError::Nested(name) => ValueProblem::new(
                format!("there is a `${{` within `${{{name}..}}`"),
                "write the default itself, or choose between variables in the host program",
            ),
            ExpandError::Recursive(name) => ValueProblem::new(
                format!("the value of `{name}` contains a `${{`, which is not expanded again"),
                format!("set `{name}` to the text that is meant"),
            ),
            ExpandError::Unresolved(reference) => self.unresolved(reference),
        }
    }

    fn unresolved(&self, reference: Reference<'_>) -> ValueProblem {
        let Reference { name, is_environment, .. } = reference;
        let sources = self.sources.kinds(is_environment);
        let prefix = if is_environment { "env:" } else { "" };
        let text = format!("`${{{prefix}{name}}}` has no value (asked: {sources})");
        let remedy = self.sources.remedy(name);
        let help = match (name.split_once(':'), name) {
            _ if name.starts_with("user_config.") => {
                format!("only hosts of bundles ask for this value; {remedy}")
            }
            (Some(("input", _)), _) => format!("only editors prompt for this value; {remedy}"),
            (Some(_), _) | (_, "workspaceFolder" | "userHome" | "cwd" | "pathSeparator" | "/") => {
                format!("only editors define this variable; {remedy}")
            }
            _ if sources == "nothing" => "have the loader ask the environment".to_owned(),
            _ => format!("set `{name}`, or write `${{{prefix}{name}:-default}}`"),
        };
        let near = nearest(name, self.sources.names(is_environment), 1);
        let near = near.first().map(|near| format!("; did you mean `{near}`?"));
        ValueProblem::new(text, help + &near.unwrap_or_default())
    }
}

/// A string, number or boolean as text, for entries such as `"PORT": 8080`.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
