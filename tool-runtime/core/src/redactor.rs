//! Replaces secrets in text.

use crate::printable::{one_line, printable};
use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Shorter values are words like `1`, `true` or `debug`: not secrets, and frequent in any text.
const MIN_LENGTH: usize = 6;

/// Stands for a secret without a name.
pub const HIDDEN: &str = "..";

/// Replaces secrets in text: verbatim, escaped as in JSON, and each line of a secret of several lines.
/// Values shorter than six bytes are not replaced.
#[derive(Default)]
pub struct Redactor {
    /// `None`, if there are no secrets.
    finder: Option<AhoCorasick>,
    /// The replacements, in the order of the finder's patterns.
    replacements: Vec<String>,
    longest: usize,
}

impl Redactor {
    /// Takes pairs of a replacement and a secret. The first of two equal secrets counts.
    pub fn new(secrets: impl IntoIterator<Item = (String, String)>) -> Self {
        let (mut patterns, mut replacements) = (Vec::new(), Vec::new());
        for (replacement, secret) in secrets {
            for form in forms(&secret) {
                patterns.push(form);
                replacements.push(replacement.clone());
            }
        }
        if patterns.is_empty() {
            return Self::default();
        }
        let longest = patterns.iter().map(String::len).max().unwrap_or(0);
        // A secret may be a part of another: the longer one counts.
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&patterns);
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

    /// The text without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.finder {
            Some(finder) if finder.is_match(text) => {
                finder.replace_all(text, &self.replacements).into()
            }
            _ => text.into(),
        }
    }

    /// Foreign text on one printable line of at most `limit` characters, without secrets.
    pub fn line(&self, text: &str, limit: usize) -> String {
        let lines: Vec<String> = text.lines().map(printable).collect();
        one_line(&self.text(&lines.join(" ")), limit)
    }

    /// Replaces secrets in every string and key of a value.
    pub fn value(&self, value: &mut Value) {
        match value {
            _ if self.finder.is_none() => {}
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.text(text) {
                    *text = redacted;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => self.members(members),
            _ => {}
        }
    }

    /// Replaces secrets in the keys and values of an object.
    pub fn members(&self, members: &mut Map<String, Value>) {
        let Some(finder) = &self.finder else { return };
        members.values_mut().for_each(|value| self.value(value));
        if members.keys().any(|key| finder.is_match(key)) {
            let redacted = |(key, value): (String, _)| (self.text(&key).into_owned(), value);
            *members = std::mem::take(members).into_iter().map(redacted).collect();
        }
    }
}

/// The forms in which a secret may appear: verbatim, inside of JSON, and its lines as they are printed.
fn forms(secret: &str) -> Vec<String> {
    let escaped = Value::from(secret).to_string();
    let mut forms = vec![secret.to_owned(), escaped[1..escaped.len() - 1].to_owned()];
    forms.extend(secret.lines().flat_map(|line| [line.to_owned(), printable(line)]));
    forms.retain(|form| form.len() >= MIN_LENGTH);
    forms.sort();
    forms.dedup();
    forms
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn redactor(secrets: &[(&str, &str)]) -> Redactor {
        Redactor::new(secrets.iter().map(|(shown, secret)| ((*shown).into(), (*secret).into())))
    }

    #[test]
    fn a_line_has_neither_secrets_nor_control_characters() {
        let redactor = redactor(&[("${KEY}", "s3cret-key")]);
        let text = "bad s3cret-key\n\u{1b}[2Jall is well\u{7}";
        assert_eq!(redactor.line(text, 100), "bad ${KEY} all is well\u{fffd}");
        assert_eq!(redactor.line(&"é".repeat(3000), 2000).chars().count(), 2002);
    }

    #[test]
    fn the_longer_of_overlapping_secrets_is_replaced() {
        let (short, long) = (("${SHORT}", "s3cret-key"), ("${LONG}", "s3cret-key-2"));
        let around = ("${AROUND}", "my-s3cret-key-3");
        for all in [[short, long, around], [around, long, short]] {
            let text = "s3cret-key-2, my-s3cret-key-3, s3cret-key, s3cret-key-3";
            let redacted = "${LONG}, ${AROUND}, ${SHORT}, ${SHORT}-3";
            assert_eq!(redactor(&all).text(text), redacted);
            assert_eq!(redactor(&all).line(text, 100), redacted);
        }
    }

    #[test]
    fn replacements_are_not_redacted_again() {
        let both = redactor(&[("${SECRET_KEY}", "0123456789"), ("${OTHER}", "SECRET_KEY")]);
        assert_eq!(both.text("0123456789"), "${SECRET_KEY}");
    }

    /// Control characters are replaced before a text is shown, and in the secret likewise.
    #[test]
    fn a_secret_is_replaced_in_its_printable_form() {
        let secret = "\u{1b}[1ms3cret\u{7}key\u{1b}[0m";
        let one = redactor(&[("${KEY}", secret)]);
        assert_eq!(one.line(&format!("bad {secret}!"), 100), "bad ${KEY}!");
        assert_eq!(one.line("bad s3cret\u{7}key!", 100), "bad ${KEY}!");
        let lines = redactor(&[("${PEM}", "first line\r\nsecond line\r\n")]);
        assert_eq!(lines.line("of second line", 100), "of ${PEM}");
    }

    #[test]
    fn a_secret_with_spaces_is_replaced_in_a_line() {
        let spaced = redactor(&[("${KEY}", "two  spaces")]);
        assert_eq!(spaced.line("a  two  spaces", 100), "a ${KEY}");
    }

    #[test]
    fn a_redacted_value_is_valid_json() {
        let secret = "a\"b\\c-s3cret";
        let mut value = json!({ secret: [1, { "in": format!("<{secret}>") }], "short": "abc" });
        value["text"] = json!({ "key": secret }).to_string().into();
        redactor(&[("${KEY}", secret)]).value(&mut value);
        assert_eq!(
            value,
            json!({
                "${KEY}": [1, { "in": "<${KEY}>" }],
                "short": "abc",
                "text": r#"{"key":"${KEY}"}"#,
            })
        );
    }

    #[test]
    fn short_values_are_not_secrets() {
        let redactor = redactor(&[("${ONE}", "debug"), ("${TWO}", "")]);
        assert_eq!(redactor.text("debug: x"), "debug: x");
        assert_eq!(redactor.longest(), 0);
    }
}
