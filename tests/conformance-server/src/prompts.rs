//! Prompts of each kind of content.

use crate::questions::asked_for_context;
use crate::samples::PNG;
use tool_runtime::content::ResourceContents;
use tool_runtime::peer::PeerError;
use tool_runtime::prelude::*;

/// Say one thing.
#[prompt]
fn test_simple_prompt() -> &'static str {
    "This is a simple prompt for testing."
}

/// Repeat two arguments.
#[prompt]
fn test_prompt_with_arguments(
    /// First test argument
    #[arg(complete = places)]
    arg1: String,
    /// Second test argument
    arg2: String,
) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

fn places(prefix: String) -> Vec<&'static str> {
    let places = ["paris", "park", "party"];
    places.into_iter().filter(|place| place.starts_with(&prefix)).collect()
}

/// Return a resource.
#[prompt]
fn test_prompt_with_embedded_resource(
    /// URI of the resource to embed
    #[arg(rename = "resourceUri")]
    resource_uri: String,
) -> Vec<PromptMessage> {
    let resource = ResourceContents::text(resource_uri, "Embedded resource content for testing.");
    vec![
        PromptMessage::new(Role::User, resource.with_mime_type("text/plain").into()),
        PromptMessage::user("Please process the embedded resource above."),
    ]
}

/// Return a picture.
#[prompt]
fn test_prompt_with_image() -> Vec<PromptMessage> {
    vec![
        PromptMessage::new(Role::User, ContentBlock::image(PNG, "image/png")),
        PromptMessage::user("Please analyze the image above."),
    ]
}

/// Ask for the topic first.
#[prompt]
async fn test_input_required_result_prompt(context: &ToolContext) -> Result<String, PeerError> {
    Ok(format!("Let us talk about {}.", asked_for_context(context).await?))
}
