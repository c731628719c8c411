//! Removes secrets and terminal control sequences from text of servers.

use super::plain::plain;
use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Shorter values are words like `1`, `true` or `debug`: not secrets, and frequent in any text.
const MIN_LENGTH: usize = 6;

/// Limit on the characters of a server's text that are shown.
const MAX_SHOWN: usize = 2000;

/// Values, and what is shown in their place.
#[derive(Default)]
pub(super) struct Mask {
    /// All values of the entry: for the operator's log, status and errors.
    all: Values,
    /// Secrets alone: for results, which must stay usable.
    secrets: Values,
}

impl Mask {
    /// Knows values by what is shown in their place. Of values that are the same, the first counts.
    pub(super) fn new(values: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { all: Values::new(values), secrets: Values::default() }
    }

    /// Adds the values that are masked in results.
    pub(super) fn with_secrets(self, values: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { secrets: Values::new(values), ..self }
    }

    /// The length of the longest value.
    pub(super) fn longest(&self) -> usize {
        self.all.longest
    }

    /// Shows names in the place of values.
    pub(super) fn apply(&self, text: String) -> String {
        match self.all.replaced(&text) {
            Some(shown) => shown,
            None => text,
        }
    }

    /// A text for models and callers, without secrets.
    pub(super) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.secrets.replaced(text).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Masks secrets in every string and key of a value.
    pub(super) fn redact(&self, value: &mut Value) {
        if !self.secrets.is_empty() {
            self.secrets.redact(value);
        }
    }

    /// The same for the members of an object.
    pub(super) fn redact_members(&self, members: &mut Map<String, Value>) {
        if !self.secrets.is_empty() {
            self.secrets.redact_members(members);
        }
    }

    /// The beginning of what a server said, on one line.
    pub(super) fn shown(&self, text: &str) -> String {
        let lines: Vec<String> = text.lines().map(plain).collect();
        let text = self.apply(lines.join(" "));
        match text.char_indices().nth(MAX_SHOWN) {
            Some((end, _)) => format!("{}..", &text[..end]),
            None => text,
        }
    }
}

/// Values to look for, all in one pass.
#[derive(Default)]
struct Values {
    /// `None`, if there are no values.
    finder: Option<AhoCorasick>,
    /// The replacements, in the order of the finder's patterns.
    shown: Vec<String>,
    longest: usize,
}

impl Values {
    fn new(values: impl IntoIterator<Item = (String, String)>) -> Self {
        let (mut patterns, mut all_shown) = (Vec::new(), Vec::new());
        for (shown, value) in values {
            for form in forms(&value) {
                patterns.push(form);
                all_shown.push(shown.clone());
            }
        }
        let longest = patterns.iter().map(String::len).max().unwrap_or(0);
        if patterns.is_empty() {
            return Self::default();
        }
        // A value may be a part of another: the longer one counts.
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&patterns);
        let finder = finder.expect("values of a configuration fit into a finder");
        Self { finder: Some(finder), shown: all_shown, longest }
    }

    fn is_empty(&self) -> bool {
        self.finder.is_none()
    }

    /// `None`, if there is nothing to be replaced.
    fn replaced(&self, text: &str) -> Option<String> {
        let finder = self.finder.as_ref()?;
        finder.is_match(text).then(|| finder.replace_all(text, &self.shown))
    }

    fn redact(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(masked) = self.replaced(text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact(item)),
            Value::Object(members) => self.redact_members(members),
            _ => {}
        }
    }

    fn redact_members(&self, members: &mut Map<String, Value>) {
        members.values_mut().for_each(|value| self.redact(value));
        if members.keys().any(|key| self.replaced(key).is_some()) {
            let masked = |(key, value): (String, _)| (self.replaced(&key).unwrap_or(key), value);
            *members = std::mem::take(members).into_iter().map(masked).collect();
        }
    }
}

/// How a value may stand in a text: as it is, inside of JSON, and its lines as they are shown.
fn forms(value: &str) -> Vec<String> {
    let escaped = serde_json::Value::from(value).to_string();
    let mut forms = vec![value.to_owned(), escaped[1..escaped.len() - 1].to_owned()];
    forms.extend(value.lines().flat_map(|line| [line.to_owned(), plain(line)]));
    forms.retain(|form| form.len() >= MIN_LENGTH);
    forms.sort();
    forms.dedup();
    forms
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn values(values: &[(&str, &str)]) -> Vec<(String, String)> {
        values.iter().map(|(shown, value)| ((*shown).into(), (*value).into())).collect()
    }

    #[test]
    fn what_a_server_says_is_shown_without_secrets_and_without_harm() {
        let mask = Mask::new(values(&[("${KEY}", "s3cret-key")]));
        let said = "bad s3cret-key\n\u{1b}[2Jall is well\u{7}";
        assert_eq!(mask.shown(said), "bad ${KEY} all is well\u{fffd}");
        assert_eq!(mask.shown(&"é".repeat(3000)).chars().count(), MAX_SHOWN + 2);
    }

    #[test]
    fn of_two_secrets_the_longer_is_masked_whole() {
        let (short, long) = (("${SHORT}", "s3cret-key"), ("${LONG}", "s3cret-key-2"));
        let around = ("${AROUND}", "my-s3cret-key-3");
        for all in [[short, long, around], [around, long, short]] {
            let mask = Mask::new(values(&all)).with_secrets(values(&all));
            let said = "s3cret-key-2, my-s3cret-key-3, s3cret-key, s3cret-key-3";
            assert_eq!(mask.shown(said), "${LONG}, ${AROUND}, ${SHORT}, ${SHORT}-3");
            assert_eq!(mask.text(said), "${LONG}, ${AROUND}, ${SHORT}, ${SHORT}-3");
        }
    }

    #[test]
    fn a_name_that_holds_another_secret_is_shown_as_it_is() {
        let both = values(&[("${SECRET_KEY}", "0123456789"), ("${OTHER}", "SECRET_KEY")]);
        assert_eq!(Mask::new(both).shown("0123456789"), "${SECRET_KEY}");
    }

    /// Control characters are replaced before a text is shown, and in the secret likewise.
    #[test]
    fn a_secret_is_masked_as_the_server_shows_it() {
        let secret = "\u{1b}[1ms3cret\u{7}key\u{1b}[0m";
        let mask = Mask::new(values(&[("${KEY}", secret)]));
        assert_eq!(mask.shown(&format!("bad {secret}!")), "bad ${KEY}!");
        assert_eq!(mask.shown("bad s3cret\u{7}key!"), "bad ${KEY}!");
        let lines = Mask::new(values(&[("${PEM}", "first line\r\nsecond line\r\n")]));
        assert_eq!(lines.shown("of second line"), "of ${PEM}");
    }

    #[test]
    fn a_value_stays_json_when_it_is_masked() {
        let secret = "a\"b\\c-s3cret";
        let mask = Mask::default().with_secrets(values(&[("${KEY}", secret)]));
        let mut value = json!({ secret: [1, { "in": format!("<{secret}>") }], "short": "abc" });
        value["text"] = json!({ "key": secret }).to_string().into();
        mask.redact(&mut value);
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
    fn short_values_are_no_secrets() {
        let mask = Mask::new(values(&[("${ONE}", "debug"), ("${TWO}", "")]));
        assert_eq!(mask.shown("debug: x"), "debug: x");
        assert_eq!(mask.longest(), 0);
    }
}
