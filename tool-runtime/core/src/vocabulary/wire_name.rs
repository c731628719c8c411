//! Names of tools and arguments as model APIs accept them.

use crate::vocabulary::hex::hex;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

/// The longest name that all model APIs accept, in characters.
pub const MAX_WIRE_NAME: usize = 64;

/// The name of a tool in requests to model APIs, a pure function of its id.
///
/// It begins with a letter or `_`, followed by letters, digits, `_` and `-`, at most 64 in all. `.` becomes
/// `__`. An id that could collide (`__`, `_.`, `._`) or needs other changes gets `_` and the first
/// eight hex digits of its SHA-256.
pub(crate) fn wire_name(id: &str) -> Cow<'_, str> {
    let wire = if id.contains('.') { Cow::Owned(id.replace('.', "__")) } else { Cow::Borrowed(id) };
    let is_ambiguous = ["__", "_.", "._"].iter().any(|pair| id.contains(pair));
    let has_valid_start = wire.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !is_ambiguous
        && has_valid_start
        && wire.chars().all(is_allowed)
        && wire.len() <= MAX_WIRE_NAME
    {
        return wire;
    }
    Cow::Owned(hashed(id, is_allowed))
}

fn is_allowed(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// A name of allowed characters that ends with a digest of the original.
pub fn hashed(original: &str, is_allowed: impl Fn(char) -> bool) -> String {
    let mut name = String::new();
    if !original.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.push('_');
    }
    for character in original.chars() {
        match character {
            '.' if !is_allowed('.') => name.push_str("__"),
            _ => name.push(if is_allowed(character) { character } else { '_' }),
        }
    }
    name.truncate(MAX_WIRE_NAME - 9);
    name.push('_');
    name.push_str(&hex(&Sha256::digest(original)[..4]));
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_invalid_names_are_changed() {
        for (id, wire) in [
            ("add", "add"),
            ("fs.read-file", "fs__read-file"),
            ("_private", "_private"),
            ("a.b.c", "a__b__c"),
            (".x", "__x"),
        ] {
            assert_eq!(wire_name(id), wire);
        }
        for id in ["a__b", "a_.b", "a._b", "7zip", "-x", &"x".repeat(65), "é"] {
            let wire = wire_name(id);
            assert!(wire.len() <= MAX_WIRE_NAME, "{wire}");
            assert_eq!(wire.rsplit_once('_').unwrap().1.len(), 8, "{wire}");
        }
    }

    proptest! {
        #![proptest_config(crate::property::cases(256))]

        #[test]
        fn wire_names_are_valid_in_every_api_and_unique(
            one in "[a-z0-9_.-]{1,70}", two in "[a-b_.]{1,4}", three in "[a-b_.]{1,4}"
        ) {
            let wire = wire_name(&one);
            prop_assert!(wire.len() <= MAX_WIRE_NAME);
            prop_assert!(wire.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
            prop_assert!(wire.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
            prop_assert_eq!(two == three, wire_name(&two) == wire_name(&three));
        }
    }
}
