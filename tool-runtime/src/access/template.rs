//! Keys from what `#[tool]` was given: text with arguments in it.

use super::{Access, KeyPart};

impl Access {
    /// Adds what is read: a key for each combination of what the parts stand for.
    #[doc(hidden)]
    #[must_use]
    pub fn reads_of(self, literals: &[&str], parts: &[&dyn KeyPart]) -> Self {
        let declared = Self { is_declared: true, ..self };
        keys(literals, parts).into_iter().fold(declared, Self::read)
    }

    /// Adds what is written: a key for each combination of what the parts stand for.
    #[doc(hidden)]
    #[must_use]
    pub fn writes_of(self, literals: &[&str], parts: &[&dyn KeyPart]) -> Self {
        let declared = Self { is_declared: true, ..self };
        keys(literals, parts).into_iter().fold(declared, Self::write)
    }
}

/// There is one literal more than there are parts: a part stands between two of them.
fn keys(literals: &[&str], parts: &[&dyn KeyPart]) -> Vec<String> {
    debug_assert_eq!(literals.len(), parts.len() + 1);
    let Some((first, rest)) = literals.split_first() else { return Vec::new() };
    let start = vec![(*first).to_owned()];
    parts.iter().zip(rest).fold(start, |keys, (part, literal)| extended(&keys, *part, literal))
}

fn extended(keys: &[String], part: &dyn KeyPart, literal: &str) -> Vec<String> {
    let texts = part.texts();
    let with_texts = |key: &String| {
        let key = key.clone();
        texts.iter().map(move |text| format!("{key}{text}{literal}"))
    };
    keys.iter().flat_map(with_texts).collect()
}
