//! Encodings of text files.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use std::borrow::Cow;

/// The encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::files) enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    /// One without state, so that equal text has equal bytes.
    Legacy(&'static encoding_rs::Encoding),
}

impl Encoding {
    /// The likely encoding of bytes without byte order mark.
    pub(in crate::files) fn detect(bytes: &[u8]) -> Self {
        if std::str::from_utf8(bytes).is_ok() {
            return Self::Utf8;
        }
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        detector.feed(bytes, true);
        Self::Legacy(detector.guess(None, Utf8Detection::Deny))
    }

    /// The name of an encoding that was guessed from the bytes, and may be another.
    pub(in crate::files) fn assumed(self) -> Option<&'static str> {
        match self {
            Self::Legacy(encoding) => Some(encoding.name()),
            _ => None,
        }
    }

    pub(in crate::files) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
            Self::Legacy(encoding) => encoding.name(),
        }
    }

    /// The byte order mark.
    pub(super) fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8 => super::UTF8_BOM,
            Self::Utf16Le => super::UTF16_LE_BOM,
            Self::Utf16Be => super::UTF16_BE_BOM,
            Self::Legacy(_) => b"",
        }
    }

    /// The text, if it has the same bytes again.
    pub(super) fn decode(self, bytes: &[u8]) -> Option<String> {
        match self {
            Self::Utf8 => std::str::from_utf8(bytes).ok().map(str::to_owned),
            Self::Utf16Le => utf16(bytes, u16::from_le_bytes),
            Self::Utf16Be => utf16(bytes, u16::from_be_bytes),
            Self::Legacy(encoding) => {
                let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
                let (again, _, _) = encoding.encode(&text);
                (*again == *bytes).then(|| text.into_owned())
            }
        }
    }

    /// The text of a line, for display. Not for the encodings of 16 bits.
    pub(in crate::files) fn decode_lossy(self, bytes: &[u8]) -> Cow<'_, str> {
        match self {
            Self::Legacy(encoding) => encoding.decode_without_bom_handling(bytes).0,
            _ => String::from_utf8_lossy(bytes),
        }
    }

    /// Appends the bytes of a string.
    ///
    /// # Errors
    /// The first character that the encoding lacks.
    pub(super) fn encode(self, text: &str, bytes: &mut Vec<u8>) -> Result<(), char> {
        match self {
            Self::Utf8 => bytes.extend_from_slice(text.as_bytes()),
            Self::Utf16Le => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
            Self::Utf16Be => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
            Self::Legacy(encoding) => {
                let (encoded, _, has_unmappable) = encoding.encode(text);
                if has_unmappable {
                    return Err(unmappable(encoding, text));
                }
                bytes.extend_from_slice(&encoded);
            }
        }
        Ok(())
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().copied().map(unit);
    rest.is_empty().then(|| char::decode_utf16(units).collect::<Result<_, _>>().ok())?
}

fn unmappable(encoding: &'static encoding_rs::Encoding, text: &str) -> char {
    let lacks = |character: &char| encoding.encode(character.encode_utf8(&mut [0; 4])).2;
    text.chars().find(lacks).unwrap_or(char::REPLACEMENT_CHARACTER)
}
