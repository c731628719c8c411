//! MCP's content blocks.

mod icon;
pub(crate) mod media;
mod of_bytes;

pub use icon::Icon;
pub use of_bytes::{Audio, Image};

use compact_str::CompactString;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// One piece of a tool's result, in MCP's JSON form.
///
/// ```
/// use tool_runtime::ContentBlock;
///
/// let block = ContentBlock::text("42");
/// assert_eq!(serde_json::to_string(&block)?, r#"{"type":"text","text":"42"}"#);
/// assert_eq!(block.as_text(), Some("42"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Plain text.
    Text(TextContent),
    /// An image.
    Image(Box<MediaContent>),
    /// Audio.
    Audio(Box<MediaContent>),
    /// A resource, whole.
    Resource(Box<EmbeddedResource>),
    /// A resource that the client may fetch.
    ResourceLink(Box<ResourceLink>),
    /// A block of an unknown kind, unchanged: a gateway passes it on.
    #[serde(untagged)]
    Other(Box<Map<String, Value>>),
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// An image: base64 data and its MIME type, `image/png` for instance. For bytes use [`Image::from_bytes`].
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Image(Box::new(MediaContent::new(data, mime_type)))
    }

    /// Audio: base64 data and its MIME type, `audio/wav` for instance. For bytes use [`Audio::from_bytes`].
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Audio(Box::new(MediaContent::new(data, mime_type)))
    }

    /// An embedded text resource; for one with a MIME type, or of bytes, use [`ResourceContents`].
    pub fn resource(uri: impl Into<String>, text: impl Into<String>) -> Self {
        ResourceContents::text(uri, text).into()
    }

    /// A link to a resource.
    pub fn link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        ResourceLink::new(uri, name).into()
    }

    /// Sets the members that every block can have, instead of those it has.
    ///
    /// ```
    /// use tool_runtime::ContentBlock;
    /// use tool_runtime::content::{ContentAnnotations, ContentExtra};
    ///
    /// let urgent = ContentExtra::from(ContentAnnotations::default().with_priority(1.0));
    /// let block = ContentBlock::text("on fire").with_extra(urgent);
    /// assert!(serde_json::to_string(&block)?.contains(r#""priority":1.0"#));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn with_extra(mut self, extra: ContentExtra) -> Self {
        match &mut self {
            Self::Text(text) => text.extra = Some(Box::new(extra)),
            Self::Image(media) | Self::Audio(media) => media.extra = Some(Box::new(extra)),
            Self::Resource(embedded) => embedded.extra = Some(Box::new(extra)),
            Self::ResourceLink(link) => link.extra = Some(Box::new(extra)),
            Self::Other(members) => members.extend(extra.into_members()),
        }
        self
    }

    /// The text, if it is a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(content.text()),
            _ => None,
        }
    }

    /// The block as other crates convert it.
    #[doc(hidden)]
    pub fn form(&self) -> BlockForm<'_> {
        match self {
            Self::Text(content) if content.extra.is_none() => BlockForm::Plain(content.text()),
            Self::Text(_)
            | Self::Image(_)
            | Self::Audio(_)
            | Self::Resource(_)
            | Self::ResourceLink(_) => BlockForm::Known(self),
            Self::Other(members) => BlockForm::Other(members),
        }
    }

    /// Whether all members of the block are known.
    pub(crate) fn is_known(&self) -> bool {
        let is_known =
            |extra: &Option<Box<ContentExtra>>| extra.as_deref().is_none_or(ContentExtra::is_known);
        match self {
            Self::Text(text) => is_known(&text.extra),
            Self::Image(media) | Self::Audio(media) => is_known(&media.extra),
            Self::Resource(embedded) => is_known(&embedded.extra),
            Self::ResourceLink(link) => is_known(&link.extra),
            Self::Other(_) => false,
        }
    }
}

/// The forms of a block that other crates distinguish. Exhaustive, unlike [`ContentBlock`]: a new kind
/// of block must be assigned to a form in [`ContentBlock::form`].
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub enum BlockForm<'a> {
    /// A text and nothing else.
    Plain(&'a str),
    /// A block of the specification, which its JSON form converts.
    Known(&'a ContentBlock),
    /// A block of an unknown kind.
    Other(&'a Map<String, Value>),
}

/// A text block's content.
///
/// ```
/// use tool_runtime::ContentBlock;
/// use tool_runtime::content::TextContent;
///
/// let ContentBlock::Text(content) = ContentBlock::text("hello") else { panic!() };
/// assert_eq!(content.text(), "hello");
/// assert_eq!(content, TextContent::new("hello"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TextContent {
    /// Short strings, a number for instance, are stored inline, without an allocation.
    text: CompactString,
    /// Audience, priority and metadata.
    #[serde(flatten, deserialize_with = "non_empty", skip_serializing_if = "Option::is_none")]
    pub extra: Option<Box<ContentExtra>>,
}

impl TextContent {
    /// Creates a text block.
    pub fn new(text: impl Into<String>) -> Self {
        Self::compact(text.into().into())
    }

    pub(crate) fn compact(text: CompactString) -> Self {
        Self { text, extra: None }
    }

    /// Sets the members besides the text.
    pub(crate) fn with_extra(mut self, extra: Option<Box<ContentExtra>>) -> Self {
        self.extra = extra;
        self
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// An image or audio.
///
/// ```
/// use tool_runtime::content::MediaContent;
///
/// let dot = MediaContent::new("iVBORw0KGgo=", "image/png");
/// assert_eq!(dot.mime_type, "image/png");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MediaContent {
    /// The bytes, base64.
    pub data: String,
    /// The MIME type.
    pub mime_type: String,
    /// Audience, priority and metadata.
    #[serde(flatten, deserialize_with = "non_empty", skip_serializing_if = "Option::is_none")]
    pub extra: Option<Box<ContentExtra>>,
}

impl MediaContent {
    /// Creates a block from base64 data and a MIME type.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self { data: data.into(), mime_type: mime_type.into(), extra: None }
    }
}

/// A resource in a result.
///
/// ```
/// use tool_runtime::ContentBlock;
///
/// let block = ContentBlock::resource("notes://1", "buy milk");
/// assert!(serde_json::to_string(&block)?.contains("notes://1"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// The contents of the resource.
    pub resource: ResourceContents,
    /// Audience, priority and metadata.
    #[serde(flatten, deserialize_with = "non_empty", skip_serializing_if = "Option::is_none")]
    pub extra: Option<Box<ContentExtra>>,
}

impl EmbeddedResource {
    /// Creates a block from the contents of a resource.
    pub fn new(resource: ResourceContents) -> Self {
        Self { resource, extra: None }
    }
}

/// The contents of a resource: text or base64 bytes.
///
/// ```
/// use tool_runtime::content::ResourceContents;
///
/// let contents: ResourceContents = serde_json::from_str(r#"{"uri":"a:b","text":"x"}"#)?;
/// assert_eq!(contents.text.as_deref(), Some("x"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceContents {
    /// The resource's URI.
    pub uri: String,
    /// The MIME type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text, if the contents are text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes in base64, if the contents are not text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// MCP metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
}

impl ResourceContents {
    /// Contents that are text.
    ///
    /// ```
    /// use tool_runtime::ContentBlock;
    /// use tool_runtime::content::ResourceContents;
    ///
    /// let contents = ResourceContents::text("notes://1", "{}").with_mime_type("application/json");
    /// let block = ContentBlock::from(contents);
    /// assert!(serde_json::to_string(&block)?.contains("application/json"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::empty(uri.into()) }
    }

    /// Contents that are bytes, given in base64.
    ///
    /// ```
    /// # use tool_runtime::content::ResourceContents;
    /// let dot = ResourceContents::blob("dots://1", "iVBORw0KGgo=").with_mime_type("image/png");
    /// assert_eq!(dot.mime_type.as_deref(), Some("image/png"));
    /// ```
    pub fn blob(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        Self { blob: Some(base64.into()), ..Self::empty(uri.into()) }
    }

    /// Contents that are bytes. The MIME type is that of the bytes, for PNG, JPEG, GIF, WebP and PDF.
    ///
    /// ```
    /// # use tool_runtime::content::ResourceContents;
    /// let report = ResourceContents::from_bytes("reports://1", b"%PDF-1.7");
    /// assert_eq!(report.mime_type.as_deref(), Some("application/pdf"));
    /// ```
    pub fn from_bytes(uri: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        let mime_type = media::recognized(bytes.as_ref()).map(str::to_owned);
        Self { mime_type, ..Self::blob(uri, media::base64(bytes.as_ref())) }
    }

    /// Sets the MIME type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets MCP metadata.
    ///
    /// ```
    /// # use tool_runtime::content::ResourceContents;
    /// let meta = [("language".to_owned(), "de".into())].into_iter().collect();
    /// let contents = ResourceContents::text("notes://1", "Milch").with_meta(meta);
    /// assert!(contents.meta.is_some());
    /// ```
    #[must_use]
    pub fn with_meta(mut self, meta: Map<String, Value>) -> Self {
        self.meta = Some(meta);
        self
    }

    pub(crate) fn empty(uri: String) -> Self {
        Self { uri, mime_type: None, text: None, blob: None, meta: None }
    }

    /// All members, so that a new one cannot be forgotten in a conversion: URI, MIME type, text, blob,
    /// metadata.
    #[doc(hidden)]
    pub fn into_members(self) -> ResourceMembers {
        let Self { uri, mime_type, text, blob, meta } = self;
        (uri, mime_type, text, blob, meta)
    }
}

/// The members of [`ResourceContents`], in its order.
#[doc(hidden)]
pub type ResourceMembers =
    (String, Option<String>, Option<String>, Option<String>, Option<Map<String, Value>>);

/// The resource, whole.
impl From<ResourceContents> for ContentBlock {
    fn from(resource: ResourceContents) -> Self {
        Self::Resource(Box::new(EmbeddedResource::new(resource)))
    }
}

/// A link to a resource that the client may fetch.
///
/// ```
/// use tool_runtime::ContentBlock;
///
/// let ContentBlock::ResourceLink(link) = ContentBlock::link("file:///a", "a") else { panic!() };
/// assert_eq!(link.name, "a");
/// ```
///
/// With more than an address and a name:
///
/// ```
/// use tool_runtime::ContentBlock;
/// use tool_runtime::content::ResourceLink;
///
/// let link = ResourceLink::new("file:///a.png", "a").with_mime_type("image/png").with_size(70);
/// let block = ContentBlock::from(link);
/// # let _ = block;
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceLink {
    /// The resource's URI.
    pub uri: String,
    /// The name.
    pub name: String,
    /// A display title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The MIME type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Audience, priority and metadata.
    #[serde(flatten, deserialize_with = "non_empty", skip_serializing_if = "Option::is_none")]
    pub extra: Option<Box<ContentExtra>>,
}

impl ResourceLink {
    /// A link from the address of a resource and its name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            extra: None,
        }
    }

    /// Sets the display title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the MIME type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the size in bytes.
    #[must_use]
    pub fn with_size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }
}

/// A link.
impl From<ResourceLink> for ContentBlock {
    fn from(link: ResourceLink) -> Self {
        Self::ResourceLink(Box::new(link))
    }
}

/// Optional members that every content block has.
///
/// ```
/// use tool_runtime::content::{ContentAnnotations, ContentExtra};
///
/// let extra = ContentExtra::from(ContentAnnotations::default().with_priority(0.5));
/// assert_eq!(serde_json::to_string(&extra)?, r#"{"annotations":{"priority":0.5}}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ContentExtra {
    /// Audience and priority of the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ContentAnnotations>,
    /// MCP metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    /// Unknown members.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl ContentExtra {
    /// Sets MCP metadata.
    #[must_use]
    pub fn with_meta(mut self, meta: Map<String, Value>) -> Self {
        self.meta = Some(meta);
        self
    }

    fn into_members(self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        }
    }

    fn is_known(&self) -> bool {
        let annotations = self.annotations.as_ref();
        self.other.is_empty() && annotations.is_none_or(|annotations| annotations.other.is_empty())
    }
}

/// Annotations and nothing else.
impl From<ContentAnnotations> for ContentExtra {
    fn from(annotations: ContentAnnotations) -> Self {
        Self { annotations: Some(annotations), ..Self::default() }
    }
}

/// Audience, priority and modification time of a content block.
///
/// ```
/// use tool_runtime::content::ContentAnnotations;
///
/// let annotations = ContentAnnotations::default().with_audience(["user"]).with_priority(0.5);
/// assert_eq!(annotations.audience, ["user"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContentAnnotations {
    /// `user`, `assistant` or both.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<String>,
    /// From 0 (optional) to 1 (required).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// The time of the last change, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// Unknown members.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl ContentAnnotations {
    /// Sets the audience: `user`, `assistant` or both.
    #[must_use]
    pub fn with_audience<T: Into<String>>(mut self, audience: impl IntoIterator<Item = T>) -> Self {
        self.audience = audience.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the priority, from 0 (optional) to 1 (required).
    #[must_use]
    pub fn with_priority(mut self, priority: f64) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Sets the time of the last change, ISO 8601.
    #[must_use]
    pub fn with_last_modified(mut self, time: impl Into<String>) -> Self {
        self.last_modified = Some(time.into());
        self
    }
}

/// Decodes the members that are not content. `None` if there are no such members.
fn non_empty<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<ContentExtra>>, D::Error> {
    let extra = ContentExtra::deserialize(deserializer)?;
    Ok((extra != ContentExtra::default()).then(|| Box::new(extra)))
}
