//! Names of keys, as the bytes that a terminal sends.

/// Keys with names of their own.
const NAMED: &[(&str, &str)] = &[
    ("ENTER", "\r"),
    ("TAB", "\t"),
    ("ESC", "\x1b"),
    ("BS", "\x7f"),
    ("UP", "\x1b[A"),
    ("DOWN", "\x1b[B"),
    ("RIGHT", "\x1b[C"),
    ("LEFT", "\x1b[D"),
    ("HOME", "\x1b[H"),
    ("END", "\x1b[F"),
    ("PGUP", "\x1b[5~"),
    ("PGDN", "\x1b[6~"),
];

/// The bytes of an input: those of a key such as `C-c` or `UP`, or else the text and the key Enter.
pub(super) fn bytes(input: &str) -> Vec<u8> {
    match key(input) {
        Some(bytes) => bytes,
        None => [input.as_bytes(), b"\r"].concat(),
    }
}

fn key(name: &str) -> Option<Vec<u8>> {
    if let Some(letter) = name.strip_prefix("C-") {
        return match letter.as_bytes() {
            // The control characters of letters are their last five bits.
            [letter @ (b'a'..=b'z' | b'A'..=b'Z' | b'[' | b'\\' | b']' | b'^' | b'_')] => {
                Some(vec![letter & 0x1f])
            }
            _ => None,
        };
    }
    let named = NAMED.iter().find(|(known, _)| *known == name);
    named.map(|(_, bytes)| bytes.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn keys_and_texts() {
        let cases: &[(&str, &[u8])] = &[
            ("C-c", b"\x03"),
            ("C-D", b"\x04"),
            ("C-z", b"\x1a"),
            ("C-[", b"\x1b"),
            ("UP", b"\x1b[A"),
            ("ENTER", b"\r"),
            ("TAB", b"\t"),
            ("C-cc", b"C-cc\r"),
            ("yes", b"yes\r"),
            ("up", b"up\r"),
            ("", b"\r"),
        ];
        for (input, expected) in cases {
            assert_eq!(bytes(input), *expected, "{input}");
        }
    }
}
