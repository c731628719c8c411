//! The lines of all places in a document, found in one further pass: only mistakes and explanations cost it.
//!
//! A deserializer reports where it is when a visitor fails. A key, or an item that is no object and no list, is consumed
//! before its visitor fails, so that the pass goes on behind it.

use super::place::{Place, Step};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read};

/// The line of each key and item.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(HashMap<Vec<Step>, usize>);

impl Lines {
    /// The line of a place, or of the nearest value around it.
    pub(super) fn of(&self, place: &Place) -> Option<usize> {
        (1..=place.0.len()).rev().find_map(|length| self.0.get(&place.0[..length]).copied())
    }

    /// Reads JSON. If it has a mistake, lines behind it are not known.
    pub(super) fn read_json(text: &str) -> Self {
        // Errors of `serde_json` know the line only when they reach the root.
        let line = Cell::new(1);
        let reader = LineReader { rest: text.as_bytes(), line: &line, is_after_break: false };
        Self::collect(&mut serde_json::Deserializer::from_reader(reader), Some(&line))
    }

    /// Reads YAML. If it has a mistake, lines behind it are not known.
    #[cfg(feature = "yaml")]
    pub(super) fn read_yaml(text: &str) -> Self {
        Self::collect(serde_norway::Deserializer::from_str(text), None)
    }

    fn collect<'de, D: Deserializer<'de>>(deserializer: D, line: Option<&Cell<usize>>) -> Self {
        let (lines, path) = (HashMap::new(), Vec::new());
        let mut found = Found { lines, path, line, failed_on_purpose: false };
        // The reading of the document reported its mistakes.
        let _ = Collect(&mut found).deserialize(deserializer);
        Self(found.lines)
    }

    #[cfg(feature = "toml")]
    pub(super) fn read_toml(table: &toml::de::DeTable<'_>, starts: &LineStarts) -> Self {
        let mut lines = HashMap::new();
        toml_table(table, &mut Vec::new(), starts, &mut lines);
        Self(lines)
    }
}

/// Reads byte by byte, as `serde_json` does, and knows the line of the last byte.
struct LineReader<'t> {
    rest: &'t [u8],
    line: &'t Cell<usize>,
    is_after_break: bool,
}

impl Read for LineReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (Some((byte, rest)), Some(target)) = (self.rest.split_first(), buffer.first_mut())
        else {
            return Ok(0);
        };
        (*target, self.rest) = (*byte, rest);
        self.line.set(self.line.get() + usize::from(self.is_after_break));
        self.is_after_break = *byte == b'\n';
        Ok(1)
    }
}

struct Found<'l> {
    lines: HashMap<Vec<Step>, usize>,
    /// The present line. `None`: errors tell it.
    line: Option<&'l Cell<usize>>,
    /// The path of the value that is read.
    path: Vec<Step>,
    failed_on_purpose: bool,
}

impl Found<'_> {
    /// Notes the line of the present path, if the error is one on purpose.
    ///
    /// # Errors
    /// It is another error.
    fn note<E: de::Error>(&mut self, error: E) -> Result<(), E> {
        if !std::mem::take(&mut self.failed_on_purpose) {
            return Err(error);
        }
        let line = self.line.map_or_else(|| line_of(&error), Cell::get);
        self.lines.insert(self.path.clone(), line);
        Ok(())
    }

    /// An object or list begins where its first part does.
    fn note_by_first_part(&mut self, first: Step) {
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
struct Collect<'a, 'l>(&'a mut Found<'l>);

impl<'de> DeserializeSeed<'de> for Collect<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Collect<'_, '_> {
    fn fail<E: de::Error>(self) -> Result<(), E> {
        self.0.failed_on_purpose = true;
        Err(E::custom("here"))
    }
}

impl<'de> Visitor<'de> for Collect<'_, '_> {
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
            found.path.push(Step::Index(index));
            let is_end = match items.next_element_seed(Collect(&mut *found)) {
                Ok(item) => item.is_none(),
                Err(error) => found.note(error).map(|()| false)?,
            };
            found.path.pop();
            if is_end {
                break;
            }
        }
        found.note_by_first_part(Step::Index(0));
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
            let step = Step::Key(name, *number);
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

/// The positions at which the lines of a text begin.
#[cfg(feature = "toml")]
pub(super) struct LineStarts(Vec<usize>);

#[cfg(feature = "toml")]
impl LineStarts {
    pub(super) fn new(text: &str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(std::iter::once(0).chain(after_breaks.map(|(at, _)| at + 1)).collect())
    }

    /// The line of a position, from 1.
    pub(super) fn line(&self, position: usize) -> usize {
        self.0.partition_point(|start| *start <= position)
    }
}

#[cfg(feature = "toml")]
fn toml_table(
    table: &toml::de::DeTable<'_>,
    path: &mut Vec<Step>,
    starts: &LineStarts,
    lines: &mut HashMap<Vec<Step>, usize>,
) {
    for (key, value) in table {
        path.push(Step::Key(key.get_ref().to_string(), 0));
        lines.insert(path.clone(), starts.line(key.span().start));
        toml_value(value.get_ref(), path, starts, lines);
        path.pop();
    }
}

#[cfg(feature = "toml")]
fn toml_value(
    value: &toml::de::DeValue<'_>,
    path: &mut Vec<Step>,
    starts: &LineStarts,
    lines: &mut HashMap<Vec<Step>, usize>,
) {
    match value {
        toml::de::DeValue::Table(table) => toml_table(table, path, starts, lines),
        toml::de::DeValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(index));
                lines.insert(path.clone(), starts.line(item.span().start));
                toml_value(item.get_ref(), path, starts, lines);
                path.pop();
            }
        }
        _ => {}
    }
}
