//! The forms in which a secret may appear in text.

use super::MIN_LENGTH;
use crate::vocabulary::hex::hex;
use crate::vocabulary::printable::printable;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::Value;

/// Shorter values are frequent by chance in base64 and hex digits.
const MIN_ENCODED: usize = 8;

/// The number of times that JSON text in JSON text is escaped.
const NESTED_JSON: usize = 3;

/// The forms of a secret: verbatim, inside JSON, its lines as they are printed, in base64 and hex
/// digits. Percent-encoding and JSON's numeric escapes are removed before a search, see `views`.
pub(super) fn forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned(), secret.replace(' ', "+")];
    let mut escaped = secret.to_owned();
    for _ in 0..NESTED_JSON {
        let text = Value::from(escaped).to_string();
        escaped = text[1..text.len() - 1].to_owned();
        forms.push(escaped.clone());
    }
    forms.extend(secret.lines().flat_map(|line| [line.to_owned(), printable(line)]));
    let trimmed = secret.trim();
    if trimmed.len() >= MIN_ENCODED {
        forms.extend((0..3).flat_map(|offset| base64_forms(trimmed.as_bytes(), offset)));
        forms.extend(hex_forms(trimmed.as_bytes()));
    }
    forms.retain(|form| form.len() >= MIN_LENGTH);
    forms.sort();
    forms.dedup();
    forms
}

/// The base64 digits that depend only on the secret, if it begins `offset` bytes after a group of
/// three. The second form also has the digits of a secret at the end of the text.
fn base64_forms(secret: &[u8], offset: usize) -> Vec<String> {
    let padded: Vec<u8> = std::iter::repeat_n(0, offset).chain(secret.iter().copied()).collect();
    let begin = (offset * 8).div_ceil(6);
    let end = padded.len() * 8 / 6;
    let forms = [&STANDARD, &URL_SAFE].into_iter().flat_map(|engine| {
        let text = engine.encode(&padded);
        let unpadded = text.trim_end_matches('=').len();
        [&text[begin..end], &text[begin..unpadded], &text[begin..]].map(str::to_owned)
    });
    forms.collect()
}

fn hex_forms(secret: &[u8]) -> [String; 2] {
    let lower = hex(secret);
    [lower.to_uppercase(), lower]
}
