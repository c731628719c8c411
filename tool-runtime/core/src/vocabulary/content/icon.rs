//! Icons that clients show next to a name.

use serde::{Deserialize, Serialize};

/// An image that a client may show next to a name.
///
/// ```
/// use tool_runtime::content::Icon;
///
/// let icon = Icon::new("https://example.com/note.png");
/// assert_eq!(serde_json::to_string(&icon)?, r#"{"src":"https://example.com/note.png"}"#);
///
/// let icon = icon.with_mime_type("image/png").with_sizes(["48x48"]).with_theme("dark");
/// assert_eq!(icon.sizes, ["48x48"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Icon {
    /// The `https:` or `data:` URI of the image.
    pub src: String,
    /// The MIME type, in case the server of the image does not send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The available sizes, such as `48x48`; `any` for an image that scales.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// The theme of the icon: `light` or `dark`. Default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme: Option<String>,
}

impl Icon {
    /// Creates an icon from the URI of an image.
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), mime_type: None, sizes: Vec::new(), theme: None }
    }

    /// Sets the MIME type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the sizes: `48x48`, or `any` for an image that scales.
    #[must_use]
    pub fn with_sizes<T: Into<String>>(mut self, sizes: impl IntoIterator<Item = T>) -> Self {
        self.sizes = sizes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the theme of the icon: `light` or `dark`.
    #[must_use]
    pub fn with_theme(mut self, theme: impl Into<String>) -> Self {
        self.theme = Some(theme.into());
        self
    }
}
