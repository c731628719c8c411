//! Asks the user of the client.

use super::PeerCapability;
use super::PeerError;
use super::form::FormSchema;
use super::form_types::Form;
use super::request::PeerRequest;
use crate::tool::context::ToolContext;
use crate::vocabulary::future::BoxFuture;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The answer of the user to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// The user answered.
    Accepted(T),
    /// The user declined.
    Declined,
    /// The user closed the question without a choice.
    Cancelled,
}

impl<T> Answer<T> {
    /// The value, if the user answered.
    ///
    /// ```
    /// use tool_runtime::peer::Answer;
    ///
    /// assert_eq!(Answer::Accepted(3).accepted(), Some(3));
    /// assert_eq!(Answer::<i32>::Declined.accepted(), None);
    /// ```
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(value) => Some(value),
            Self::Declined | Self::Cancelled => None,
        }
    }

    /// Converts the value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Self::Accepted(value) => Answer::Accepted(change(value)),
            Self::Declined => Answer::Declined,
            Self::Cancelled => Answer::Cancelled,
        }
    }
}

/// MCP's `ElicitResult`.
#[derive(Deserialize)]
struct Elicited {
    action: Action,
    #[serde(default)]
    content: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

impl ToolContext {
    /// Asks the user of the client: MCP's elicitation, as a form.
    ///
    /// `T` is a [`Form`](trait@Form): a string, number, boolean, enum of unit variants or list of such
    /// an enum, or a struct of these with `#[derive(Form)]`. Field comments become descriptions, `Option` and
    /// `#[serde(default)]` fields need not be filled in. Never ask for secrets in a form: see
    /// [`Self::ask_url`].
    ///
    /// `key` names the question within the call; give each question of a call its own key,
    /// and the same question the same key every time. Asking again after an unusable answer needs
    /// another key: with clients of 2026-07-28 and in tasks the same key has the same answer, and a call
    /// that asks without end is ended. An answer belongs to the text of its question: a question
    /// with another text when the function runs again is asked again. Nested calls have their own
    /// keys: clients see `2/sure` if the second of them asks `sure`.
    ///
    /// **Effects belong after the last question.** With clients of 2026-07-28 a call is answered with
    /// the question, and when the answer comes the function runs again from its beginning, with
    /// all earlier answers available; with older clients it waits here. The same function works
    /// with both, if everything before its last question may be repeated.
    /// Questions that are asked concurrently, with `futures::join!`, reach the user together.
    ///
    /// ```
    /// use tool_runtime::peer::Answer;
    /// use tool_runtime::prelude::*;
    ///
    /// /// Delete a file.
    /// #[tool(destructive, idempotent)]
    /// async fn delete(
    ///     /// The file.
    ///     path: String,
    ///     context: &ToolContext,
    /// ) -> Result<String, ToolError> {
    ///     let question = format!("Really delete {path}?");
    ///     match context.ask::<bool>("sure", question).await? {
    ///         Answer::Accepted(true) => Ok(format!("{path} is deleted")),
    ///         _ => Err(ToolError::user("the user does not want that")),
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// The client supports no forms, does not answer, or sends an invalid answer; `T` has a field that the
    /// compiler does not check and no form supports, or `key` already names another question of the call.
    /// A user who declines is not an error.
    // Not an `async fn`: rustc checks the bounds of its opaque type as well, and reports a missing
    // `Form` three times.
    pub fn ask<'a, T>(
        &'a self,
        key: &'a str,
        message: impl Into<String>,
    ) -> BoxFuture<'a, Result<Answer<T>, PeerError>>
    where
        T: Form + 'a,
    {
        let message = message.into();
        Box::pin(
            async move { self.ask_in(key, message, FormSchema::for_form::<T>(key), false).await },
        )
    }

    /// Asks with a hand-written form: a schema of MCP's elicitation, for forms
    /// that no type describes. Returns the answer's fields. See [`Self::ask`] for keys and effects.
    ///
    /// ```
    /// # use tool_runtime::peer::PeerError;
    /// # use tool_runtime::prelude::*;
    /// # async fn body(context: &ToolContext) -> Result<(), PeerError> {
    /// let form = serde_json::json!({
    ///     "type": "object",
    ///     "properties": { "city": { "type": "string", "minLength": 1 } },
    ///     "required": ["city"],
    /// });
    /// let answer = context.ask_form("city", "Where are you?", form).await?;
    /// let city = answer.accepted().map(|fields| fields["city"].clone());
    /// # drop(city);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As with [`Self::ask`].
    pub async fn ask_form(
        &self,
        key: &str,
        message: impl Into<String>,
        form: Value,
    ) -> Result<Answer<Map<String, Value>>, PeerError> {
        self.ask_in(key, message.into(), FormSchema::from_schema(form), false).await
    }

    /// Asks for an approval, whose answer counts once: a client that sends its request again is asked again.
    ///
    /// # Errors
    /// As with [`Self::ask`].
    #[doc(hidden)]
    pub async fn ask_approval(
        &self,
        key: &str,
        message: impl Into<String>,
        form: Value,
    ) -> Result<Answer<Map<String, Value>>, PeerError> {
        self.ask_in(key, message.into(), FormSchema::from_schema(form), true).await
    }

    /// Sends the user to a web page: to sign in, to pay, to enter a secret. The answer says that
    /// they agreed to open it, not that they are done. See [`Self::ask`] for keys and effects.
    ///
    /// # Errors
    /// The client does not support pages, or does not answer.
    pub async fn ask_url(
        &self,
        key: &str,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Result<Answer<()>, PeerError> {
        let mut params = parameters("url", message.into());
        params.insert("elicitationId".to_owned(), self.question_key(key).into());
        params.insert("url".to_owned(), url.into().into());
        let request = PeerRequest::new(key, PeerCapability::ElicitationUrl, params);
        let answer = self.elicit(request).await?;
        Ok(answer.map(drop))
    }

    async fn ask_in<T>(
        &self,
        key: &str,
        message: String,
        form: FormSchema,
        is_single_use: bool,
    ) -> Result<Answer<T>, PeerError>
    where
        T: DeserializeOwned,
    {
        let requested = form
            .request_schema()
            .map_err(|problem| PeerError::Unaskable { key: key.to_owned(), problem })?;
        let mut params = parameters("form", message);
        params.insert("requestedSchema".to_owned(), requested);
        let read = |content: Option<Value>| form.read(content.unwrap_or_else(|| Map::new().into()));
        let request = PeerRequest::new(key, PeerCapability::Elicitation, params);
        let request = if is_single_use { request.single_use() } else { request };
        match self.elicit(request).await?.map(read) {
            Answer::Accepted(Ok(value)) => Ok(Answer::Accepted(value)),
            Answer::Accepted(Err(problem)) => Err(PeerError::malformed(key, problem)),
            Answer::Declined => Ok(Answer::Declined),
            Answer::Cancelled => Ok(Answer::Cancelled),
        }
    }

    async fn elicit(&self, request: PeerRequest) -> Result<Answer<Option<Value>>, PeerError> {
        let key = request.key().to_owned();
        let answer = self.send_request(request).await?;
        let elicited: Elicited =
            serde_json::from_value(answer).map_err(|error| PeerError::malformed(&key, error))?;
        Ok(match elicited.action {
            Action::Accept => Answer::Accepted(elicited.content),
            Action::Decline => Answer::Declined,
            Action::Cancel => Answer::Cancelled,
        })
    }
}

fn parameters(mode: &str, message: String) -> Map<String, Value> {
    let mut params = Map::new();
    params.insert("mode".to_owned(), mode.into());
    params.insert("message".to_owned(), message.into());
    params
}
