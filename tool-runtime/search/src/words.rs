//! Splits text into words, and reduces words to stems.

use rust_stemmers::{Algorithm, Stemmer};
use std::borrow::Cow;
use std::fmt;

/// Words without a meaning for a search: articles, pronouns, prepositions, question words, auxiliary
/// verbs.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "after",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "anybody",
    "anyone",
    "anything",
    "are",
    "as",
    "at",
    "be",
    "been",
    "before",
    "being",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "done",
    "each",
    "else",
    "every",
    "everybody",
    "everyone",
    "everything",
    "for",
    "from",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "here",
    "him",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "just",
    "let",
    "may",
    "me",
    "might",
    "mine",
    "must",
    "my",
    "need",
    "no",
    "nobody",
    "not",
    "nothing",
    "now",
    "of",
    "on",
    "one",
    "or",
    "our",
    "ours",
    "own",
    "please",
    "shall",
    "she",
    "should",
    "so",
    "some",
    "somebody",
    "someone",
    "something",
    "still",
    "such",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "things",
    "this",
    "those",
    "to",
    "too",
    "up",
    "us",
    "very",
    "want",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
];

/// Finds the stems of English words.
pub(crate) struct Stems(Stemmer);

impl Stems {
    /// The stem of a lower-cased word.
    pub(crate) fn stem<'a>(&self, word: &'a str) -> Cow<'a, str> {
        let stem = self.0.stem(word);
        // The stemmer makes `ad` of `adding`; Snowball keeps a double letter after a single vowel since version 2.3.
        let is_doubled = |start: &&str| match start.as_bytes() {
            [_, second, third] => stem.len() == 2 && second == third && start.starts_with(&*stem),
            _ => false,
        };
        match word.get(..3).filter(is_doubled) {
            Some(start) => Cow::Borrowed(start),
            None => stem,
        }
    }
}

impl Default for Stems {
    fn default() -> Self {
        Self(Stemmer::create(Algorithm::English))
    }
}

impl fmt::Debug for Stems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stems")
    }
}

/// Whether a lower-case word is a stop word.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Passes each word of a string to `use_word` in lower case, in a reused buffer. Words end at camel
/// case, too; those joined by a hyphen are passed separately and joined: `e-mail` is `e`, `mail`
/// and `email`. Letters after an apostrophe are left out: `Friday's` is `friday`.
pub(crate) fn for_each_word(text: &str, buffer: &mut String, mut use_word: impl FnMut(&str)) {
    buffer.clear();
    let (mut part, mut hyphen, mut was_lower, mut is_ending) = (0, None, false, false);
    for letter in text.chars().chain([' ']) {
        let is_part_end = !letter.is_alphanumeric() || (was_lower && letter.is_uppercase());
        if is_part_end && part < buffer.len() {
            use_word(&buffer[part..]);
            part = buffer.len();
        }
        was_lower = letter.is_lowercase();
        match letter {
            _ if letter.is_alphanumeric() => {
                if !is_ending {
                    push_lower(letter, buffer);
                }
            }
            '\'' | '’' => is_ending = !buffer.is_empty(),
            '-' => (hyphen, is_ending) = (Some(buffer.len()), false),
            _ => {
                if hyphen.is_some_and(|hyphen| 0 < hyphen && hyphen < buffer.len()) {
                    use_word(buffer);
                }
                buffer.clear();
                (part, hyphen, is_ending) = (0, None, false);
            }
        }
    }
}

fn push_lower(letter: char, buffer: &mut String) {
    if letter.is_ascii() {
        buffer.push(letter.to_ascii_lowercase());
    } else {
        buffer.extend(letter.to_lowercase());
    }
}

#[cfg(test)]
mod tests {
    use super::{STOP_WORDS, Stems, for_each_word};

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, &mut String::new(), |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn names_are_split_at_separators_and_camel_case() {
        assert_eq!(words("gitHub.create_issue"), ["git", "hub", "create", "issue"]);
        assert_eq!(words("read-file"), ["read", "file", "readfile"]);
    }

    #[test]
    fn apostrophes_are_removed_from_prose() {
        assert_eq!(
            words("Don't read Ada's 'Über-Mail'!"),
            ["don", "read", "ada", "über", "mail", "übermail"]
        );
    }

    #[test]
    fn a_double_letter_after_a_single_vowel_stays() {
        let stems = Stems::default();
        for (word, stem) in [
            ("adding", "add"),
            ("added", "add"),
            ("add", "add"),
            ("egged", "egg"),
            ("running", "run"),
        ] {
            assert_eq!(stems.stem(word), stem);
        }
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }
}
