//! The entry of a server in the file of a client.

use crate::client::Shape;
use serde_json::{Map, Value, json};

/// How a client starts a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
}

impl Entry {
    /// The members of the entry, in the order in which they are written.
    pub(crate) fn members(&self, shape: Shape) -> Map<String, Value> {
        let env: Map<_, _> =
            self.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
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
        if !env.is_empty() {
            members.insert(environment(shape).to_owned(), Value::Object(env));
        }
        members
    }

    /// Reads an entry. Members of a wrong type are left out: files of clients are written by others.
    pub(crate) fn read(shape: Shape, members: &Value) -> Self {
        let texts = |name: &str| -> Vec<String> {
            let values = members.get(name).and_then(Value::as_array).into_iter().flatten();
            values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
        };
        let env = members.get(environment(shape)).and_then(Value::as_object).into_iter().flatten();
        let env = env.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        let (command, args) = match shape {
            Shape::OpenCode => {
                let mut line = texts("command").into_iter();
                (line.next(), line.collect())
            }
            _ => (members.get("command").and_then(Value::as_str).map(str::to_owned), texts("args")),
        };
        Self { command: command.unwrap_or_default(), args, env: env.collect() }
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
            env: vec![("TOKEN".into(), "a\"b".into())],
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
}
