//! Pictures that clients show beside a name.

use serde::{Deserialize, Serialize};

/// A picture that a client may show beside a name.
///
/// ```
/// use tool_runtime::Icon;
///
/// let icon = Icon::new("https://example.com/note.png");
/// assert_eq!(serde_json::to_string(&icon)?, r#"{"src":"https://example.com/note.png"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Icon {
    /// Where it is: an `https:` or a `data:` URI.
    pub src: String,
    /// Its MIME type, where the server of the picture does not send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The sizes it has, as in `48x48`; `any` for a picture that scales.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// The background that it is made for: `light` or `dark`. Default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme: Option<String>,
}

impl Icon {
    /// The picture at an address.
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), mime_type: None, sizes: Vec::new(), theme: None }
    }
}
