//! Values of the forms that keys take.

use super::Reader;
use super::entry::Entry;
use crate::mcp::config::expand::{Reference, Unexpanded, expand};
use crate::mcp::config::fault::Fault;
use crate::mcp::config::findings::Place;
use crate::mcp::config::text::McpText;
use crate::schema::nearest::nearest;
use crate::secret::Secret;
use serde_json::{Map, Value};

impl<'r> Reader<'r> {
    /// `true` or `false`.
    pub(super) fn flag(&mut self, entry: &mut Entry<'_>, keys: &[&'static str]) -> Option<bool> {
        let given = entry.one_of(keys, self.findings)?;
        let flag = given.value.as_bool();
        if flag.is_none() {
            self.findings.wrong(&given.place, "it is no flag", "write `true` or `false`");
        }
        flag
    }

    /// A text that is taken as it is.
    pub(super) fn plain(&mut self, entry: &mut Entry<'_>, keys: &[&'static str]) -> Option<String> {
        let given = entry.one_of(keys, self.findings)?;
        self.string(&given.place, given.value).map(str::to_owned)
    }

    /// A text with its references replaced.
    pub(super) fn text(&mut self, place: &Place, value: &Value) -> Option<McpText> {
        let written = scalar(value);
        if written.is_none() {
            self.findings.wrong(place, "it is no text", "write a text in quotes");
        }
        self.expanded(place, &written?)
    }

    pub(super) fn secret(&mut self, place: &Place, value: &Value) -> Option<Secret> {
        self.text(place, value).map(|text| Secret::from(text.as_str()))
    }

    pub(super) fn string<'a>(&mut self, place: &Place, value: &'a Value) -> Option<&'a str> {
        let text = value.as_str();
        if text.is_none() {
            self.findings.wrong(place, "it is no text", "write a text in quotes");
        }
        text
    }

    pub(super) fn object<'a>(
        &mut self,
        place: &Place,
        value: &'a Value,
    ) -> Option<&'a Map<String, Value>> {
        let object = value.as_object();
        if object.is_none() {
            self.findings.wrong(place, "it is no object", r#"write `{ "NAME": .. }`"#);
        }
        object
    }

    /// The items of a list, each with its place.
    pub(super) fn list<'a>(
        &mut self,
        place: &Place,
        value: &'a Value,
    ) -> Option<Vec<(Place, &'a Value)>> {
        let Value::Array(items) = value else {
            self.findings.wrong(place, "it is no list", r#"write `["..", ".."]`"#);
            return None;
        };
        Some(items.iter().enumerate().map(|(index, item)| (place.index(index), item)).collect())
    }

    /// The text that a written one stands for. Where the server is disabled it is left as it is
    /// if it cannot be expanded.
    pub(super) fn expanded(&mut self, place: &Place, written: &str) -> Option<McpText> {
        let sources = self.sources;
        match expand(written, |reference| sources.find(reference)) {
            Ok(value) => {
                self.warn_of_other_ways(place, written);
                Some(McpText::expanded(value, written))
            }
            Err(_) if self.is_disabled => Some(McpText::from(written)),
            Err(mistakes) => {
                for mistake in mistakes {
                    let fault = self.unexpanded(mistake);
                    self.findings.fault(place, fault);
                }
                None
            }
        }
    }

    /// The value of a variable whose name is given in its place, as for `${NAME}`.
    pub(super) fn variable(&mut self, place: &Place, name: &str) -> Option<Secret> {
        let written = format!("${{{name}}}");
        self.expanded(place, &written).map(|text| Secret::from(text.as_str()))
    }

    /// Ways of other programs to refer to a variable, which stay as they are here. The text is
    /// not told: a password may look like that.
    fn warn_of_other_ways(&mut self, place: &Place, written: &str) {
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        let rest = written.strip_prefix("Bearer ").unwrap_or(written);
        if rest.strip_prefix('$').is_some_and(is_name) {
            let text = "`$` and a name are not expanded, and sent as they are";
            self.findings.warn(place, text, "write `${NAME}` if a variable is meant");
        }
        if ["{env:", "{file:"].iter().any(|way| rest.replace("${", "").contains(way)) {
            let text = "`{env:..}` and `{file:..}` are not expanded, and sent as they are";
            self.findings.warn(place, text, "write `${NAME}` if a variable is meant");
        }
    }

    fn unexpanded(&self, mistake: Unexpanded<'_>) -> Fault {
        match mistake {
            Unexpanded::Unclosed => {
                Fault::new("a `${` is never closed", "add `}`, or write `$${` for a literal `${`")
            }
            Unexpanded::Unnamed => Fault::new(
                "a `${..}` names no variable",
                "write `${NAME}`, or `$${` for a literal `${`",
            ),
            Unexpanded::Form(name) => Fault::new(
                format!("`${{{name}..}}` is of a form that is not known"),
                "write `${NAME}` or `${NAME:-default}`, or `$${` for a literal `${`",
            ),
            Unexpanded::Nested(name) => Fault::new(
                format!("there is a `${{` within `${{{name}..}}`"),
                "write the default itself, or choose between variables in the host program",
            ),
            Unexpanded::Recursive(name) => Fault::new(
                format!("the value of `{name}` holds a `${{`, which is not expanded again"),
                format!("set `{name}` to the text that is meant"),
            ),
            Unexpanded::Unresolved(reference) => self.unresolved(reference),
        }
    }

    fn unresolved(&self, reference: Reference<'_>) -> Fault {
        let Reference { name, is_environment, .. } = reference;
        let asked = self.sources.kinds(is_environment);
        let way = if is_environment { "env:" } else { "" };
        let text = format!("`${{{way}{name}}}` has no value (asked: {asked})");
        let help = match (name.split_once(':'), name) {
            (Some(("input", _)), _) => {
                format!("an editor would ask for it; here the host gives a variable `{name}`")
            }
            (Some(_), _) | (_, "workspaceFolder" | "userHome" | "cwd" | "pathSeparator" | "/") => {
                format!("an editor would know it; here the host gives a variable `{name}`")
            }
            _ if asked == "nothing" => "have the loader ask the environment".to_owned(),
            _ => format!("set `{name}`, or write `${{{way}{name}:-default}}`"),
        };
        let near = nearest(name, self.sources.names(is_environment), 1);
        let near = near.first().map(|near| format!("; did you mean `{near}`?"));
        Fault::new(text, help + &near.unwrap_or_default())
    }
}

/// A text, or what stands for one: people write `"PORT": 8080`.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
