//! Pictures and sounds: whole or not at all.

use super::base64;
use super::notice;
use super::spill::Keeper;
use crate::content::{ContentBlock, MediaContent, TextContent};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Whether it is a picture or a sound of more bytes than that.
pub(super) fn exceeds(block: &ContentBlock, limit: Option<usize>) -> bool {
    match (block, limit) {
        (ContentBlock::Image(media) | ContentBlock::Audio(media), Some(limit)) => {
            base64::decoded_length(&media.data) > limit
        }
        // Nobody knows what of it is content.
        (ContentBlock::Other(block), Some(limit)) => length(block) > limit,
        _ => false,
    }
}

/// A text in the place of a picture or a sound that is too large.
pub(super) fn limited(
    block: ContentBlock,
    limit: Option<usize>,
    keeper: &Keeper<'_>,
) -> ContentBlock {
    match (block, limit) {
        (block, Some(limit)) if exceeds(&block, Some(limit)) => match block {
            ContentBlock::Image(media) => named("image", *media, limit, keeper),
            ContentBlock::Audio(media) => named("audio", *media, limit, keeper),
            ContentBlock::Other(block) => {
                let text =
                    notice::left_out("block of an unknown kind", length(&block), limit, None);
                ContentBlock::text(text)
            }
            other => other,
        },
        (block, _) => block,
    }
}

fn length(block: &Map<String, Value>) -> usize {
    serde_json::to_string(block).map_or(0, |json| json.len())
}

fn named(kind: &str, media: MediaContent, limit: usize, keeper: &Keeper<'_>) -> ContentBlock {
    let file = keep(&media.data, &media.mime_type, keeper);
    let what = format!("{kind} of type {}", media.mime_type);
    let bytes = base64::decoded_length(&media.data);
    let text = notice::left_out(&what, bytes, limit, file.as_deref());
    ContentBlock::Text(TextContent::new(text).with_extra(media.extra))
}

/// Keeps the bytes; what is no base64 is kept as it came.
pub(super) fn keep(data: &str, mime_type: &str, keeper: &Keeper<'_>) -> Option<PathBuf> {
    if !keeper.keeps() {
        return None;
    }
    match base64::decoded(data) {
        Some(bytes) => keeper.keep(&bytes, extension(mime_type)),
        None => keeper.keep(data.as_bytes(), "base64"),
    }
}

/// Tools that open a file often go by its name.
fn extension(mime_type: &str) -> &'static str {
    let kind = mime_type.split(';').next().unwrap_or_default().trim();
    match kind.to_ascii_lowercase().as_str() {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "image/bmp" => "bmp",
        "image/tiff" => "tiff",
        "image/avif" => "avif",
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/ogg" | "audio/opus" => "ogg",
        "audio/flac" | "audio/x-flac" => "flac",
        "audio/aac" => "aac",
        "audio/mp4" | "audio/x-m4a" => "m4a",
        "audio/webm" => "webm",
        "application/pdf" => "pdf",
        "application/zip" => "zip",
        "application/json" => "json",
        "text/plain" => "txt",
        "text/html" => "html",
        "text/csv" => "csv",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stands_for_what_is_too_large() {
        let keeper = Keeper::new(None, "draw");
        let image = ContentBlock::image("AAAAAAA=", "image/png");
        assert_eq!(limited(image.clone(), Some(5), &keeper), image);
        assert_eq!(
            limited(image, Some(4), &keeper).as_text(),
            Some(
                "[left out: image of type image/png, 5 bytes; at most 4 are passed on, ask for something smaller]"
            )
        );
        let sound = limited(ContentBlock::audio("AAAA", "audio/wav"), Some(1), &keeper);
        assert!(sound.as_text().is_some_and(|text| text.contains("audio of type audio/wav")));
    }

    #[test]
    fn a_type_names_its_extension() {
        assert_eq!(extension("Image/PNG; q=1"), "png");
        assert_eq!(extension("../etc/passwd"), "bin");
    }
}
