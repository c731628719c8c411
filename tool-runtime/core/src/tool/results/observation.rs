//! The result of a call, and conversions of return values to it.

mod blocks;
mod into;
mod json;
mod masked;
mod wire;

pub use into::{IntoObservation, Json};
pub(crate) use masked::{mask_block, mask_contents};

use crate::vocabulary::content::ContentBlock;
use crate::vocabulary::error::ToolError;
use blocks::Blocks;
use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::OnceLock;

/// The result of a call: content blocks, an optional structured value, whether it is an
/// error, and metadata.
///
/// The JSON form is MCP's `CallToolResult`. There, a structured value without content is repeated
/// as text, for clients that read only text.
///
/// ```
/// use tool_runtime::Observation;
///
/// let observation = Observation::text("42");
/// assert_eq!(serde_json::to_string(&observation)?, r#"{"content":[{"type":"text","text":"42"}]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Observation {
    content: Blocks,
    structured: Option<Box<RawValue>>,
    /// The structured value, parsed on first use.
    parsed: OnceLock<Box<Value>>,
    status: Status,
    extra: Option<Box<Extra>>,
}

/// Whether a tool reports an error. As wide as a word: results of calls store their discriminants in
/// this field, and bytes beside a narrow one made each move of a result slower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(usize)]
enum Status {
    #[default]
    Success,
    Error,
}

impl Status {
    fn new(is_error: bool) -> Self {
        if is_error { Self::Error } else { Self::Success }
    }
}

/// Members that few observations have.
#[derive(Clone, Debug, Default)]
struct Extra {
    meta: Option<Map<String, Value>>,
    visual: Option<String>,
    other: Map<String, Value>,
}

impl Observation {
    /// One text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::from(ContentBlock::text(text))
    }

    /// One text block with the mistake and what to do instead.
    ///
    /// ```
    /// # use tool_runtime::Observation;
    /// assert!(Observation::error("`path` does not exist; call `list` first").is_error());
    /// ```
    pub fn error(text: impl Into<String>) -> Self {
        Self::text(text).with_error(true)
    }

    /// A structured value; its JSON is also sent as text if the result has no other content.
    ///
    /// # Errors
    /// An internal error if the value does not serialise: a map with keys that are not strings.
    ///
    /// ```
    /// # use tool_runtime::Observation;
    /// let observation = Observation::json(&serde_json::json!({ "sum": 42 }))?;
    /// assert_eq!(observation.structured().unwrap()["sum"], 42);
    /// assert_eq!(observation.to_text(), r#"{"sum":42}"#);
    /// # Ok::<(), tool_runtime::ToolError>(())
    /// ```
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<Self, ToolError> {
        let json = serde_json::value::to_raw_value(value).map_err(ToolError::internal)?;
        Ok(Self { structured: Some(json), ..Self::default() })
    }

    /// Adds a content block.
    ///
    /// ```
    /// # use tool_runtime::{ContentBlock, Observation};
    /// let two = Observation::text("a").with_content(ContentBlock::text("b"));
    /// assert_eq!(two.content().len(), 2);
    /// ```
    #[must_use]
    pub fn with_content(mut self, block: ContentBlock) -> Self {
        self.content.push(block);
        self
    }

    /// Adds an entry of MCP metadata (`_meta`).
    ///
    /// ```
    /// # use tool_runtime::Observation;
    /// let observation = Observation::text("a").with_meta("example.com/cost", 3);
    /// assert_eq!(observation.meta().unwrap()["example.com/cost"], 3);
    /// ```
    #[must_use]
    pub fn with_meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let meta = self.extra_mut().meta.get_or_insert_default();
        meta.insert(key.into(), value.into());
        self
    }

    /// Adds unknown members of the result, which a gateway passes on.
    #[must_use]
    #[doc(hidden)]
    pub fn with_other(mut self, other: Map<String, Value>) -> Self {
        if !other.is_empty() {
            self.extra_mut().other = other;
        }
        self
    }

    /// Sets a human-readable text, which is not sent to models and clients.
    ///
    /// ```
    /// # use tool_runtime::Observation;
    /// let observation = Observation::text("3").with_visual("three notes found");
    /// assert_eq!(observation.visualize(), "three notes found");
    /// ```
    #[must_use]
    pub fn with_visual(mut self, text: impl Into<String>) -> Self {
        self.extra_mut().visual = Some(text.into());
        self
    }

    /// Sets whether it is an error.
    #[must_use]
    pub fn with_error(mut self, is_error: bool) -> Self {
        self.status = Status::new(is_error);
        self
    }

    /// The content blocks; empty if there is only a structured value.
    pub fn content(&self) -> &[ContentBlock] {
        &self.content
    }

    /// The structured value, parsed on first use. `None` also for JSON that is nested
    /// deeper than serde_json parses (128 levels).
    ///
    /// ```
    /// # use tool_runtime::Observation;
    /// let observation = Observation::json(&["a", "b"])?;
    /// assert_eq!(observation.structured(), Some(&serde_json::json!(["a", "b"])));
    /// assert_eq!(Observation::text("a").structured(), None);
    /// # Ok::<(), tool_runtime::ToolError>(())
    /// ```
    pub fn structured(&self) -> Option<&Value> {
        if self.parsed.get().is_none() {
            let value = serde_json::from_str(self.structured_json()?).ok()?;
            let _ = self.parsed.set(Box::new(value));
        }
        self.parsed.get().map(|value| &**value)
    }

    /// The exit code of a command that the tool ran, from `exit_code` and `signal` of its value: that of a signal is 128
    /// and its number, as in shells. `None` if the command succeeded, or there was none.
    #[doc(hidden)]
    pub fn failed_command(&self) -> Option<u64> {
        let number = |name| self.structured()?.get(name)?.as_u64();
        let code = number("exit_code").filter(|code| *code > 0);
        code.or_else(|| Some(128 + number("signal")?))
    }

    /// The structured value as JSON text.
    pub fn structured_json(&self) -> Option<&str> {
        self.structured.as_deref().map(RawValue::get)
    }

    /// The structured value as a type of yours, which may borrow from it.
    ///
    /// # Errors
    /// The structured value is missing, or does not decode as a `T`.
    ///
    /// ```
    /// # use tool_runtime::{Observation, ToolError};
    /// #[derive(serde::Deserialize)]
    /// struct Found {
    ///     total: u64,
    /// }
    ///
    /// let observation = Observation::json(&serde_json::json!({ "total": 42 }))?;
    /// assert_eq!(observation.structured_as::<Found>().unwrap().total, 42);
    /// assert!(observation.structured_as::<u64>().is_err());
    /// assert!(Observation::text("42").structured_as::<u64>().is_err());
    /// # Ok::<(), ToolError>(())
    /// ```
    pub fn structured_as<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        let json = self.structured_json().ok_or_else(|| {
            serde_json::Error::custom("the observation has no structured value; read its text")
        })?;
        serde_json::from_str(json)
    }

    /// Whether the tool reports an error.
    pub fn is_error(&self) -> bool {
        self.status == Status::Error
    }

    /// MCP metadata.
    pub fn meta(&self) -> Option<&Map<String, Value>> {
        self.extra.as_ref()?.meta.as_ref()
    }

    /// Unknown members of the result of an external server.
    ///
    /// ```
    /// # use tool_runtime::Observation;
    /// let observation: Observation = serde_json::from_str(r#"{"content":[],"cost":3}"#)?;
    /// assert_eq!(observation.other().unwrap()["cost"], 3);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn other(&self) -> Option<&Map<String, Value>> {
        self.extra.as_ref().map(|extra| &extra.other).filter(|other| !other.is_empty())
    }

    /// Whether the observation has no unknown parts.
    #[doc(hidden)]
    pub fn is_known(&self) -> bool {
        self.other().is_none() && self.content.iter().all(ContentBlock::is_known)
    }

    /// All text of the observation: text blocks, the text of embedded resources and the JSON of blocks of unknown
    /// kinds, one per line, or else the structured value's JSON. Images, audio, links and resources
    /// of bytes are left out.
    ///
    /// ```
    /// use tool_runtime::{ContentBlock, Observation};
    ///
    /// let found = Observation::text("found").with_content(ContentBlock::resource("notes://1", "buy milk"));
    /// assert_eq!(found.to_text(), "found\nbuy milk");
    /// ```
    pub fn to_text(&self) -> String {
        let texts: Vec<Cow<'_, str>> = self.content.iter().filter_map(text_of).collect();
        if texts.is_empty() {
            return self.structured_json().unwrap_or_default().to_owned();
        }
        texts.join("\n")
    }

    /// A human-readable text: that of [`Self::with_visual`], or else its text, with other content named
    /// and structured values indent.
    pub fn visualize(&self) -> String {
        if let Some(visual) = self.extra.as_ref().and_then(|extra| extra.visual.as_ref()) {
            return visual.clone();
        }
        if self.content.is_empty() {
            return self.structured.as_deref().map(indent).unwrap_or_default();
        }
        let lines: Vec<String> = self.content.iter().map(render).collect();
        lines.join("\n")
    }

    /// The text of [`Self::with_visual`].
    pub(crate) fn visual(&self) -> Option<&str> {
        self.extra.as_ref()?.visual.as_deref()
    }

    /// Whether the structured value is neither object nor list.
    pub(crate) fn is_scalar(&self) -> bool {
        self.content.is_empty()
            && self.structured_json().is_some_and(|json| !json.starts_with(['{', '[']))
    }

    /// Turns a structured scalar into plain text: a string loses its quotes.
    pub(crate) fn into_plain_text(self) -> Self {
        let Some(json) = self.structured_json() else {
            return self;
        };
        let text = serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_owned());
        Self::text(text)
    }

    /// Changes the content blocks only.
    pub(crate) fn map_content(
        mut self,
        change: impl FnOnce(Vec<ContentBlock>) -> Vec<ContentBlock>,
    ) -> Self {
        self.content = Blocks::Many(change(self.content.into_vec()));
        self
    }

    /// Removes the structured value.
    pub(crate) fn without_structured(mut self) -> Self {
        self.structured = None;
        self.parsed = OnceLock::new();
        self
    }

    fn extra_mut(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }
}

impl From<ContentBlock> for Observation {
    fn from(block: ContentBlock) -> Self {
        Self { content: Blocks::One(block), ..Self::default() }
    }
}

/// Compares the JSON form; the human-readable text is not compared.
impl PartialEq for Observation {
    fn eq(&self, other: &Self) -> bool {
        *self.content == *other.content
            && self.structured_json() == other.structured_json()
            && self.status == other.status
            && self.meta() == other.meta()
            && self.other() == other.other()
    }
}

fn indent(json: &RawValue) -> String {
    serde_json::from_str::<Value>(json.get())
        .map(|value| format!("{value:#}"))
        .unwrap_or_else(|_| json.get().to_owned())
}

fn text_of(block: &ContentBlock) -> Option<Cow<'_, str>> {
    match block {
        ContentBlock::Resource(embedded) => embedded.resource.text.as_deref().map(Cow::Borrowed),
        ContentBlock::Other(block) => Some(Cow::Owned(json(block))),
        other => other.as_text().map(Cow::Borrowed),
    }
}

fn json(block: &Map<String, Value>) -> String {
    serde_json::to_string(block).unwrap_or_default()
}

fn render(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(content) => content.text().to_owned(),
        ContentBlock::Image(media) => render_media("image", &media.mime_type, &media.data),
        ContentBlock::Audio(media) => render_media("audio", &media.mime_type, &media.data),
        ContentBlock::Resource(resource) => {
            let contents = &resource.resource;
            let text = contents.text.as_deref().unwrap_or("(bytes)");
            format!("[resource {}]\n{text}", contents.uri)
        }
        ContentBlock::ResourceLink(link) => format!("[{}]({})", link.name, link.uri),
        ContentBlock::Other(block) => json(block),
    }
}

/// Base64 holds three bytes in four characters.
fn render_media(kind: &str, mime_type: &str, data: &str) -> String {
    format!("[{kind} {mime_type}, {} bytes]", data.len() / 4 * 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_text_content_is_shown_by_name() {
        let observation = Observation::text("found")
            .with_content(ContentBlock::image("AAAA", "image/png"))
            .with_content(ContentBlock::link("file:///a", "a.txt"));
        assert_eq!(
            observation.visualize(),
            "found\n[image image/png, 3 bytes]\n[a.txt](file:///a)"
        );
    }

    #[test]
    fn a_structured_string_is_shown_without_quotes() {
        let plain = |value: Value| Observation::json(&value).unwrap().into_plain_text().to_text();
        assert_eq!(plain("a \"b\"".into()), "a \"b\"");
        assert_eq!(plain(7.into()), "7");
        assert_eq!(plain(Value::Null), "null");
    }
}
