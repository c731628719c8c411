//! Contents of a resource.

use crate::tool::results::observation::Json;
use crate::vocabulary::content::ResourceContents;
use crate::vocabulary::error::ToolError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use std::borrow::Cow;

/// A request to read a URI: the return value of a resource's function becomes the contents of this
/// URI.
///
/// ```
/// use tool_runtime::resource::{IntoResource, ReadRequest};
///
/// let reading = ReadRequest::new("notes://1").with_mime_type("text/plain");
/// let contents = "Buy a map.".into_resource(reading)?.unwrap();
/// assert_eq!(contents[0].uri, "notes://1");
/// # Ok::<(), tool_runtime::ToolError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ReadRequest<'a> {
    /// The URI as the client sent it.
    pub uri: &'a str,
    /// The MIME type that the resource has by its definition.
    pub mime_type: Option<&'a str>,
}

impl<'a> ReadRequest<'a> {
    /// A request to read a URI, of a resource without a MIME type.
    pub fn new(uri: &'a str) -> Self {
        Self { uri, mime_type: None }
    }

    /// Sets the MIME type that the resource has by its definition.
    #[must_use]
    pub fn with_mime_type(self, mime_type: &'a str) -> Self {
        Self { mime_type: Some(mime_type), ..self }
    }

    /// Contents that are text.
    pub fn text(&self, text: impl Into<String>) -> ResourceContents {
        ResourceContents { text: Some(text.into()), ..self.empty() }
    }

    /// Contents that are bytes.
    ///
    /// ```
    /// use tool_runtime::resource::ReadRequest;
    ///
    /// let reading = ReadRequest::new("dot://1").with_mime_type("image/png");
    /// assert_eq!(reading.bytes(b"foo").blob.as_deref(), Some("Zm9v"));
    /// ```
    pub fn bytes(&self, bytes: &[u8]) -> ResourceContents {
        ResourceContents { blob: Some(STANDARD.encode(bytes)), ..self.empty() }
    }

    fn empty(&self) -> ResourceContents {
        let mime_type = self.mime_type.map(str::to_owned);
        ResourceContents { mime_type, ..ResourceContents::empty(self.uri.to_owned()) }
    }
}

/// A return value that becomes the contents of a resource: text, bytes, [`ResourceContents`] and
/// lists of it, [`Json`], and options and results of these. `None` means that the resource does not
/// exist.
///
/// ```
/// use tool_runtime::ToolError;
/// use tool_runtime::content::ResourceContents;
/// use tool_runtime::resource::{IntoResource, ReadRequest};
///
/// struct Page(String);
///
/// impl IntoResource for Page {
///     fn into_resource(
///         self,
///         reading: ReadRequest<'_>,
///     ) -> Result<Option<Vec<ResourceContents>>, ToolError> {
///         format!("<p>{}</p>", self.0).into_resource(reading)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a resource cannot return `{Self}`",
    label = "no contents",
    note = "return text, `Vec<u8>`, `ResourceContents`, `Vec<ResourceContents>` or `Json(value)`, or implement `IntoResource`; `Option<T>` and `Result<T, E>` of any of these work, where `E` is `ToolError`, an error type, or `Box<dyn Error + Send + Sync>`"
)]
pub trait IntoResource {
    /// Converts the value.
    ///
    /// # Errors
    /// The reason why the resource could not be read.
    fn into_resource(
        self,
        reading: ReadRequest<'_>,
    ) -> Result<Option<Vec<ResourceContents>>, ToolError>;

    /// The MIME type of a definition that has none. Default: it stays without one.
    fn mime_type() -> Option<&'static str> {
        None
    }
}

impl IntoResource for Vec<ResourceContents> {
    fn into_resource(self, _: ReadRequest<'_>) -> Result<Option<Vec<ResourceContents>>, ToolError> {
        Ok(Some(self))
    }
}

impl IntoResource for ResourceContents {
    fn into_resource(self, _: ReadRequest<'_>) -> Result<Option<Vec<ResourceContents>>, ToolError> {
        Ok(Some(vec![self]))
    }
}

/// The MIME type is `application/json` if the definition has none.
impl<T: Serialize> IntoResource for Json<T> {
    fn mime_type() -> Option<&'static str> {
        Some("application/json")
    }

    fn into_resource(
        self,
        reading: ReadRequest<'_>,
    ) -> Result<Option<Vec<ResourceContents>>, ToolError> {
        let text = serde_json::to_string(&self.0).map_err(ToolError::internal)?;
        let mime_type = reading.mime_type.or(Self::mime_type());
        text.into_resource(ReadRequest { mime_type, ..reading })
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoResource> IntoResource for Option<T> {
    fn mime_type() -> Option<&'static str> {
        T::mime_type()
    }

    fn into_resource(
        self,
        reading: ReadRequest<'_>,
    ) -> Result<Option<Vec<ResourceContents>>, ToolError> {
        self.map_or(Ok(None), |contents| contents.into_resource(reading))
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoResource, E: Into<ToolError>> IntoResource for Result<T, E> {
    fn mime_type() -> Option<&'static str> {
        T::mime_type()
    }

    fn into_resource(
        self,
        reading: ReadRequest<'_>,
    ) -> Result<Option<Vec<ResourceContents>>, ToolError> {
        self.map_err(Into::into)?.into_resource(reading)
    }
}

/// Types that are text, and types that are bytes.
macro_rules! contents {
    ($($how:ident: $($contents:ty),*;)*) => {$($(
        impl IntoResource for $contents {
            fn into_resource(
                self,
                reading: ReadRequest<'_>,
            ) -> Result<Option<Vec<ResourceContents>>, ToolError> {
                #[allow(clippy::needless_borrows_for_generic_args, reason = "text moves, bytes are read")]
                Ok(Some(vec![contents!($how reading self)]))
            }
        }
    )*)*};
    (text $reading:ident $this:ident) => { $reading.text($this) };
    (bytes $reading:ident $this:ident) => { $reading.bytes(&$this) };
}

contents! {
    text: String, &'static str, Box<str>, Cow<'static, str>;
    bytes: Vec<u8>, &'static [u8], Box<[u8]>, Cow<'static, [u8]>;
}
