//! Answers of a server under load.

use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// A message of the server, with the fields that a client must read.
#[derive(Deserialize)]
pub(crate) struct Answer<'a> {
    id: Option<u64>,
    method: Option<IgnoredAny>,
    #[serde(borrow)]
    result: Option<CallResult<'a>>,
}

#[derive(Deserialize)]
struct CallResult<'a> {
    #[serde(borrow, default)]
    content: Vec<Block<'a>>,
    #[serde(rename = "isError", default)]
    is_error: bool,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}

impl<'a> Answer<'a> {
    /// Parses a message. Invalid text has no id and is a wrong answer to every call.
    pub(crate) fn parse(text: &'a str) -> Self {
        let none = Self { id: None, method: None, result: None };
        serde_json::from_str(text).unwrap_or(none)
    }

    /// The id of the request that this answers.
    pub(crate) fn id(&self) -> Option<u64> {
        self.id.filter(|_| !self.is_from_server())
    }

    /// Whether the message is a request or a notification, not an answer.
    pub(crate) fn is_from_server(&self) -> bool {
        self.method.is_some()
    }

    /// Whether the call succeeded, with the expected text if there is one.
    pub(crate) fn is_correct(&self, expected: Option<&str>) -> bool {
        let Some(result) = self.result.as_ref().filter(|result| !result.is_error) else {
            return false;
        };
        let text = result.content.first().and_then(|block| block.text.as_deref());
        expected.is_none_or(|expected| text == Some(expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(text: &str) -> bool {
        Answer::parse(text).is_correct(Some("5"))
    }

    #[test]
    fn an_answer_with_another_text_is_wrong() {
        assert!(right(r#"{"id":1,"result":{"content":[{"type":"text","text":"5"}]}}"#));
        assert!(!right(r#"{"id":1,"result":{"content":[{"type":"text","text":"6"}]}}"#));
        assert!(!right(r#"{"id":1,"result":{"content":[{"text":"5"}],"isError":true}}"#));
        assert!(!right(r#"{"id":1,"result":{}}"#));
        assert!(!right(r#"{"id":1,"error":{"code":-32602,"message":"5"}}"#));
        assert!(!right("5"));
    }

    #[test]
    fn a_request_of_the_server_is_not_an_answer() {
        assert_eq!(Answer::parse(r#"{"id":1,"method":"ping"}"#).id(), None);
        assert_eq!(Answer::parse(r#"{"id":1,"result":{}}"#).id(), Some(1));
    }
}
