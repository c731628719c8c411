//! Finds the line of a place. A deserializer reports where it is when a visitor fails, so the text is
//! read again with a visitor that fails at the place: only mistakes and explanations cost this.

use super::place::{Place, Step};
use super::syntax::Text;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The line of a place, or of the nearest value around it.
pub(crate) fn line(text: &Text, place: &Place) -> Option<usize> {
    (1..=place.0.len()).rev().find_map(|length| text.line_of(Find(&place.0[..length])))
}

/// Fails at the end of a path.
pub(super) struct Find<'a>(&'a [Step]);

impl<'de> DeserializeSeed<'de> for Find<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Find<'_> {
    fn end<E: de::Error>(&self) -> Result<(), E> {
        match self.0.is_empty() {
            true => Err(E::custom("here")),
            false => Ok(()),
        }
    }
}

impl<'de> Visitor<'de> for Find<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.end()
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        self.end()
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        self.end()
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        self.end()
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        self.end()
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<(), E> {
        self.end()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.end()?;
        let (first, rest) = self.0.split_first().unwrap_or((&Step::Index(usize::MAX), &[]));
        let mut index = 0;
        loop {
            let next = match *first == Step::Index(index) {
                true => items.next_element_seed(Find(rest))?,
                false => items.next_element::<IgnoredAny>()?.map(drop),
            };
            if next.is_none() {
                return Ok(());
            }
            index += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        self.end()?;
        let (first, rest) = self.0.split_first().unwrap_or((&Step::Index(usize::MAX), &[]));
        let mut earlier = 0;
        loop {
            let key = KeyIs { step: first, earlier: &mut earlier, is_last: rest.is_empty() };
            match entries.next_key_seed(key)? {
                Some(true) => entries.next_value_seed(Find(rest))?,
                Some(false) => drop(entries.next_value::<IgnoredAny>()?),
                None => return Ok(()),
            }
        }
    }
}

/// Whether a key is the one that is looked for. Fails if it is, and the place is that key.
struct KeyIs<'a> {
    step: &'a Step,
    earlier: &'a mut usize,
    is_last: bool,
}

impl<'de> DeserializeSeed<'de> for KeyIs<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyIs<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<bool, E> {
        let Step::Key(wanted, number) = self.step else { return Ok(false) };
        if key != wanted {
            return Ok(false);
        }
        let is_it = *self.earlier == *number;
        *self.earlier += 1;
        match is_it && self.is_last {
            true => Err(E::custom("here")),
            false => Ok(is_it),
        }
    }
}
