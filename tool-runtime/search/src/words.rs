//! Splits text into words, and reduces words to stems.

use rust_stemmers::{Algorithm, Stemmer};
use std::borrow::Cow;
use std::fmt;

/// Words without a meaning for a search: articles, pronouns, prepositions, auxiliary verbs.
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
    "will",
    "with",
    "would",
    "you",
    "your",
];

/// Words at the beginning of a question.
const QUESTION_WORDS: &[&str] =
    &["how", "what", "when", "where", "which", "who", "whom", "whose", "why"];

/// Forms that the stemmer does not reduce to the base form.
const IRREGULAR: &[(&str, &str)] = &[
    ("added", "add"),
    ("adding", "add"),
    ("ate", "eat"),
    ("best", "good"),
    ("better", "good"),
    ("bought", "buy"),
    ("broke", "break"),
    ("broken", "break"),
    ("brought", "bring"),
    ("built", "build"),
    ("came", "come"),
    ("children", "child"),
    ("chose", "choose"),
    ("chosen", "choose"),
    ("driven", "drive"),
    ("drove", "drive"),
    ("eaten", "eat"),
    ("fell", "fall"),
    ("felt", "feel"),
    ("flew", "fly"),
    ("flown", "fly"),
    ("forgot", "forget"),
    ("forgotten", "forget"),
    ("found", "find"),
    ("froze", "freeze"),
    ("frozen", "freeze"),
    ("gave", "give"),
    ("given", "give"),
    ("gone", "go"),
    ("grew", "grow"),
    ("grown", "grow"),
    ("heard", "hear"),
    ("held", "hold"),
    ("hid", "hide"),
    ("hidden", "hide"),
    ("kept", "keep"),
    ("knew", "know"),
    ("known", "know"),
    ("left", "leave"),
    ("lent", "lend"),
    ("lost", "lose"),
    ("made", "make"),
    ("meant", "mean"),
    ("men", "man"),
    ("met", "meet"),
    ("paid", "pay"),
    ("people", "person"),
    ("ran", "run"),
    ("rang", "ring"),
    ("redone", "redo"),
    ("said", "say"),
    ("sang", "sing"),
    ("sat", "sit"),
    ("saw", "see"),
    ("seen", "see"),
    ("sent", "send"),
    ("shown", "show"),
    ("slept", "sleep"),
    ("sold", "sell"),
    ("spent", "spend"),
    ("spoke", "speak"),
    ("spoken", "speak"),
    ("stole", "steal"),
    ("stolen", "steal"),
    ("stuck", "stick"),
    ("swam", "swim"),
    ("taken", "take"),
    ("taught", "teach"),
    ("thought", "think"),
    ("threw", "throw"),
    ("thrown", "throw"),
    ("told", "tell"),
    ("took", "take"),
    ("understood", "understand"),
    ("undid", "undo"),
    ("undone", "undo"),
    ("went", "go"),
    ("woke", "wake"),
    ("women", "woman"),
    ("won", "win"),
    ("worse", "bad"),
    ("worst", "bad"),
    ("written", "write"),
    ("wrote", "write"),
];

/// Finds the stems of English words.
pub(crate) struct Stems(Stemmer);

impl Stems {
    /// The stem of a lower-cased word.
    pub(crate) fn stem<'a>(&self, word: &'a str) -> Cow<'a, str> {
        let irregular = IRREGULAR.binary_search_by(|(form, _)| (*form).cmp(word));
        self.0.stem(irregular.map_or(word, |at| IRREGULAR[at].1))
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

/// Verbs with little meaning of their own.
const LIGHT_VERBS: &[&str] = &[
    "bring", "come", "find", "get", "give", "go", "keep", "know", "look", "make", "put", "see",
    "set", "show", "start", "take", "tell", "turn", "use", "work",
];

/// Whether a lower-case word is a verb with little meaning of its own.
pub(crate) fn is_light_verb(word: &str) -> bool {
    LIGHT_VERBS.binary_search(&word).is_ok()
}

/// Whether a lower-case word is a stop word.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok() || is_question_word(word)
}

/// Whether a lower-case word begins a question.
pub(crate) fn is_question_word(word: &str) -> bool {
    QUESTION_WORDS.contains(&word)
}

/// Passes each word of a text to `use_word` in lower case, in a reused buffer. Words end at camel
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
    use super::{IRREGULAR, LIGHT_VERBS, STOP_WORDS, for_each_word};

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
    fn tables_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(IRREGULAR.is_sorted());
        assert!(LIGHT_VERBS.is_sorted());
    }
}
