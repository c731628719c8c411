//! Lines of YAML.
//!
//! A deserializer reports where it is when a visitor fails. A key, or an item that is no object and no list, is consumed
//! before its visitor fails, so that the pass goes on behind it.

use super::Lines;
use crate::read::path::Segment;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;

impl Lines {
    /// Reads YAML, or JSON, which is YAML. Behind a mistake, and behind an escape of JSON that YAML does not know, lines are
    /// not known.
    pub(in crate::read) fn read_yaml(text: &str) -> Self {
        let mut found = Positions::default();
        // The reading of the document reported its mistakes.
        let _ = Collect(&mut found).deserialize(serde_norway::Deserializer::from_str(text));
        Self(found.lines)
    }
}

#[derive(Default)]
struct Positions {
    lines: HashMap<Vec<Segment>, usize>,
    /// The path of the value that is read.
    path: Vec<Segment>,
    failed_on_purpose: bool,
}

impl Positions {
    /// Notes the line of the present path, if the error is one on purpose.
    ///
    /// # Errors
    /// It is another error.
    fn note<E: de::Error>(&mut self, error: E) -> Result<(), E> {
        if !std::mem::take(&mut self.failed_on_purpose) {
            return Err(error);
        }
        self.lines.insert(self.path.clone(), line_of(&error));
        Ok(())
    }

    /// An object or list begins where its first part does.
    fn note_by_first_part(&mut self, first: Segment) {
        self.path.push(first);
        let line = self.lines.get(&self.path).copied();
        self.path.pop();
        if let Some(line) = line {
            self.lines.entry(self.path.clone()).or_insert(line);
        }
    }
}

/// The line in the text of an error: `.. at line 3 column 5`. A text without one is about the beginning.
fn line_of(error: &impl fmt::Display) -> usize {
    let text = error.to_string();
    let line = text.rsplit_once(" at line ").and_then(|(_, rest)| rest.split(' ').next());
    line.and_then(|line| line.parse().ok()).unwrap_or(1)
}

/// Fails on scalar values, and notes the lines of what is in others.
struct Collect<'a>(&'a mut Positions);

impl<'de> DeserializeSeed<'de> for Collect<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Collect<'_> {
    fn fail<E: de::Error>(self) -> Result<(), E> {
        self.0.failed_on_purpose = true;
        Err(E::custom("here"))
    }
}

impl<'de> Visitor<'de> for Collect<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.fail()
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        self.fail()
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        self.fail()
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        self.fail()
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        self.fail()
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<(), E> {
        self.fail()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self(found) = self;
        for index in 0.. {
            found.path.push(Segment::Index(index));
            let is_end = match items.next_element_seed(Collect(&mut *found)) {
                Ok(item) => item.is_none(),
                Err(error) => found.note(error).map(|()| false)?,
            };
            found.path.pop();
            if is_end {
                break;
            }
        }
        found.note_by_first_part(Segment::Index(0));
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Self(found) = self;
        let mut earlier: HashMap<String, usize> = HashMap::new();
        let mut first = None;
        loop {
            let mut name = None;
            let Err(error) = entries.next_key_seed(Key(&mut name)) else { break };
            let Some(name) = name else { return Err(error) };
            let number = earlier.entry(name.clone()).or_default();
            let step = Segment::Key(name, *number);
            *number += 1;
            first.get_or_insert_with(|| step.clone());
            found.path.push(step);
            found.failed_on_purpose = true;
            found.note(error)?;
            let line = found.lines.get(&found.path).copied();
            if let Err(error) = entries.next_value_seed(Collect(&mut *found)) {
                found.note(error)?;
            }
            // A value is where its key is.
            found.lines.extend(line.map(|line| (found.path.clone(), line)));
            found.path.pop();
        }
        first.into_iter().for_each(|first| found.note_by_first_part(first));
        Ok(())
    }
}

/// Fails on a key, after it noted the key.
struct Key<'a>(&'a mut Option<String>);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<(), E> {
        *self.0 = Some(key.to_owned());
        Err(E::custom("here"))
    }
}
