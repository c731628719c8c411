//! Messages of a prompt.

use crate::vocabulary::content::ContentBlock;
use crate::vocabulary::error::ToolError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The role of a message's author.
///
/// ```
/// use tool_runtime::prompt::Role;
///
/// assert_eq!(serde_json::to_string(&Role::Assistant)?, r#""assistant""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// One message of a prompt, in MCP's JSON form.
///
/// ```
/// use tool_runtime::{ContentBlock, PromptMessage};
/// use tool_runtime::prompt::Role;
///
/// let question = PromptMessage::user("What is in this picture?");
/// let picture = PromptMessage::new(Role::User, ContentBlock::image("AAAA", "image/png"));
/// assert_eq!(question.content.as_text(), Some("What is in this picture?"));
/// # let _ = picture;
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// The author's role.
    pub role: Role,
    /// The content: one block.
    pub content: ContentBlock,
}

impl PromptMessage {
    /// A message of one block.
    pub fn new(role: Role, content: ContentBlock) -> Self {
        Self { role, content }
    }

    /// A text message of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, ContentBlock::text(text))
    }

    /// A text message of the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, ContentBlock::text(text))
    }
}

/// The result of a prompt: its messages, and a description of them. Its JSON form is MCP's
/// `GetPromptResult`.
///
/// ```
/// use tool_runtime::PromptMessage;
/// use tool_runtime::prompt::PromptMessages;
///
/// let messages = PromptMessages::from(vec![PromptMessage::user("Hello!")]);
/// assert!(messages.description.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptMessages {
    /// Purpose of these messages. Default: the prompt's description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The messages, in order.
    pub messages: Vec<PromptMessage>,
    /// MCP metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

impl From<Vec<PromptMessage>> for PromptMessages {
    fn from(messages: Vec<PromptMessage>) -> Self {
        Self { messages, ..Self::default() }
    }
}

/// A return value that becomes a prompt's messages: text and content blocks, which become messages
/// of the user, [`PromptMessage`], lists of it, [`PromptMessages`], and results of these.
///
/// ```
/// use tool_runtime::ToolError;
/// use tool_runtime::prompt::{IntoPrompt, PromptMessages};
///
/// struct Greeting(&'static str);
///
/// impl IntoPrompt for Greeting {
///     fn into_prompt(self) -> Result<PromptMessages, ToolError> {
///         format!("Hello, {}!", self.0).into_prompt()
///     }
/// }
///
/// assert_eq!(Greeting("Ada").into_prompt()?.messages.len(), 1);
/// # Ok::<(), ToolError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    label = "no messages",
    note = "return text, `PromptMessage`, `Vec<PromptMessage>` or `PromptMessages`, or implement `IntoPrompt`; `Result<T, E>` of any of these works, where `E` is `ToolError`, an error type, or `Box<dyn Error + Send + Sync>`"
)]
pub trait IntoPrompt {
    /// Converts the value.
    ///
    /// # Errors
    /// The reason why the messages could not be created.
    fn into_prompt(self) -> Result<PromptMessages, ToolError>;
}

impl IntoPrompt for PromptMessages {
    fn into_prompt(self) -> Result<PromptMessages, ToolError> {
        Ok(self)
    }
}

impl IntoPrompt for Vec<PromptMessage> {
    fn into_prompt(self) -> Result<PromptMessages, ToolError> {
        Ok(self.into())
    }
}

impl IntoPrompt for PromptMessage {
    fn into_prompt(self) -> Result<PromptMessages, ToolError> {
        vec![self].into_prompt()
    }
}

impl IntoPrompt for ContentBlock {
    fn into_prompt(self) -> Result<PromptMessages, ToolError> {
        PromptMessage::new(Role::User, self).into_prompt()
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoPrompt, E: Into<ToolError>> IntoPrompt for Result<T, E> {
    fn into_prompt(self) -> Result<PromptMessages, ToolError> {
        self.map_err(Into::into)?.into_prompt()
    }
}

/// Types that are text.
macro_rules! text {
    ($($text:ty),*) => {$(
        impl IntoPrompt for $text {
            fn into_prompt(self) -> Result<PromptMessages, ToolError> {
                PromptMessage::user(self).into_prompt()
            }
        }
    )*};
}

text!(String, &'static str, Box<str>, Cow<'static, str>);
