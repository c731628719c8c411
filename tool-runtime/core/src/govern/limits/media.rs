//! Limits images and audio: a block is passed on whole or replaced by a notice.

use super::notice;
use super::spill::Spill;
use crate::vocabulary::content::{ContentBlock, MediaContent, TextContent};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Whether an image, an audio clip or a block of an unknown kind is larger than the limit.
pub(super) fn exceeds(block: &ContentBlock, limit: Option<usize>) -> bool {
    match (block, limit) {
        (ContentBlock::Image(media) | ContentBlock::Audio(media), Some(limit)) => {
            decoded_length(&media.data) > limit
        }
        // An unknown block is measured by its JSON text.
        (ContentBlock::Other(block), Some(limit)) => length(block) > limit,
        _ => false,
    }
}

/// Replaces a block that is too large by a notice.
pub(super) fn apply_limit(
    block: ContentBlock,
    limit: Option<usize>,
    spill: &Spill<'_>,
) -> ContentBlock {
    match (block, limit) {
        (block, Some(limit)) if exceeds(&block, Some(limit)) => match block {
            ContentBlock::Image(media) => notice_block("image", *media, limit, spill),
            ContentBlock::Audio(media) => notice_block("audio", *media, limit, spill),
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

fn notice_block(kind: &str, media: MediaContent, limit: usize, spill: &Spill<'_>) -> ContentBlock {
    let file = store(&media.data, &media.mime_type, spill);
    let subject = format!("{kind} of type {}", media.mime_type);
    let bytes = decoded_length(&media.data);
    let text = notice::left_out(&subject, bytes, limit, file.as_deref());
    ContentBlock::Text(TextContent::new(text).with_extra(media.extra))
}

/// Stores the bytes; invalid base64 is stored as text.
pub(super) fn store(data: &str, mime_type: &str, spill: &Spill<'_>) -> Option<PathBuf> {
    if !spill.is_enabled() {
        return None;
    }
    match decode(data) {
        Some(bytes) => spill.store(&bytes, extension(mime_type)),
        None => spill.store(data.as_bytes(), "base64"),
    }
}

/// The number of bytes that base64 text encodes.
pub(super) fn decoded_length(text: &str) -> usize {
    let digits = text.trim_end_matches(['=', '\n', '\r']).len();
    digits / 4 * 3 + digits % 4 * 3 / 4
}

/// The bytes; `None` if the text is not valid base64. Line breaks are skipped.
fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r'));
    STANDARD.decode(digits.collect::<Vec<u8>>()).ok()
}

/// The file extension for a MIME type.
fn extension(mime_type: &str) -> &'static str {
    let kind = mime_type.split(';').next().unwrap_or_default().trim();
    match kind.to_ascii_lowercase().as_str() {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/ogg" | "audio/opus" => "ogg",
        "audio/mp4" | "audio/x-m4a" => "m4a",
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
    fn media_over_the_limit_becomes_text() {
        let spill = Spill::new(None, "draw");
        let image = ContentBlock::image("AAAAAAA=", "image/png");
        assert_eq!(apply_limit(image.clone(), Some(5), &spill), image);
        assert_eq!(
            apply_limit(image, Some(4), &spill).as_text(),
            Some(
                "[left out: image of type image/png, 5 bytes; at most 4 are passed on, ask for something smaller]"
            )
        );
        let sound = apply_limit(ContentBlock::audio("AAAA", "audio/wav"), Some(1), &spill);
        assert!(sound.as_text().is_some_and(|text| text.contains("audio of type audio/wav")));
    }

    #[test]
    fn the_file_extension_follows_the_media_type() {
        assert_eq!(extension("Image/PNG; q=1"), "png");
        assert_eq!(extension("../etc/passwd"), "bin");
    }

    #[test]
    fn the_vectors_of_rfc_4648_decode() {
        let rows = [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9vYmE=", "fooba"),
            ("Zm9v\nYmFy\r\n", "foobar"),
        ];
        for (text, bytes) in rows {
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
    }

    #[test]
    fn the_length_is_computed_without_decoding() {
        for (text, length) in
            [("", 0), ("Zg==", 1), ("Zg", 1), ("Zm8=", 2), ("Zm9v", 3), ("Zm9v\n", 3)]
        {
            assert_eq!(decoded_length(text), length, "{text}");
        }
    }

    #[test]
    fn invalid_base64_is_not_decoded() {
        for text in ["A", "A=AA", "A A", "ä", "AAAAA"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
