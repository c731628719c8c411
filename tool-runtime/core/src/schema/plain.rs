//! Types whose schemas contain neither `pattern` nor an enforced `format`.

use serde_json::{Map, Value};
use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

/// Whether a type is a scalar of the standard library or a JSON value, an option or a list of
/// them, or one of the usual maps and sets. Other types take the slower check.
///
/// The condition is constant, so the optimizer removes the branch that is not taken.
#[inline(always)]
pub(crate) fn is_plain<T: 'static>() -> bool {
    let this = SearchedType(TypeId::of::<T>());
    this.is_text() || this.is_integer() || this.is_other_scalar() || this.is_keyed()
}

/// The type in question.
#[derive(Clone, Copy)]
struct SearchedType(TypeId);

impl SearchedType {
    #[inline(always)]
    fn is_text(self) -> bool {
        self.holds::<String>() || self.holds::<char>() || self.holds::<PathBuf>()
    }

    #[inline(always)]
    fn is_integer(self) -> bool {
        self.holds::<i8>()
            || self.holds::<i16>()
            || self.holds::<i32>()
            || self.holds::<i64>()
            || self.holds::<isize>()
            || self.holds::<u8>()
            || self.holds::<u16>()
            || self.holds::<u32>()
            || self.holds::<u64>()
            || self.holds::<usize>()
    }

    #[inline(always)]
    fn is_other_scalar(self) -> bool {
        self.holds::<bool>() || self.holds::<f32>() || self.holds::<f64>() || self.holds::<Value>()
    }

    #[inline(always)]
    fn is_keyed(self) -> bool {
        self.is::<HashSet<String>>()
            || self.is::<BTreeSet<String>>()
            || self.is::<HashMap<String, String>>()
            || self.is::<BTreeMap<String, String>>()
            || self.is::<HashMap<String, Value>>()
            || self.is::<BTreeMap<String, Value>>()
            || self.is::<Map<String, Value>>()
    }

    /// A scalar, an option of it, or a list of it.
    #[inline(always)]
    fn holds<S: 'static>(self) -> bool {
        self.is::<S>()
            || self.is::<Option<S>>()
            || self.is::<Vec<S>>()
            || self.is::<Option<Vec<S>>>()
    }

    #[inline(always)]
    fn is<S: 'static>(self) -> bool {
        self.0 == TypeId::of::<S>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::JsonSchema;

    fn keywords<T: JsonSchema + 'static>() -> String {
        assert!(is_plain::<T>(), "{}", std::any::type_name::<T>());
        schemars::schema_for!(T).to_value().to_string()
    }

    #[test]
    fn plain_types_have_no_patterns_and_no_enforced_formats() {
        let schemas = [
            keywords::<String>(),
            keywords::<Option<PathBuf>>(),
            keywords::<Option<Vec<u8>>>(),
            keywords::<HashMap<String, String>>(),
            keywords::<BTreeSet<String>>(),
            keywords::<Value>(),
        ];
        for schema in schemas {
            assert!(!schema.contains("pattern"), "{schema}");
            let enforced = super::super::format::ENFORCED.iter();
            let mut formats = enforced.map(|format| format!("\"format\":\"{format}\""));
            assert!(!formats.any(|format| schema.contains(&format)), "{schema}");
        }
    }

    #[test]
    fn types_that_may_contain_a_pattern_are_not_plain() {
        struct Own;
        assert!(!is_plain::<Own>());
        assert!(!is_plain::<Vec<Own>>());
        // schemars writes `patternProperties` for keys that are numbers.
        assert!(!is_plain::<HashMap<i64, String>>());
        assert!(!is_plain::<std::net::IpAddr>());
    }
}
