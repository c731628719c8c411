//! Forms that a person fills in at the terminal, one field at a time.

use super::schema::{choices, limits, type_name};
use crate::approver::{Decision, TerminalApprover};
use crate::print;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use tool_runtime_core::seam::{check, nearest, printable_lines};

/// Asks for the fields of a form. `None`: the person cancels, or the input ends.
pub(super) async fn fill(
    person: &TerminalApprover,
    message: &str,
    schema: &Value,
) -> Option<Value> {
    print::to_stderr(&printable_lines(message));
    let mut content = Map::new();
    let required = schema["required"].as_array();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let is_required = required.is_some_and(|names| names.contains(&name.as_str().into()));
        let value = ask(person, name, field, is_required).await?;
        if !value.is_null() {
            content.insert(name.clone(), value);
        }
    }
    if content.is_empty() && !is_confirmed(person, "Accept?").await? {
        return None;
    }
    Some(Value::Object(content))
}

/// Asks whether a call may run, in the words of [`TerminalApprover`]. `None` at the end of the input.
pub(super) async fn decide(
    person: &TerminalApprover,
    message: &str,
    schema: &Value,
) -> Option<Value> {
    let decisions = choices_of(&schema["properties"]["decision"]);
    let has_session = decisions.iter().any(|(value, _)| value == "approve_session");
    let choices = if has_session { "[y/N, s: all such calls of this session]" } else { "[y/N]" };
    let line = person.ask_line(&format!("{message}\n{choices}")).await?;
    Some(match Decision::from_line(&line) {
        Decision::Approve => json!({ "decision": "approve" }),
        Decision::ApproveForSession if has_session => json!({ "decision": "approve_session" }),
        Decision::Refuse | Decision::ApproveForSession => json!({ "decision": "deny" }),
        Decision::RefuseFor(reason) => json!({ "decision": "deny", "reason": reason }),
    })
}

/// Shows a page, and waits until the person has used it.
pub(super) async fn confirm_page(
    person: &TerminalApprover,
    message: &str,
    url: &str,
) -> Option<Value> {
    print::to_stderr(&printable_lines(&format!("{message}\n\n  {url}\n")));
    is_confirmed(person, "Have you opened it?").await?.then(|| json!({}))
}

/// A question with yes or no. `None` at the end of the input.
pub(super) async fn is_confirmed(person: &TerminalApprover, question: &str) -> Option<bool> {
    let answer = person.ask_line(&format!("{question} [y/N]")).await?;
    Some(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

/// Asks until the value is valid. Null: left out.
async fn ask(
    person: &TerminalApprover,
    name: &str,
    field: &Value,
    is_required: bool,
) -> Option<Value> {
    let question = question(name, field, is_required);
    loop {
        let line = person.ask_line(&question).await?;
        let problem = match line.as_str() {
            "" => match field.get("default") {
                Some(default) => return Some(default.clone()),
                None if is_required => "a value is required; Ctrl-C cancels".to_owned(),
                None => return Some(Value::Null),
            },
            text => match value(name, field, text) {
                Ok(value) => return Some(value),
                Err(problem) => problem,
            },
        };
        print::to_stderr(&printable_lines(&format!("  {problem}")));
    }
}

fn question(name: &str, field: &Value, is_required: bool) -> String {
    let mut text = field["title"].as_str().unwrap_or(name).to_owned();
    if let Some(description) = field["description"].as_str() {
        let _ = write!(text, ": {description}");
    }
    let choices = choices_of(field);
    for (index, (value, title)) in choices.iter().enumerate() {
        let title = if value == title { String::new() } else { format!(" - {title}") };
        let _ = write!(text, "\n  {}. {value}{title}", index + 1);
    }
    let mut notes = limits(field);
    match type_name(field) {
        Some("boolean") => notes.push("yes or no".to_owned()),
        Some("array") => notes.push("several, with commas".to_owned()),
        Some("integer") => notes.push("a whole number".to_owned()),
        Some("number") => notes.push("a number".to_owned()),
        _ => {}
    }
    match field.get("default") {
        Some(Value::String(default)) => notes.push(format!("default: {default}")),
        Some(default) => notes.push(format!("default: {default}")),
        None if !is_required => notes.push("may be left out".to_owned()),
        None => {}
    }
    if !notes.is_empty() {
        let _ = write!(text, " [{}]", notes.join("; "));
    }
    text
}

/// Values and titles of the choices.
fn choices_of(field: &Value) -> Vec<(String, String)> {
    let list = if type_name(field) == Some("array") { &field["items"] } else { field };
    let titles = |key: &str| list[key].as_array().into_iter().flatten();
    let titled = titles("oneOf").chain(titles("anyOf")).filter_map(|choice| {
        let value = choice["const"].as_str()?;
        Some((value.to_owned(), choice["title"].as_str().unwrap_or(value).to_owned()))
    });
    let titled: Vec<_> = titled.collect();
    if !titled.is_empty() {
        return titled;
    }
    let names = list["enumNames"].as_array();
    let name = |index: usize| names.and_then(|names| names.get(index)).and_then(Value::as_str);
    let values = choices(list).into_iter().enumerate();
    values.map(|(index, it)| (it.to_owned(), name(index).unwrap_or(it).to_owned())).collect()
}

/// The value that a line means.
///
/// # Errors
/// It is not valid, for the person.
fn value(name: &str, field: &Value, text: &str) -> Result<Value, String> {
    let value = match type_name(field) {
        Some("boolean") => match text.to_lowercase().as_str() {
            "y" | "yes" | "true" | "1" => true.into(),
            "n" | "no" | "false" | "0" => false.into(),
            _ => return Err("write yes or no".to_owned()),
        },
        Some("integer" | "number") => text.parse().unwrap_or_else(|_| text.into()),
        Some("array") => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            items.map(|item| choice(field, item)).collect::<Result<Vec<_>, _>>()?.into()
        }
        _ => choice(field, text)?,
    };
    let form = json!({ "type": "object", "properties": { name: field } });
    let issues = check(&form, &json!({ name: value }));
    match issues.first() {
        Some(issue) => Err(issue.to_string()),
        None => Ok(value),
    }
}

/// A choice by its number, value or title; any text where there are no choices.
fn choice(field: &Value, text: &str) -> Result<Value, String> {
    let choices = choices_of(field);
    if choices.is_empty() {
        return Ok(text.into());
    }
    let by_number =
        text.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    let by_name = choices.iter().find(|(value, title)| value == text || title == text);
    by_name.or(by_number).map(|(value, _)| value.as_str().into()).ok_or_else(|| {
        let near = nearest(text, choices.iter().map(|(value, _)| value.as_str()), 1);
        let near = near.first().map(|near| format!("; did you mean `{near}`?"));
        format!("`{text}` is no choice: write a number or a name{}", near.unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_choices_limits_and_the_default() {
        let meal = json!({
            "type": "string",
            "title": "Meal",
            "description": "What to eat",
            "oneOf": [{ "const": "green", "title": "Without meat" }, { "const": "red" }],
            "default": "green"
        });
        let expected = "Meal: What to eat\n  1. green - Without meat\n  2. red [default: green]";
        assert_eq!(question("meal", &meal, false), expected);
        let seats = json!({ "type": "integer", "minimum": 1, "maximum": 9 });
        assert_eq!(question("seats", &seats, true), "seats [1 to 9; a whole number]");
    }

    #[test]
    fn values_are_read_by_their_type_and_checked() {
        let meal = json!({ "type": "string", "enum": ["green", "red"] });
        assert_eq!(value("field", &meal, "2"), Ok(json!("red")));
        assert_eq!(value("field", &meal, "green"), Ok(json!("green")));
        assert!(value("field", &meal, "grean").unwrap_err().contains("did you mean `green`?"));
        let seats = json!({ "type": "integer", "minimum": 1 });
        assert_eq!(value("field", &seats, "3"), Ok(json!(3)));
        assert!(value("field", &seats, "0").is_err() && value("field", &seats, "many").is_err());
        let extras = json!({ "type": "array", "items": { "enum": ["wine", "bread"] } });
        assert_eq!(value("field", &extras, "wine, 2"), Ok(json!(["wine", "bread"])));
        assert_eq!(value("field", &json!({ "type": "boolean" }), "Yes"), Ok(json!(true)));
    }
}
