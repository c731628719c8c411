//! The normal form of media: standard base64, and the type that the bytes have.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::borrow::Cow;

/// The type of bytes whose own type is not known.
pub(super) const UNKNOWN: &str = "application/octet-stream";

/// Accepts base64 with and without padding.
const DECODER: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Media in the form that model APIs take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media<'a> {
    /// The MIME type in lower case, without parameters. That of the bytes for PNG, JPEG, GIF, WebP and PDF, whatever was
    /// declared; `application/octet-stream` for bytes that are declared as one of them and are not.
    pub mime_type: Cow<'a, str>,
    /// Standard base64, with padding.
    pub data: Cow<'a, str>,
}

/// Bytes in standard base64, with padding.
pub(super) fn base64(bytes: &[u8]) -> String {
    DECODER.encode(bytes)
}

/// Brings media into their normal form. The data may be a data URL, lack padding, contain white space, or use the
/// alphabet of URLs. `None` if they are not base64.
pub fn normal_media<'a>(mime_type: &'a str, data: &'a str) -> Option<Media<'a>> {
    let (url_type, data) = split_data_url(data).unwrap_or(("", data));
    let data = normal_base64(data)?;
    let head = DECODER.decode(&data[..data.len().min(24)]).ok()?;
    let declared = [mime_type, url_type].into_iter().find(|kind| kind.contains('/'));
    let declared = normal_type(declared.unwrap_or(UNKNOWN));
    let mime_type = match recognized(&head) {
        Some(own) => Cow::Borrowed(own),
        None if RECOGNIZED.iter().any(|(known, _)| *known == declared) => Cow::Borrowed(UNKNOWN),
        None => declared,
    };
    Some(Media { mime_type, data })
}

/// The media type and the data of `data:image/png;base64,AAAA`. The type may be empty.
pub fn split_data_url(text: &str) -> Option<(&str, &str)> {
    let (head, data) = text.trim_start().strip_prefix("data:")?.split_once(',')?;
    let head = head.strip_suffix(";base64")?;
    Some((head.split(';').next().unwrap_or_default(), data))
}

fn normal_base64(data: &str) -> Option<Cow<'_, str>> {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let digits = data.trim_end_matches('=');
    let is_normal = data.len().is_multiple_of(4)
        && data.len() - digits.len() <= 2
        && digits.bytes().all(|byte| is_digit(&byte));
    if is_normal {
        return Some(Cow::Borrowed(data));
    }
    let digits = data.chars().filter(|c| !c.is_ascii_whitespace() && *c != '=').map(|c| match c {
        '-' => '+',
        '_' => '/',
        other => other,
    });
    let mut normal: String = digits.collect();
    if normal.len() % 4 == 1 || !normal.bytes().all(|byte| is_digit(&byte)) {
        return None;
    }
    while !normal.len().is_multiple_of(4) {
        normal.push('=');
    }
    Some(Cow::Owned(normal))
}

fn normal_type(mime_type: &str) -> Cow<'_, str> {
    let kind = mime_type.split(';').next().unwrap_or_default().trim();
    let kind = match kind.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(kind.to_ascii_lowercase()),
        false => Cow::Borrowed(kind),
    };
    if kind == "image/jpg" { Cow::Borrowed("image/jpeg") } else { kind }
}

/// Types that are recognized by their first bytes.
const RECOGNIZED: [(&str, &[u8]); 5] = [
    ("image/png", b"\x89PNG"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("image/webp", b"RIFF"),
    ("application/pdf", b"%PDF"),
];

/// The MIME type of bytes that begin as a file of a known type.
pub(super) fn recognized(bytes: &[u8]) -> Option<&'static str> {
    let (kind, _) = RECOGNIZED.iter().find(|(_, start)| bytes.starts_with(start))?;
    // Sounds and videos are RIFF, too.
    (*kind != "image/webp" || bytes.get(8..12) == Some(b"WEBP")).then_some(*kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(mime_type: &str, data: &str) -> Option<(String, String)> {
        normal_media(mime_type, data).map(|media| (media.mime_type.into(), media.data.into()))
    }

    #[test]
    fn a_data_url_missing_padding_and_other_alphabets_become_base64() {
        let png = Some(("image/png".to_owned(), "iVBORw0KGgo=".to_owned()));
        for data in [
            "iVBORw0KGgo=",
            "iVBORw0KGgo",
            "data:image/png;base64,iVBORw0KGgo=",
            "data:;base64,iVBORw0KGgo",
            "iVBO\nRw0K\r\nGgo=\n",
        ] {
            assert_eq!(normal("image/png", data), png, "{data}");
        }
        assert_eq!(
            normal("", "data:audio/wav;base64,AAAA"),
            Some(("audio/wav".into(), "AAAA".into()))
        );
        assert_eq!(normal("audio/wav", "-_-_").unwrap().1, "+/+/");
    }

    #[test]
    fn the_bytes_decide_about_the_type() {
        for declared in
            ["image/jpeg", "IMAGE/PNG", "image/png; charset=binary", "", "application/octet-stream"]
        {
            assert_eq!(normal(declared, "iVBORw0KGgo=").unwrap().0, "image/png", "{declared}");
        }
        assert_eq!(normal("image/jpg", "/9j/4AAQ").unwrap().0, "image/jpeg");
        assert_eq!(normal("image/png", "AAAA").unwrap().0, "application/octet-stream");
        assert_eq!(normal("audio/WAV", "UklGRgAAAABXQVZF").unwrap().0, "audio/wav");
        assert_eq!(normal("image/gif", "UklGRgAAAABXRUJQ").unwrap().0, "image/webp");
    }

    #[test]
    fn other_text_is_not_media() {
        for data in ["not base64!", "AAAAA", "https://example.org/a.png", "data:image/png;base64"] {
            assert_eq!(normal("image/png", data), None, "{data}");
        }
    }
}
