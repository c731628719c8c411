//! Replaces secrets in text.

mod forms;
#[cfg(test)]
mod tests;
mod views;

use crate::vocabulary::mask::{self, Mask};
use crate::vocabulary::printable::{is_one_line, one_line, printable};
use aho_corasick::{AhoCorasick, Match};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;

/// Shorter values are words like `1`, `true` or `debug`: not secrets, and frequent in any text.
pub const MIN_LENGTH: usize = 6;

/// Replaces a secret without a name.
pub const HIDDEN: &str = "..";

/// Replaces secrets in text: verbatim, each line of a secret of several lines, and the encodings in
/// which programs repeat them. These are the escapes of JSON in any spelling and up to three layers deep,
/// percent-encoding, base64 (standard and URL-safe, with and without padding, also within longer data)
/// and hex digits.
///
/// Secrets that overlap are replaced together, by the replacement of the first.
///
/// Values shorter than six bytes are not replaced, and in base64 and hex digits those shorter than
/// eight. Not found: base64 with line breaks inside a secret, and transformations such as a reversal.
///
/// ```
/// use tool_runtime::secret::Redactor;
///
/// let redactor = Redactor::new([("${TOKEN}".to_owned(), "s3cret-key".to_owned())]);
/// assert_eq!(redactor.text("a s3cret-key"), "a ${TOKEN}");
/// assert_eq!(redactor.text("a=s3cret%2Dkey"), "a=${TOKEN}");
/// ```
#[derive(Clone, Default)]
pub struct Redactor {
    /// `None` without secrets.
    finder: Option<AhoCorasick>,
    /// The replacements, in the order of the finder's patterns.
    replacements: Vec<String>,
    longest: usize,
}

/// A secret in a string.
struct SecretMatch {
    range: Range<usize>,
    pattern: usize,
}

impl Redactor {
    /// Takes pairs of a replacement and a secret. The first of two equal secrets counts.
    pub fn new(secrets: impl IntoIterator<Item = (String, String)>) -> Self {
        let (mut patterns, mut replacements) = (Vec::new(), Vec::new());
        for (replacement, secret) in secrets {
            for form in forms::forms(&secret) {
                patterns.push(form);
                replacements.push(replacement.clone());
            }
        }
        if patterns.is_empty() {
            return Self::default();
        }
        let longest = patterns.iter().map(String::len).max().unwrap_or(0);
        let finder = AhoCorasick::new(&patterns);
        let finder = finder.expect("secrets of a configuration fit into a finder");
        Self { finder: Some(finder), replacements, longest }
    }

    /// Replaces each secret by `..`.
    pub fn hiding<'a>(secrets: impl IntoIterator<Item = &'a String>) -> Self {
        Self::new(secrets.into_iter().map(|secret| (HIDDEN.to_owned(), secret.clone())))
    }

    /// The length of the longest form of a secret, in bytes.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The text without secrets. It is not copied if it has none.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.find(text);
        if found.is_empty() {
            return text.into();
        }
        let (mut redacted, mut end) = (String::with_capacity(text.len()), 0);
        for SecretMatch { range, pattern } in found {
            redacted.push_str(&text[end..range.start]);
            redacted.push_str(&self.replacements[pattern]);
            end = range.end;
        }
        redacted.push_str(&text[end..]);
        redacted.into()
    }

    /// The secrets in a string, in order. Those that overlap are one, named after the first, and of those
    /// with the same begin after the longest.
    fn find(&self, text: &str) -> Vec<SecretMatch> {
        let Some(finder) = &self.finder else { return Vec::new() };
        let matches = overlapping(finder, text.as_bytes());
        let mut found: Vec<SecretMatch> = matches
            .map(|found| SecretMatch { range: found.range(), pattern: found.pattern().as_usize() })
            .collect();
        for view in views::views(text) {
            found.extend(overlapping(finder, view.bytes()).map(|found| SecretMatch {
                range: on_boundaries(text, view.range(found.range())),
                pattern: found.pattern().as_usize(),
            }));
        }
        found.sort_by_key(|found| (found.range.start, usize::MAX - found.range.end));
        found.dedup_by(|next, first| {
            let overlaps = next.range.start < first.range.end;
            if overlaps {
                first.range.end = first.range.end.max(next.range.end);
            }
            overlaps
        });
        found
    }

    /// Foreign text on one printable line of at most `limit` characters, without secrets.
    pub fn line(&self, text: &str, limit: usize) -> String {
        if is_one_line(text) {
            return one_line(&self.text(text), limit);
        }
        let lines: Vec<String> = text.lines().map(printable).collect();
        one_line(&self.text(&lines.join(" ")), limit)
    }

    /// Replaces secrets in every string, number and key of a value. A number becomes a string.
    pub fn value(&self, value: &mut Value) {
        match value {
            _ if self.finder.is_none() => {}
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.text(text) {
                    *text = redacted;
                }
            }
            Value::Number(number) => {
                if let Cow::Owned(redacted) = self.text(&number.to_string()) {
                    *value = redacted.into();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => self.members(members),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Replaces secrets in the keys and values of an object.
    pub fn members(&self, members: &mut Map<String, Value>) {
        if self.finder.is_none() {
            return;
        }
        members.values_mut().for_each(|value| self.value(value));
        if members.keys().any(|key| !self.find(key).is_empty()) {
            let redacted = |(key, value): (String, _)| (self.text(&key).into_owned(), value);
            *members = std::mem::take(members).into_iter().map(redacted).collect();
        }
    }

    /// Replaces secrets in MCP's content blocks, also those that are split over several blocks.
    #[doc(hidden)]
    pub fn blocks(&self, content: &mut Value) {
        let blocks = content.as_array_mut().into_iter().flatten();
        let mut strings = Vec::new();
        for block in blocks {
            for part in ["/data", "/resource/blob"] {
                if let Some(Value::String(data)) = block.pointer_mut(part) {
                    mask::base64_in_place(self, data);
                }
            }
            let is_text = block.get("text").is_some_and(Value::is_string);
            strings.extend(block.pointer_mut(if is_text { "/text" } else { "/resource/text" }));
        }
        let joined: Vec<&str> = strings.iter().filter_map(|text| text.as_str()).collect();
        if joined.len() > 1
            && joined.len() == strings.len()
            && let Some(redacted) = self.split(&joined)
        {
            strings.iter_mut().zip(redacted).for_each(|(text, redacted)| **text = redacted.into());
        }
        self.value(content);
    }

    /// Replaces secrets, also those that are split over several strings. `None` if the strings contain
    /// no secret.
    fn split(&self, parts: &[&str]) -> Option<Vec<String>> {
        let joined = parts.concat();
        let found = self.find(&joined);
        if found.is_empty() {
            return None;
        }
        let mut begin = 0;
        let redacted = parts.iter().map(|text| {
            let part = begin..begin + text.len();
            begin = part.end;
            self.part(&joined, part, &found)
        });
        Some(redacted.collect())
    }

    /// One part of a string. A secret is replaced in the part that it begins in.
    fn part(&self, text: &str, part: Range<usize>, found: &[SecretMatch]) -> String {
        let (mut redacted, mut end) = (String::new(), part.start);
        for SecretMatch { range, pattern } in found {
            if range.end <= part.start || range.start >= part.end {
                continue;
            }
            if range.start >= part.start {
                redacted.push_str(&text[end..range.start]);
                redacted.push_str(&self.replacements[*pattern]);
            }
            end = range.end.min(part.end);
        }
        redacted.push_str(&text[end..part.end]);
        redacted
    }

    /// Replaces secrets in base64 by `A`, so that it can still be decoded.
    fn base64<'a>(&self, data: &'a str) -> Cow<'a, str> {
        let found = self.find(data);
        if found.is_empty() {
            return data.into();
        }
        let mut redacted = data.to_owned();
        for SecretMatch { range, .. } in found {
            let digits = data[range.clone()].trim_end_matches('=').len();
            redacted.replace_range(range.start..range.start + digits, &"A".repeat(digits));
        }
        redacted.into()
    }
}

impl Mask for Redactor {
    fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.text(text)
    }

    fn value(&self, value: &mut Value) {
        self.value(value);
    }

    fn split(&self, parts: &[&str]) -> Option<Vec<String>> {
        self.split(parts)
    }

    fn base64<'a>(&self, data: &'a str) -> Cow<'a, str> {
        self.base64(data)
    }
}

/// Omits the secrets.
impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("is_empty", &self.finder.is_none()).finish_non_exhaustive()
    }
}

/// All matches, also those that overlap: the end of a secret may be the beginning of another.
fn overlapping<'a>(finder: &'a AhoCorasick, text: &'a [u8]) -> impl Iterator<Item = Match> + 'a {
    // Text without a secret is scanned by the faster search.
    let has_match = finder.is_match(text);
    has_match.then(|| finder.find_overlapping_iter(text)).into_iter().flatten()
}

/// The range, widened to whole characters.
fn on_boundaries(text: &str, range: Range<usize>) -> Range<usize> {
    let (mut start, mut end) = (range.start, range.end);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}
