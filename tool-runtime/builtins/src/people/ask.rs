//! Questions, and the people who answer them.

use serde_json::{Map, Value, json};
use std::fmt;
use tool_runtime::peer::{Answer, PeerCapability};
use tool_runtime::{BoxFuture, ToolContext, ToolError};

/// A question for a person. `Display` writes it with its options, each with a number.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// The text.
    pub text: String,
    /// Answers to choose from. Empty: any text.
    pub options: Vec<String>,
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        (1..)
            .zip(&self.options)
            .try_for_each(|(number, option)| write!(f, "\n  {number}. {option}"))
    }
}

/// Asks a person on behalf of the operator. Implemented for closures that return a future.
pub trait AskPerson: Send + Sync + 'static {
    /// The answer: a string, or the number of an option.
    ///
    /// # Errors
    /// The person does not answer. The text is for the model.
    fn ask(&self, question: Question) -> BoxFuture<'_, Result<String, ToolError>>;
}

impl<F, Fut> AskPerson for F
where
    F: Fn(Question) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    fn ask(&self, question: Question) -> BoxFuture<'_, Result<String, ToolError>> {
        Box::pin(self(question))
    }
}

/// Asks the caller if it can show forms, or else the person of the operator.
///
/// # Errors
/// No person can be asked, or the person does not answer.
pub(super) async fn ask(
    key: &str,
    question: &Question,
    asker: Option<&dyn AskPerson>,
    context: &ToolContext,
) -> Result<String, ToolError> {
    if context.can_ask(PeerCapability::Elicitation) {
        let answer = context.ask_form(key, &question.text, form(key, &question.options)).await?;
        return match answer {
            Answer::Accepted(fields) => answered(field(&fields, key), field(&fields, "other")),
            Answer::Declined | Answer::Cancelled => Err(unanswered("the user declined to answer")),
        };
    }
    let Some(asker) = asker else {
        return Err(unanswered(
            "no person can be asked: the client shows no forms, and the program has no other way",
        ));
    };
    let answer = asker.ask(question.clone()).await?;
    answered(chosen(&question.options, &answer), "")
}

/// The option that an answer names by its text or by its number, or else the answer.
fn chosen<'a>(options: &'a [String], answer: &'a str) -> &'a str {
    if options.iter().any(|option| option.trim() == answer.trim()) {
        return answer;
    }
    let number = answer.trim().parse::<usize>().ok();
    let option = number.and_then(|number| options.get(number.checked_sub(1)?));
    option.map_or(answer, String::as_str)
}

fn form(key: &str, options: &[String]) -> Value {
    if options.is_empty() {
        let properties = json!({ key: { "type": "string", "title": "Answer" } });
        return json!({ "type": "object", "properties": properties, "required": [key] });
    }
    let properties = json!({
        key: { "type": "string", "title": "Answer", "enum": options },
        "other": { "type": "string", "title": "Another answer" },
    });
    json!({ "type": "object", "properties": properties })
}

fn field<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Both parts of an answer.
fn answered(answer: &str, other: &str) -> Result<String, ToolError> {
    match (answer.trim(), other.trim()) {
        ("", "") => Err(unanswered("the user gave no answer")),
        (answer, "") => Ok(answer.to_owned()),
        ("", other) => Ok(other.to_owned()),
        (answer, other) => Ok(format!("{answer}; {other}")),
    }
}

fn unanswered(reason: &str) -> ToolError {
    ToolError::user(format!("{reason}; go on without the answer, and say what you assume"))
}
