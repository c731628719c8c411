//! Keys from the templates of `#[tool]`: text with arguments.

use super::{Access, Declaration, KeyPart, insert};
use crate::vocabulary::sealed::Sealed;
use compact_str::{CompactString, format_compact};

/// Limit on the keys of one template: a model could name millions in a few kilobytes.
const MAX_KEYS: usize = 1000;

impl Access {
    /// Adds the keys that are read: one for each combination of the parts' values.
    #[doc(hidden)]
    #[must_use]
    pub fn reads_of(self, literals: &[&str], parts: &[&dyn KeyPart]) -> Self {
        self.with_all(literals, parts, |access| &mut access.reads)
    }

    /// Adds the keys that are written: one for each combination of the parts' values.
    #[doc(hidden)]
    #[must_use]
    pub fn writes_of(self, literals: &[&str], parts: &[&dyn KeyPart]) -> Self {
        self.with_all(literals, parts, |access| &mut access.writes)
    }

    /// Adds all keys. Beyond a limit the access is unknown: the call may touch anything.
    fn with_all(
        mut self,
        literals: &[&str],
        parts: &[&dyn KeyPart],
        list: fn(&mut Self) -> &mut Vec<CompactString>,
    ) -> Self {
        self.declare();
        match (literals, parts) {
            ([key], []) => insert(list(&mut self), (*key).into()),
            _ => match keys(literals, parts) {
                Some(keys) => keys.into_iter().for_each(|key| insert(list(&mut self), key)),
                None => self.declaration = Declaration::Unbounded,
            },
        }
        self
    }
}

/// There is one more literal than parts: each part is between two literals.
fn keys(literals: &[&str], parts: &[&dyn KeyPart]) -> Option<Vec<CompactString>> {
    debug_assert_eq!(literals.len(), parts.len() + 1);
    let Some((first, rest)) = literals.split_first() else { return Some(Vec::new()) };
    let start = vec![(*first).into()];
    parts.iter().zip(rest).try_fold(start, |keys, (part, literal)| extended(&keys, *part, literal))
}

fn extended(
    keys: &[CompactString],
    part: &dyn KeyPart,
    literal: &str,
) -> Option<Vec<CompactString>> {
    let strings = part.strings(Sealed);
    if keys.len().saturating_mul(strings.len()) > MAX_KEYS {
        return None;
    }
    let with_strings = |key: &CompactString| {
        let key = key.clone();
        strings.iter().map(move |text| format_compact!("{key}{text}{literal}"))
    };
    Some(keys.iter().flat_map(with_strings).collect())
}
