//! Values of the forms that keys take.

use super::Reader;
use super::entry::Entry;
use crate::expand::{Reference, Unexpanded, expand};
use crate::fault::Fault;
use crate::findings::Place;
use crate::foreign;
use crate::text::McpText;
use serde_json::{Map, Value};
use tool_runtime_core::Secret;
use tool_runtime_core::seam::nearest;

/// Stands in for a text that is not to be had. What it stands in is never handed out.
const STAND_IN: &str = "unknown";

impl Reader<'_> {
    /// `true` or `false`.
    pub(super) fn flag(&mut self, entry: &mut Entry<'_>, keys: &[&'static str]) -> Option<bool> {
        let given = entry.one_of(keys, self.findings)?;
        let flag = given.value.as_bool();
        if flag.is_none() {
            self.findings.wrong(&given.place, "must be a boolean", "write `true` or `false`");
        }
        flag
    }

    /// A text that is taken as it is.
    pub(super) fn plain(&mut self, entry: &mut Entry<'_>, keys: &[&'static str]) -> Option<String> {
        let given = entry.one_of(keys, self.findings)?;
        self.string(&given.place, given.value).map(str::to_owned)
    }

    /// A text with its references replaced. Where there is none, which ends the reading, another
    /// stands in for it, so that the rest of the entry is checked all the same.
    pub(super) fn text(&mut self, place: &Place, value: &Value) -> McpText {
        let Some(written) = scalar(value) else {
            self.findings.wrong(place, "must be a string", "write it in quotes");
            return McpText::from(STAND_IN);
        };
        self.expanded(place, &written).unwrap_or_else(|| McpText::from(STAND_IN))
    }

    pub(super) fn secret(&mut self, place: &Place, value: &Value) -> Secret {
        Secret::from(self.text(place, value).as_str())
    }

    pub(super) fn string<'a>(&mut self, place: &Place, value: &'a Value) -> Option<&'a str> {
        let text = value.as_str();
        if text.is_none() {
            self.findings.wrong(place, "must be a string", "write it in quotes");
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
            self.findings.wrong(place, "must be an object", r#"write `{ "NAME": .. }`"#);
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
            self.findings.wrong(place, "must be a list", r#"write `["..", ".."]`"#);
            return None;
        };
        Some(items.iter().enumerate().map(|(index, item)| (place.index(index), item)).collect())
    }

    /// The text that a written one stands for. Where the server is disabled it is left as it is
    /// if it cannot be expanded.
    pub(super) fn expanded(&mut self, place: &Place, written: &str) -> Option<McpText> {
        let (sources, found) = (self.sources, &mut self.found);
        let look_up = |reference: &Reference<'_>| {
            let value = sources.find(reference)?;
            found.insert(reference.name.to_owned(), Secret::from(&*value));
            Some(value)
        };
        match expand(written, look_up) {
            Ok(value) => {
                self.warn_of_other_ways(place, written);
                Some(McpText::expanded(value, written))
            }
            Err(mistakes) => {
                for mistake in mistakes {
                    let fault = self.unexpanded(mistake);
                    self.lacks(place, fault);
                }
                self.lacking.is_some().then(|| McpText::from(written))
            }
        }
    }

    /// The value of a variable whose name is given in its place. What is not a usual name is not
    /// told: people write the value there.
    pub(super) fn variable(&mut self, place: &Place, name: &str) -> Secret {
        let reference = Reference { name, is_environment: false, default: None };
        if let Some(value) = self.sources.find(&reference) {
            self.found.insert(name.to_owned(), Secret::from(&*value));
            return Secret::from(value);
        }
        let is_usual =
            |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        if !name.is_empty() && name.bytes().all(is_usual) {
            let fault = self.unresolved(reference);
            self.lacks(place, fault);
        } else {
            let text = "there is no variable by the name that stands here";
            self.lacks(place, Fault::new(text, "write the name of a variable, not its value"));
        }
        Secret::from(STAND_IN)
    }

    /// Notes a missing value: a problem, or, for a disabled server, one to come.
    pub(super) fn lacks(&mut self, place: &Place, fault: Fault) {
        match &mut self.lacking {
            Some(lacking) => lacking.push(place.problem(fault)),
            None => self.findings.fault(place, fault),
        }
    }

    /// The text is not told: a password may look like that.
    fn warn_of_other_ways(&mut self, place: &Place, written: &str) {
        if let Some(way) = foreign::way(written) {
            let text = format!("{way} not expanded, and taken literally");
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
        let remedy = self.sources.remedy(name);
        let help = match (name.split_once(':'), name) {
            (Some(("input", _)), _) => format!("an editor would ask for it; {remedy}"),
            (Some(_), _) | (_, "workspaceFolder" | "userHome" | "cwd" | "pathSeparator" | "/") => {
                format!("an editor would know it; {remedy}")
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
