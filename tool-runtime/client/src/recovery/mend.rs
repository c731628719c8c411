//! Replaces invalid UTF-8 by U+FFFD.

use std::borrow::Cow;

/// How long an escape is: `\ud800`.
const ESCAPE: usize = 6;

/// UTF-8's byte order mark.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// JSON without bytes that are no UTF-8, escapes that are half of a pair, as Python writes them,
/// and a mark before it. `None`, if there is nothing to mend.
pub(super) fn mended(text: &[u8]) -> Option<String> {
    let marked = text.strip_prefix(MARK);
    let text = String::from_utf8_lossy(marked.unwrap_or(text));
    match (paired(&text), text) {
        (Some(paired), _) => Some(paired),
        (None, Cow::Owned(text)) => Some(text),
        (None, Cow::Borrowed(text)) => marked.map(|_| text.to_owned()),
    }
}

/// Replaces escapes that are half of a pair, if there are any.
fn paired(text: &str) -> Option<String> {
    let (mut whole, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(found) = memchr::memchr(b'\\', &text.as_bytes()[at..]) {
        at += found;
        match surrogate(text, at) {
            // What is escaped is no beginning of an escape.
            None => at += 2,
            Some(0xd800..=0xdbff) if matches!(surrogate(text, at + ESCAPE), Some(0xdc00..)) => {
                at += 2 * ESCAPE;
            }
            Some(_) => {
                whole.push_str(&text[copied..at]);
                whole.push_str("\\ufffd");
                at += ESCAPE;
                copied = at;
            }
        }
        if at >= text.len() {
            break;
        }
    }
    (copied > 0).then(|| whole + &text[copied..])
}

/// The half of a pair that is escaped there.
fn surrogate(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    let code = u16::from_str_radix(digits, 16).ok()?;
    (0xd800..=0xdfff).contains(&code).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_halves_are_replaced() {
        for (text, expected) in [
            (r"a", None),
            ("\u{feff}a", Some("a")),
            (r"\ud83d\ude00 \\ud800 \n", None),
            (r"\ud800", Some(r"\ufffd")),
            (r"\ud800\ud83d\ude00\udc00x\", Some(r"\ufffd\ud83d\ude00\ufffdx\")),
            (r"\\\ud800ä\uD8", Some(r"\\\ufffdä\uD8")),
        ] {
            assert_eq!(mended(text.as_bytes()).as_deref(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_string_can_be_read_when_it_is_mended(
            parts in prop::collection::vec(
                prop::sample::select(vec![r"\ud800", r"\udfff", r"\\", r"\n", "u", "ä", r"\u0041"]),
                0..20,
            ),
        ) {
            let text = format!("\"{}\"", parts.concat());
            let mended = mended(text.as_bytes()).unwrap_or(text);
            prop_assert!(serde_json::from_str::<String>(&mended).is_ok(), "{mended}");
        }
    }
}
