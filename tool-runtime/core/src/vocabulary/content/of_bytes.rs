//! Images and audio from bytes.

use super::media::{UNKNOWN, base64, recognized};
use super::{ContentBlock, MediaContent};

/// An image, as a result of a tool or a part of one.
///
/// ```
/// use tool_runtime::content::Image;
/// use tool_runtime::prelude::*;
///
/// # fn draw(_: u32) -> Vec<u8> { b"\x89PNG\r\n\x1a\n".to_vec() }
/// /// Draw a circle.
/// #[tool(read_only)]
/// async fn circle(
///     /// The radius, in pixels.
///     radius: u32,
/// ) -> Image {
///     Image::from_bytes(draw(radius))
/// }
///
/// /// Draw a circle, and say how large it is.
/// #[tool(read_only)]
/// async fn described_circle(
///     /// The radius, in pixels.
///     radius: u32,
/// ) -> Vec<ContentBlock> {
///     let text = format!("radius {radius}");
///     vec![ContentBlock::text(text), Image::from_bytes(draw(radius)).into()]
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = ToolPool::builder().tool::<CircleAction>().build()?;
/// let result = pool.call(ToolCall::new("circle", r#"{"radius": 5}"#)).await;
/// assert_eq!(result.observation().content(), [ContentBlock::image("iVBORw0KGgo=", "image/png")]);
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Image(MediaContent);

/// Audio, as a result of a tool or a part of one.
///
/// ```
/// use tool_runtime::ContentBlock;
/// use tool_runtime::content::Audio;
///
/// let block = ContentBlock::from(Audio::from_bytes(b"RIFF", "audio/wav"));
/// assert_eq!(block, ContentBlock::audio("UklGRg==", "audio/wav"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Audio(MediaContent);

impl Image {
    /// The image of a file's bytes. The MIME type is that of the bytes, for PNG, JPEG, GIF and WebP; that of another format
    /// is set by [`Self::with_mime_type`].
    pub fn from_bytes(bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        Self(MediaContent::new(base64(bytes), recognized(bytes).unwrap_or(UNKNOWN)))
    }

    /// Sets the MIME type, such as `image/svg+xml`.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.0.mime_type = mime_type.into();
        self
    }
}

impl Audio {
    /// The audio of a file's bytes, with its MIME type, such as `audio/wav`.
    pub fn from_bytes(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self(MediaContent::new(base64(bytes.as_ref()), mime_type))
    }
}

impl From<Image> for ContentBlock {
    fn from(image: Image) -> Self {
        Self::Image(Box::new(image.0))
    }
}

impl From<Audio> for ContentBlock {
    fn from(audio: Audio) -> Self {
        Self::Audio(Box::new(audio.0))
    }
}
