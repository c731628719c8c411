//! `length = 1..=200`: characters of text, items of a list, entries of a map.

use super::Constraint;
use schemars::Schema;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::{Bound, RangeBounds};

/// A type that has a length: text, lists, sets, maps, and options of them.
#[diagnostic::on_unimplemented(
    message = "`length` needs text, a list or a map, and `{Self}` is not one of these",
    label = "not something with a length",
    note = "write `range = 1..=50` for numbers, or put the bounds on the type's own schema"
)]
pub trait HasLength {
    /// The JSON Schema keywords for the smallest and the largest length.
    const KEYWORDS: (&'static str, &'static str);

    /// The length, if there is a value.
    fn length(&self) -> Option<usize>;
}

const CHARACTERS: (&str, &str) = ("minLength", "maxLength");
const ITEMS: (&str, &str) = ("minItems", "maxItems");
const ENTRIES: (&str, &str) = ("minProperties", "maxProperties");

macro_rules! lengths {
    ($([$($generics:tt)*] $container:ty => $keywords:ident, $value:ident $length:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> HasLength for $container {
            const KEYWORDS: (&'static str, &'static str) = $keywords;

            fn length(&self) -> Option<usize> {
                let $value = self;
                Some($length)
            }
        }
    )*};
}

lengths! {
    [] String => CHARACTERS, text text.chars().count();
    [] Box<str> => CHARACTERS, text text.chars().count();
    [] Cow<'_, str> => CHARACTERS, text text.chars().count();
    [T] Vec<T> => ITEMS, list list.len();
    [T] Box<[T]> => ITEMS, list list.len();
    [T] VecDeque<T> => ITEMS, list list.len();
    [T] BTreeSet<T> => ITEMS, set set.len();
    [T, S] HashSet<T, S> => ITEMS, set set.len();
    [K, V] BTreeMap<K, V> => ENTRIES, map map.len();
    [K, V, S] HashMap<K, V, S> => ENTRIES, map map.len();
    [] serde_json::Map<String, serde_json::Value> => ENTRIES, map map.len();
}

#[diagnostic::do_not_recommend]
impl<T: HasLength> HasLength for Option<T> {
    const KEYWORDS: (&'static str, &'static str) = T::KEYWORDS;

    fn length(&self) -> Option<usize> {
        self.as_ref()?.length()
    }
}

/// Bounds of a length.
pub struct Length<T> {
    lower: Bound<usize>,
    upper: Bound<usize>,
    keywords: (&'static str, &'static str),
    length: fn(&T) -> Option<usize>,
}

/// Bounds of a length between two ends, each inclusive, exclusive or open.
pub fn length<T: HasLength>(lower: Bound<usize>, upper: Bound<usize>) -> Length<T> {
    Length { lower, upper, keywords: T::KEYWORDS, length: T::length }
}

impl<T> Constraint<T> for Length<T> {
    fn describe(&self, schema: &mut Schema) {
        let smallest = match self.lower {
            Bound::Included(end) => Some(end),
            Bound::Excluded(end) => Some(end.saturating_add(1)),
            Bound::Unbounded => None,
        };
        let largest = match self.upper {
            Bound::Included(end) => Some(end),
            Bound::Excluded(end) => Some(end.saturating_sub(1)),
            Bound::Unbounded => None,
        };
        let (minimum, maximum) = self.keywords;
        for (keyword, end) in [(minimum, smallest), (maximum, largest)] {
            if let Some(end) = end {
                schema.insert(keyword.to_owned(), end.into());
            }
        }
    }

    fn admits(&self, value: &T) -> bool {
        (self.length)(value).is_none_or(|length| (self.lower, self.upper).contains(&length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema_of<T: HasLength>(lower: Bound<usize>, upper: Bound<usize>) -> serde_json::Value {
        let mut schema = Schema::default();
        length::<T>(lower, upper).describe(&mut schema);
        schema.to_value()
    }

    #[test]
    fn text_counts_characters_and_lists_items() {
        use Bound::{Excluded, Included, Unbounded};
        assert_eq!(
            schema_of::<String>(Included(1), Excluded(4)),
            json!({"minLength": 1, "maxLength": 3})
        );
        assert_eq!(schema_of::<Option<Vec<u8>>>(Included(1), Unbounded), json!({"minItems": 1}));
        assert_eq!(
            schema_of::<HashMap<String, u8>>(Unbounded, Included(2)),
            json!({"maxProperties": 2})
        );
        let length = length::<String>(Included(2), Included(2));
        assert!(length.admits(&"äö".to_owned()));
        assert!(!length.admits(&"äöü".to_owned()));
    }
}
