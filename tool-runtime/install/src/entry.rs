//! The entry of a server in the file of a client.

use crate::client::Shape;
use serde_json::{Map, Value, json};

/// How a client starts a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    /// Values that are no strings were written by others, and stay.
    pub(crate) env: Map<String, Value>,
}

impl Entry {
    /// The members of the entry, in the order in which they are written.
    pub(crate) fn members(&self, shape: Shape) -> Map<String, Value> {
        let mut members = Map::new();
        match shape {
            Shape::Plain => {}
            Shape::Typed => drop(members.insert("type".to_owned(), json!("stdio"))),
            Shape::OpenCode => drop(members.insert("type".to_owned(), json!("local"))),
        }
        if shape == Shape::OpenCode {
            let line: Vec<&String> = [&self.command].into_iter().chain(&self.args).collect();
            members.insert("command".to_owned(), json!(line));
        } else {
            members.insert("command".to_owned(), json!(self.command));
            members.insert("args".to_owned(), json!(self.args));
        }
        if !self.env.is_empty() {
            members.insert(environment(shape).to_owned(), Value::Object(self.env.clone()));
        }
        members
    }

    /// The entry without the values of variables. A value that differs from that of an older entry is marked.
    pub(crate) fn hidden(&self, old: Option<&Self>) -> Self {
        let hide = |(name, value): (&String, &Value)| {
            let is_changed = old.and_then(|old| old.env.get(name)).is_some_and(|old| old != value);
            (name.clone(), json!(if is_changed { "*** (changed)" } else { "***" }))
        };
        Self { env: self.env.iter().map(hide).collect(), ..self.clone() }
    }

    /// Reads an entry. Members of a wrong type are left out: files of clients are written by others.
    pub(crate) fn read(shape: Shape, members: &Value) -> Self {
        let texts = |name: &str| -> Vec<String> {
            let values = members.get(name).and_then(Value::as_array).into_iter().flatten();
            values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
        };
        let env = members.get(environment(shape)).and_then(Value::as_object).cloned();
        let (command, args) = match shape {
            Shape::OpenCode => {
                let mut line = texts("command").into_iter();
                (line.next(), line.collect())
            }
            _ => (members.get("command").and_then(Value::as_str).map(str::to_owned), texts("args")),
        };
        Self { command: command.unwrap_or_default(), args, env: env.unwrap_or_default() }
    }
}

/// The member that has the environment variables.
fn environment(shape: Shape) -> &'static str {
    match shape {
        Shape::OpenCode => "environment",
        _ => "env",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let entry = Entry {
            command: "/bin/quick".into(),
            args: vec!["serve".into(), "--allow=git.*".into()],
            env: [("TOKEN".to_owned(), json!("a\"b"))].into_iter().collect(),
        };
        for shape in [Shape::Plain, Shape::Typed, Shape::OpenCode] {
            let members = Value::Object(entry.members(shape));
            assert_eq!(Entry::read(shape, &members), entry, "{members}");
        }
        assert_eq!(
            Entry::read(Shape::Plain, &json!({ "command": 5, "args": "x" })),
            Entry::default()
        );
    }

    #[test]
    fn values_of_variables_are_hidden() {
        let entry = |value: &str| Entry {
            env: [("TOKEN".to_owned(), json!(value))].into_iter().collect(),
            ..Entry::default()
        };
        assert_eq!(entry("a").hidden(None).env["TOKEN"], "***");
        assert_eq!(entry("a").hidden(Some(&entry("b"))).env["TOKEN"], "*** (changed)");
    }
}
