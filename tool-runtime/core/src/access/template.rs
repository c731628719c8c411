//! Keys from the templates of `#[tool]`: text with arguments.

use super::{Access, KeyPart};
use crate::sealed::Sealed;

/// Limit on the keys that one template gives: a model could name millions in a few kilobytes.
const MAX_KEYS: usize = 1000;

impl Access {
    /// Adds what is read: a key for each combination of the parts' values.
    #[doc(hidden)]
    #[must_use]
    pub fn reads_of(self, literals: &[&str], parts: &[&dyn KeyPart]) -> Self {
        self.with_all(literals, parts, Self::read)
    }

    /// Adds what is written: a key for each combination of the parts' values.
    #[doc(hidden)]
    #[must_use]
    pub fn writes_of(self, literals: &[&str], parts: &[&dyn KeyPart]) -> Self {
        self.with_all(literals, parts, Self::write)
    }

    /// Adds all keys; more than anybody means count as unknown: the call may touch anything.
    fn with_all(
        self,
        literals: &[&str],
        parts: &[&dyn KeyPart],
        add: fn(Self, String) -> Self,
    ) -> Self {
        if let ([key], []) = (literals, parts) {
            return add(self, (*key).to_owned());
        }
        match keys(literals, parts) {
            Some(keys) => keys.into_iter().fold(Self { is_declared: true, ..self }, add),
            None => Self { is_declared: true, is_unbounded: true, ..self },
        }
    }
}

/// There is one more literal than parts: each part is between two literals.
fn keys(literals: &[&str], parts: &[&dyn KeyPart]) -> Option<Vec<String>> {
    debug_assert_eq!(literals.len(), parts.len() + 1);
    let Some((first, rest)) = literals.split_first() else { return Some(Vec::new()) };
    let start = vec![(*first).to_owned()];
    parts.iter().zip(rest).try_fold(start, |keys, (part, literal)| extended(&keys, *part, literal))
}

fn extended(keys: &[String], part: &dyn KeyPart, literal: &str) -> Option<Vec<String>> {
    let texts = part.texts(Sealed);
    if keys.len().saturating_mul(texts.len()) > MAX_KEYS {
        return None;
    }
    let with_texts = |key: &String| {
        let key = key.clone();
        texts.iter().map(move |text| format!("{key}{text}{literal}"))
    };
    Some(keys.iter().flat_map(with_texts).collect())
}
