//! Base64 to bytes, in both alphabets: only what is written to files is ever decoded.

/// How many bytes base64 text holds, told by its length.
pub(super) fn decoded_length(text: &str) -> usize {
    let digits = text.trim_end_matches(['=', '\n', '\r']).len();
    digits / 4 * 3 + digits % 4 * 3 / 4
}

/// The bytes; `None` for what is no base64. Line breaks are skipped.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches(['=', '\n', '\r']);
    let digits = text.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r'));
    let mut bytes = Vec::with_capacity(decoded_length(text));
    let (mut bits, mut held) = (0_u32, 0_u32);
    for digit in digits {
        bits = bits << 6 | u32::from(value(digit)?);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    // Six bits that are left over belong to no byte.
    (held < 6).then_some(bytes)
}

fn value(digit: u8) -> Option<u8> {
    Some(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
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
