//! How people see a call: at a terminal, in a form, in an inbox.

use crate::schema::check::hide_secrets;
use crate::vocabulary::printable::{is_deceptive, printable, printable_lines, push_escape};
use serde_json::{Map, Value};
use std::fmt::{self, Write as _};

/// Limit on the characters of one text in the arguments.
const MAX_TEXT: usize = 1_000;
/// Limit on the members of one object or list.
const MAX_MEMBERS: usize = 50;
/// Limit on the characters of a call.
const MAX_CALL: usize = 20_000;

/// Replaces a secret argument.
pub(crate) const HIDDEN: &str = "***";

/// The arguments as JSON text without those that the schema marks as secret.
pub(crate) fn shown_arguments(arguments: &str, schema: &Map<String, Value>) -> String {
    let Ok(values) = serde_json::from_str::<Value>(arguments) else {
        // Secrets cannot be found in it.
        let mut text = Value::from(arguments);
        hide_secrets(&mut text, schema, HIDDEN);
        return text.as_str().unwrap_or(HIDDEN).to_owned();
    };
    let mut shown = values.clone();
    hide_secrets(&mut shown, schema, HIDDEN);
    // The text of the model, where nothing is hidden.
    match shown == values {
        true => arguments.to_owned(),
        false => shown.to_string(),
    }
}

/// `tool(name: value, ..)` on one line, without secret arguments. Names and strings are escaped, so that none looks like
/// another argument or another line. Long ones are shortened, and say how long they are.
pub(crate) fn call(tool: &str, arguments: &str, schema: &Map<String, Value>) -> String {
    let shown = shown_arguments(arguments, schema);
    let Ok(Value::Object(members)) = serde_json::from_str(&shown) else {
        return format!("{}(?)", printable(tool));
    };
    let mut text = printable(tool);
    text.push('(');
    write_members(&mut text, &members, Parent::Call);
    text.push(')');
    own(&text)
}

/// The text that a tool writes about a call of itself: its lines are kept, and none controls a terminal or is invisible.
pub(crate) fn own(text: &str) -> String {
    let Some((cut, _)) = text.char_indices().nth(MAX_CALL) else { return printable_lines(text) };
    format!("{} .. ({} in all)", printable_lines(&text[..cut]), Size(text.len()))
}

/// What members belong to: names of arguments are written bare if they are words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parent {
    Call,
    Value,
}

fn write_members(text: &mut String, members: &Map<String, Value>, parent: Parent) {
    for (position, (name, value)) in members.iter().take(MAX_MEMBERS).enumerate() {
        if position > 0 {
            text.push_str(", ");
        }
        match parent == Parent::Call && is_word(name) {
            true => text.push_str(name),
            false => write_text(text, name),
        }
        text.push_str(": ");
        write_value(text, value);
    }
    write_rest(text, members.len());
}

fn write_value(text: &mut String, value: &Value) {
    match value {
        Value::String(value) if value == HIDDEN => text.push_str(HIDDEN),
        Value::String(value) => write_text(text, value),
        Value::Array(items) => {
            text.push('[');
            for (position, item) in items.iter().take(MAX_MEMBERS).enumerate() {
                if position > 0 {
                    text.push_str(", ");
                }
                write_value(text, item);
            }
            write_rest(text, items.len());
            text.push(']');
        }
        Value::Object(members) => {
            text.push('{');
            write_members(text, members, Parent::Value);
            text.push('}');
        }
        plain => {
            let _ = write!(text, "{plain}");
        }
    }
}

/// Tells how many members are left out.
fn write_rest(text: &mut String, length: usize) {
    if length > MAX_MEMBERS {
        let _ = write!(text, ", .. ({} more)", length - MAX_MEMBERS);
    }
}

/// A text in quotes, with its beginning and its end if it is long.
fn write_text(text: &mut String, value: &str) {
    text.push('"');
    let mut boundaries = value.char_indices().map(|(at, _)| at);
    match boundaries.nth(MAX_TEXT) {
        None => value.chars().for_each(|character| write_character(text, character)),
        Some(_) => {
            let half = MAX_TEXT / 2;
            let begin = value.char_indices().nth(half).map_or(0, |(at, _)| at);
            let end = value.char_indices().nth_back(half - 1).map_or(0, |(at, _)| at);
            value[..begin].chars().for_each(|character| write_character(text, character));
            text.push_str("\" .. \"");
            value[end..].chars().for_each(|character| write_character(text, character));
        }
    }
    text.push('"');
    if value.len() > MAX_TEXT && value.chars().nth(MAX_TEXT).is_some() {
        let _ = write!(text, " ({})", Size(value.len()));
    }
}

fn write_character(text: &mut String, character: char) {
    match character {
        '"' => text.push_str("\\\""),
        '\\' => text.push_str("\\\\"),
        _ if character.is_control() || is_deceptive(character) => push_escape(text, character),
        _ => text.push(character),
    }
}

fn is_word(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=64).contains(&name.len()) && name.bytes().all(is_word)
}

/// A number of bytes for people.
struct Size(usize);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[allow(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
        match self.0 {
            bytes @ 0..1_000 => write!(f, "{bytes} bytes"),
            bytes @ 1_000..1_000_000 => write!(f, "{:.1} kB", bytes as f64 / 1e3),
            bytes => write!(f, "{:.1} MB", bytes as f64 / 1e6),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn visualize(schema: &Value, arguments: &Value) -> String {
        call("files.run", &arguments.to_string(), schema.as_object().unwrap())
    }

    #[test]
    fn a_call_is_one_line_of_names_and_values() {
        let arguments = json!({ "path": "a b", "n": 1, "to": { "h": null, "list": [true, "x"] } });
        let expected = r#"files.run(path: "a b", n: 1, to: {"h": null, "list": [true, "x"]})"#;
        assert_eq!(visualize(&json!({}), &arguments), expected);
        assert_eq!(call("files.run", "{\"a", &Map::new()), "files.run(?)");
    }

    #[test]
    fn no_name_and_no_value_looks_like_another_argument_or_line() {
        let name = "path: \"notes.txt\") OK?\n[y/N] y\nfiles.read(x";
        let text = visualize(&json!({}), &json!({ name: 1, "path": "\u{1b}[2J\n\u{202e}\"" }));
        let expected = r#"files.run("path: \"notes.txt\") OK?\n[y/N] y\nfiles.read(x": 1, path: "\u{1b}[2J\n\u{202e}\"")"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn secrets_are_hidden_at_every_depth_and_under_misspelt_names() {
        let login = json!({ "properties": { "host": {}, "password": { "writeOnly": true } } });
        let schema = json!({ "properties": {
            "user": {}, "token": { "writeOnly": true }, "server": login, "list": { "items": login },
        }});
        let server = json!({ "host": "h", "password": "hunter2" });
        let arguments =
            json!({ "user": "u", "tokn": "hunter2", "server": server, "list": [server] });
        let expected = r#"files.run(user: "u", tokn: ***, server: {"host": "h", "password": ***}, list: [{"host": "h", "password": ***}])"#;
        assert_eq!(visualize(&schema, &arguments), expected);
    }

    #[test]
    fn long_arguments_show_their_ends_and_their_size() {
        let content = format!("begin{}end", "x".repeat(3_000_000));
        let text =
            visualize(&json!({}), &json!({ "content": content, "path": "/etc/cron.d/evil" }));
        assert!(text.len() < 1_200, "{}", text.len());
        assert!(text.starts_with("files.run(content: \"beginxx"), "{text}");
        assert!(text.ends_with("xxend\" (3.0 MB), path: \"/etc/cron.d/evil\")"), "{text}");
        let list = visualize(&json!({}), &json!({ "list": vec![1; 100_000] }));
        assert!(list.ends_with("1, .. (99950 more)])"), "{list}");
        let many: Vec<String> = vec!["y".repeat(900); 50];
        let text = visualize(&json!({}), &json!({ "a": many, "b": many }));
        assert!(text.ends_with("yy .. (90.4 kB in all)"), "{}", &text[text.len() - 60..]);
    }

    #[test]
    fn a_text_that_is_not_json_is_hidden_where_it_may_have_a_secret() {
        let server = json!({ "properties": { "password": { "writeOnly": true } } });
        let server = server.as_object().unwrap().clone();
        assert_eq!(shown_arguments("{\"p", &server), HIDDEN);
        assert_eq!(shown_arguments("{\"p", &Map::new()), "{\"p");
    }
}
