//! Arguments for people, without those that are secret.

use crate::tool::call::visual::HIDDEN;
use serde_json::Value;

/// The reason why an edit of arguments does not count.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The text is not a JSON object.
    #[error("not a JSON object: {0}")]
    Invalid(#[from] serde_json::Error),
    /// A hidden value stands where it cannot be told which one it was.
    #[error(
        "a hidden value in `{0}` cannot be restored; write the value itself, or leave what is around it as it was"
    )]
    Hidden(String),
}

/// Gives an edit the values that were hidden in what was displayed. A part that is still as it was displayed gets its own value,
/// in a list by what it is and not by where it stands.
///
/// # Errors
/// A hidden value is left whose own value is not certain.
pub(super) fn restore(edited: &mut Value, masked: &Value, own: &Value) -> Result<(), EditError> {
    Restoration { marks: marks(masked, own), path: Vec::new() }.restore(edited, masked, own)
}

/// The strings that stand for hidden values: that of secret arguments, and `${NAME}` for secrets of the pool.
fn marks(masked: &Value, own: &Value) -> Vec<String> {
    if masked == own {
        return Vec::new();
    }
    let (masked, own) = (masked.to_string(), own.to_string());
    let names = masked.match_indices("${").filter_map(|(at, _)| {
        let end = masked[at..].find('}')?;
        Some(masked[at..=at + end].to_owned())
    });
    names.filter(|mark| !own.contains(mark)).chain([HIDDEN.to_owned()]).collect()
}

struct Restoration {
    marks: Vec<String>,
    /// The keys and numbers that lead to the part at hand.
    path: Vec<String>,
}

impl Restoration {
    fn restore(
        &mut self,
        edited: &mut Value,
        masked: &Value,
        own: &Value,
    ) -> Result<(), EditError> {
        if edited == masked {
            edited.clone_from(own);
            return Ok(());
        }
        match (edited, masked, own) {
            (Value::Object(edited), Value::Object(masked), Value::Object(own)) => {
                edited.iter_mut().try_for_each(|(name, value)| {
                    self.restore_part(name.clone(), value, masked.get(name).zip(own.get(name)))
                })
            }
            (Value::Array(edited), Value::Array(masked), Value::Array(own)) => {
                self.restore_items(edited, masked, own)
            }
            (edited, ..) => self.refuse_marks(edited),
        }
    }

    /// Restores each item that equals a displayed one, at any index. Then restores changed items, if no other item has taken
    /// their index.
    fn restore_items(
        &mut self,
        edited: &mut [Value],
        masked: &[Value],
        own: &[Value],
    ) -> Result<(), EditError> {
        let is_same_length = edited.len() == masked.len();
        let (mut is_taken, mut changed) = (vec![false; masked.len()], Vec::new());
        for (position, item) in edited.iter_mut().enumerate() {
            let is_own = is_same_length && masked[position] == *item;
            let found = if is_own { Some(position) } else { only(item, masked, own) };
            match found {
                Some(at) => {
                    item.clone_from(&own[at]);
                    is_taken[at] = true;
                }
                None => changed.push((position, item)),
            }
        }
        changed.into_iter().try_for_each(|(position, item)| {
            let is_at_index = is_same_length && !is_taken[position];
            let earlier = is_at_index.then(|| (&masked[position], &own[position]));
            self.restore_part(position.to_string(), item, earlier)
        })
    }

    fn restore_part(
        &mut self,
        name: String,
        value: &mut Value,
        earlier: Option<(&Value, &Value)>,
    ) -> Result<(), EditError> {
        self.path.push(name);
        match earlier {
            Some((masked, own)) => self.restore(value, masked, own)?,
            None => self.refuse_marks(value)?,
        }
        self.path.pop();
        Ok(())
    }

    /// Refuses a mark of a hidden value at any depth.
    fn refuse_marks(&self, value: &Value) -> Result<(), EditError> {
        match value {
            Value::String(text) if self.has_mark(text) => {
                Err(EditError::Hidden(self.path.join("/")))
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.refuse_marks(item)),
            Value::Object(members) => {
                members.values().try_for_each(|member| self.refuse_marks(member))
            }
            _ => Ok(()),
        }
    }

    fn has_mark(&self, text: &str) -> bool {
        let is_in = |mark: &String| if mark == HIDDEN { text == mark } else { text.contains(mark) };
        self.marks.iter().any(is_in)
    }
}

/// The position of the item that was displayed so, unless several were whose own values differ.
fn only(item: &Value, masked: &[Value], own: &[Value]) -> Option<usize> {
    let mut equal = (0..masked.len()).filter(|at| masked[*at] == *item);
    let first = equal.next()?;
    equal.all(|at| own[at] == own[first]).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::govern::approval::ApprovalRequest;
    use crate::tool::tool::definition::ToolDefinition;
    use serde_json::json;

    fn definition(schema: Value) -> ToolDefinition {
        let mut definition = ToolDefinition::new("login", "Log in.");
        definition.input_schema = schema.as_object().unwrap().clone();
        definition
    }

    fn request(schema: Value, arguments: &Value) -> ApprovalRequest {
        let request = ApprovalRequest::new("login", arguments.to_string(), "Log in?");
        request.for_people(&definition(schema), None)
    }

    fn server() -> Value {
        json!({
            "properties": { "server": { "$ref": "#/$defs/server" }, "port": {} },
            "$defs": { "server": { "properties": { "host": {}, "password": { "writeOnly": true } } } },
        })
    }

    #[test]
    fn a_person_sees_all_but_the_secrets_of_nested_arguments() {
        let arguments = json!({ "port": 1, "server": { "host": "a", "password": "p" } });
        let masked = r#"{"port":1,"server":{"host":"a","password":"***"}}"#;
        assert_eq!(request(server(), &arguments).display_arguments(), masked);
        let open = json!({ "properties": { "server": { "$ref": "#/$defs/server" } }, "$defs": { "server": {} } });
        assert_eq!(request(open, &arguments).display_arguments(), arguments.to_string());
    }

    #[test]
    fn an_edit_beside_a_hidden_secret_keeps_it() {
        let arguments = json!({ "port": 1, "server": { "host": "a", "password": "p" } });
        let edited = r#"{"port":1,"server":{"host":"b","password":"***"}}"#;
        let expected = r#"{"port":1,"server":{"host":"b","password":"p"}}"#;
        assert_eq!(request(server(), &arguments).edited(edited).unwrap(), expected);
    }

    fn servers() -> ApprovalRequest {
        let schema = json!({ "properties": { "list": { "items": {
            "properties": { "host": {}, "password": { "writeOnly": true } },
        } } } });
        let server = |host: &str, password: &str| json!({ "host": host, "password": password });
        request(schema, &json!({ "list": [server("a", "PA"), server("b", "PB")] }))
    }

    #[track_caller]
    fn assert_edit(list: &str, expected: Result<&str, &str>) {
        let edited = servers().edited(&format!(r#"{{"list":{list}}}"#));
        let edited = edited.map_err(|error| error.to_string());
        let expected = expected.map(|list| format!(r#"{{"list":{list}}}"#));
        let start = "a hidden value in";
        match (edited, expected) {
            (Err(error), Err(at)) => {
                assert!(error.starts_with(&format!("{start} `{at}`")), "{error}");
            }
            (edited, expected) => assert_eq!(edited, expected.map_err(str::to_owned)),
        }
    }

    #[test]
    fn a_hidden_secret_moves_with_its_item() {
        let hidden = |host: &str| format!(r#"{{"host":"{host}","password":"***"}}"#);
        let own =
            |host: &str, password: &str| format!(r#"{{"host":"{host}","password":"{password}"}}"#);
        let (a, b) = (own("a", "PA"), own("b", "PB"));
        assert_edit(&format!("[{},{}]", hidden("b"), hidden("a")), Ok(&format!("[{b},{a}]")));
        assert_edit(&format!("[{}]", hidden("b")), Ok(&format!("[{b}]")));
        let c = own("c", "PA");
        assert_edit(&format!("[{},{}]", hidden("c"), hidden("b")), Ok(&format!("[{c},{b}]")));
        let new = own("new", "PN");
        let added = format!("[{},{},{new}]", hidden("a"), hidden("b"));
        assert_edit(&added, Ok(&format!("[{a},{b},{new}]")));
    }

    #[test]
    fn an_edit_that_leaves_a_secret_without_a_value_is_refused() {
        let hidden = |host: &str| format!(r#"{{"host":"{host}","password":"***"}}"#);
        assert_edit(&format!("[{},{}]", hidden("b"), hidden("c")), Err("list/1"));
        assert_edit(&format!("[{}]", hidden("c")), Err("list/0"));
        assert_edit("\"***\"", Err("list"));
        let equal = json!({ "properties": { "list": { "items": { "writeOnly": true } } } });
        let request = request(equal, &json!({ "list": ["PA", "PB"] }));
        assert!(request.edited(r#"{"list":["***"]}"#).is_err());
        assert_eq!(request.edited(r#"{"list":["***","***"]}"#).unwrap(), r#"{"list":["PA","PB"]}"#);
    }

    #[test]
    fn what_was_not_hidden_may_look_like_a_mark() {
        let request = request(json!({}), &json!({ "path": "a" }));
        let edited = r#"{"path":"${HOME}/***","to":"***"}"#;
        assert_eq!(request.edited(edited).unwrap(), edited);
    }
}
