//! Text files: encoding, byte order mark, line endings.

mod encoding;
mod eol;

pub(super) use encoding::Encoding;
pub use eol::Eol;
pub(super) use eol::LfView;
use std::fmt;

/// Bytes that are looked at to tell text from binary data.
const SAMPLE: usize = 8 * 1024;

const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";
const UTF16_LE_BOM: &[u8] = b"\xFF\xFE";
const UTF16_BE_BOM: &[u8] = b"\xFE\xFF";

/// A decoded file, which [`Text::encode`] turns into the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// Without byte order mark, with line endings as in the file.
    pub(super) content: String,
    pub(super) encoding: Encoding,
    pub(super) has_bom: bool,
}

/// The reason why bytes are not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    /// The MIME type, if the format is known.
    Format(Option<&'static str>),
    /// The likely encoding, which would write other bytes for the same text.
    Lossy(&'static str),
}

/// Continues a sentence about a file.
impl fmt::Display for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(None) => f.write_str("is not text"),
            Self::Format(Some(format)) => write!(f, "is not text ({format})"),
            Self::Lossy(encoding) => write!(
                f,
                "is not text, or its encoding is not known: as {encoding} it has bytes that would not be kept; convert it to UTF-8 first, as by `iconv`"
            ),
        }
    }
}

impl Text {
    /// A new file.
    pub(super) fn new(content: &str) -> Self {
        Self { content: content.to_owned(), encoding: Encoding::Utf8, has_bom: false }
    }

    /// Decodes a file.
    ///
    /// # Errors
    /// It is binary, or has no encoding that restores its bytes.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Binary> {
        let marks = [
            (UTF8_BOM, Encoding::Utf8),
            (UTF16_LE_BOM, Encoding::Utf16Le),
            (UTF16_BE_BOM, Encoding::Utf16Be),
        ];
        for (mark, encoding) in marks {
            if let Some(rest) = bytes.strip_prefix(mark)
                && let Some(content) = encoding.decode(rest)
            {
                return Ok(Self { content, encoding, has_bom: true });
            }
        }
        if is_binary(bytes) {
            return Err(Binary::Format(infer::get(bytes).map(|kind| kind.mime_type())));
        }
        let encoding = Encoding::detect(bytes);
        match encoding.decode(bytes) {
            Some(content) => Ok(Self { content, encoding, has_bom: false }),
            None => Err(Binary::Lossy(encoding.name())),
        }
    }

    /// The bytes of other content in the same encoding.
    ///
    /// # Errors
    /// The first character that the encoding lacks.
    pub(super) fn encode(&self, content: &str) -> Result<Vec<u8>, char> {
        let mut bytes = if self.has_bom { self.encoding.mark().to_vec() } else { Vec::new() };
        self.encoding.encode(content, &mut bytes)?;
        Ok(bytes)
    }
}

/// Whether the beginning has bytes that text does not have. Escape sequences of terminals and separators of records, as
/// U+001C, are text.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let is_control = |byte: &&u8| matches!(**byte, 1..=6 | 14..=26 | 127);
    sample.contains(&0) || sample.iter().filter(is_control).count() * 20 > sample.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn decoded(bytes: &[u8], encoding: &str, content: &str) {
        let text = Text::decode(bytes).unwrap();
        assert_eq!((text.encoding.name(), text.content.as_str()), (encoding, content));
        assert_eq!(text.encode(content).unwrap(), bytes);
    }

    #[test]
    fn encodings_are_detected_and_kept() {
        decoded("grün".as_bytes(), "UTF-8", "grün");
        decoded(b"\xEF\xBB\xBFa\r\n", "UTF-8", "a\r\n");
        decoded(b"\xFF\xFEa\0\n\0", "UTF-16LE", "a\n");
        decoded(b"\xFE\xFF\0a\xD8\x3D\xDE\x00", "UTF-16BE", "a😀");
        decoded(b"caf\xE9 na\xEFve, d\xE9j\xE0 vu", "windows-1252", "café naïve, déjà vu");
        decoded(b"", "UTF-8", "");
        let japanese = encoding_rs::SHIFT_JIS.encode("これは日本語の文章です。").0.into_owned();
        decoded(&japanese, "Shift_JIS", "これは日本語の文章です。");
    }

    #[test]
    fn binary_data_is_not_text() {
        let png = b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR";
        assert_eq!(Text::decode(png), Err(Binary::Format(Some("image/png"))));
        assert_eq!(Text::decode(b"a\0b"), Err(Binary::Format(None)));
        assert_eq!(Text::decode(b"a\x01\x02b"), Err(Binary::Format(None)));
        assert!(Text::decode(b"a\x1Cb\x1Ec\n").is_ok());
        assert!(Text::decode(b"\x1B[31mred\x1B[0m").is_ok());
    }

    #[test]
    fn characters_that_an_encoding_lacks_are_named() {
        let text = Text::decode(b"caf\xE9, d\xE9j\xE0").unwrap();
        assert_eq!(text.encode("a → b"), Err('→'));
        assert_eq!(text.encode("50 €"), Ok(b"50 \x80".to_vec()));
    }
}
