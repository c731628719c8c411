//! Questions as forms with every kind of field.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::peer::{Answer, PeerError, SamplingRequest};
use tool_runtime::prelude::*;

/// Ask the client's model.
#[tool(read_only)]
async fn test_sampling(
    /// The question for the model.
    prompt: String,
    context: &ToolContext,
) -> Result<String, PeerError> {
    let sample = context.sample("question", SamplingRequest::new(100).user(prompt)).await?;
    Ok(format!("LLM response: {}", sample.text()))
}

#[derive(Deserialize, Serialize, JsonSchema, Form)]
struct Contact {
    /// User's response
    username: String,
    /// User's email address
    email: String,
}

/// Ask the user who they are.
#[tool(read_only)]
async fn test_elicitation(
    /// The question for the user.
    message: String,
    context: &ToolContext,
) -> Result<String, PeerError> {
    let answer = context.ask::<Contact>("contact", message).await?;
    Ok(format!("User response: {}", described(answer)))
}

#[derive(Deserialize, Serialize, JsonSchema, Form)]
#[serde(default)]
struct Profile {
    name: String,
    age: i64,
    score: f64,
    status: Status,
    verified: bool,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            name: "John Doe".to_owned(),
            age: 30,
            score: 95.5,
            status: Status::Active,
            verified: true,
        }
    }
}

#[derive(Deserialize, Serialize, JsonSchema, Form)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Inactive,
    Pending,
}

/// Ask with a form that is filled in already.
#[tool(read_only)]
async fn test_elicitation_sep1034_defaults(context: &ToolContext) -> Result<String, PeerError> {
    let answer = context.ask::<Profile>("profile", "Please check your profile").await?;
    Ok(format!("Elicitation completed: {}", described(answer)))
}

#[derive(Deserialize, Serialize, JsonSchema, Form)]
#[serde(rename_all = "camelCase")]
struct Choices {
    untitled_single: Untitled,
    titled_single: Titled,
    legacy_enum: Legacy,
    untitled_multi: Vec<Untitled>,
    titled_multi: Vec<Titled>,
}

#[derive(Deserialize, Serialize, JsonSchema, Form)]
#[serde(rename_all = "lowercase")]
enum Untitled {
    Option1,
    Option2,
    Option3,
}

#[derive(Deserialize, Serialize, JsonSchema, Form)]
#[serde(rename_all = "lowercase")]
enum Titled {
    /// First Option
    Value1,
    /// Second Option
    Value2,
    /// Third Option
    Value3,
}

#[derive(Deserialize, Serialize, JsonSchema, Form)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("enumNames" = ["Option One", "Option Two", "Option Three"]))]
enum Legacy {
    Opt1,
    Opt2,
    Opt3,
}

/// Ask with every kind of choice.
#[tool(read_only)]
async fn test_elicitation_sep1330_enums(context: &ToolContext) -> Result<String, PeerError> {
    let answer = context.ask::<Choices>("choices", "Please choose").await?;
    Ok(format!("Elicitation completed: {}", described(answer)))
}

fn described(answer: Answer<impl Serialize>) -> String {
    let (action, content) = match answer {
        Answer::Accepted(content) => ("accept", serde_json::to_string(&content)),
        Answer::Declined => ("decline", Ok("{}".to_owned())),
        Answer::Cancelled => ("cancel", Ok("{}".to_owned())),
    };
    format!("action={action}, content={}", content.unwrap_or_else(|error| error.to_string()))
}
