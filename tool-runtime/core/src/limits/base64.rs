//! Base64 to bytes, in both alphabets. Only data that is written to files is decoded.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Takes text without padding, whose last digit may have bits that belong to no byte.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

/// How many bytes base64 text holds, told by its length.
pub(super) fn decoded_length(text: &str) -> usize {
    let digits = text.trim_end_matches(['=', '\n', '\r']).len();
    digits / 4 * 3 + digits % 4 * 3 / 4
}

/// The bytes; `None` if the text is not valid base64. Line breaks are skipped.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches(['=', '\n', '\r']);
    let standard = |digit| match digit {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    };
    let digits = text.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')).map(standard);
    LENIENT.decode(digits.collect::<Vec<u8>>()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(decoded(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        assert_eq!(decoded("-_+/"), Some(vec![0xfb, 0xff, 0xbf]));
    }

    #[test]
    fn the_length_is_told_without_decoding() {
        for length in 0..9 {
            let text = "A".repeat((length * 4_usize).div_ceil(3));
            assert_eq!(decoded_length(&text), length);
            assert_eq!(decoded(&text).map(|bytes| bytes.len()), Some(length));
        }
    }

    #[test]
    fn what_is_no_base64_is_none() {
        for text in ["A", "A=AA", "A A", "ä", "AAAAA"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }
}
