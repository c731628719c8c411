//! Lists of declarations.

use super::Declaration;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::slice;

/// A list of [declarations](Declaration), as agents and skills write it: text with commas or spaces
/// between declarations, or a list of such strings in YAML or JSON.
///
/// Parentheses may contain commas and spaces. The text is kept: `Display` writes it unchanged.
///
/// ```
/// use tool_runtime::matching::Declarations;
///
/// let text = "Read, Grep Bash(git add, commit:*)";
/// let tools = Declarations::from(text);
/// let names: Vec<&str> = tools.iter().map(|tool| tool.as_str()).collect();
/// assert_eq!(names, ["Read", "Grep", "Bash(git add, commit:*)"]);
/// assert_eq!(tools.to_string(), text);
///
/// let list: Declarations = serde_json::from_str(r#"["Read", "Bash(git *)"]"#)?;
/// assert_eq!(list.len(), 2);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Declarations {
    written: Written,
    entries: Vec<Declaration>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Written {
    One(String),
    List(Vec<String>),
}

impl Default for Written {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Declarations {
    /// The declarations, in order.
    pub fn iter(&self) -> slice::Iter<'_, Declaration> {
        self.entries.iter()
    }

    /// The number of declarations.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the list has no declarations. An empty list of allowed tools allows nothing.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Splits a string at commas and white space outside parentheses. A parenthesis belongs to the name
/// before it, also after a space: `Bash (git *)` must not allow all of `Bash`.
fn split(text: &str) -> Vec<Declaration> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    let (mut start, mut depth) = (None, 0_usize);
    for (index, character) in text.char_indices() {
        let is_separator = character == ',' || character.is_whitespace();
        if is_separator && depth == 0 {
            push(&mut spans, text, start.take(), index);
            continue;
        }
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        start.get_or_insert(index);
    }
    push(&mut spans, text, start, text.len());
    spans.into_iter().map(|(start, end)| Declaration::from(&text[start..end])).collect()
}

fn push(spans: &mut Vec<(usize, usize)>, text: &str, start: Option<usize>, end: usize) {
    let Some(start) = start else { return };
    match spans.last_mut() {
        Some((_, last))
            if text[start..].starts_with('(') && text[*last..start].trim().is_empty() =>
        {
            *last = end;
        }
        _ => spans.push((start, end)),
    }
}

impl From<&str> for Declarations {
    fn from(text: &str) -> Self {
        Self { written: Written::One(text.to_owned()), entries: split(text) }
    }
}

impl<T: Into<String>> FromIterator<T> for Declarations {
    /// A list whose items are strings with one declaration or several.
    fn from_iter<I: IntoIterator<Item = T>>(strings: I) -> Self {
        let strings: Vec<String> = strings.into_iter().map(Into::into).collect();
        let entries = strings.iter().flat_map(|text| split(text)).collect();
        Self { written: Written::List(strings), entries }
    }
}

impl<const N: usize> From<[&str; N]> for Declarations {
    fn from(strings: [&str; N]) -> Self {
        strings.into_iter().collect()
    }
}

impl<'a> IntoIterator for &'a Declarations {
    type Item = &'a Declaration;
    type IntoIter = slice::Iter<'a, Declaration>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The text as it was written; the items of a list are joined by commas.
impl fmt::Display for Declarations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.written {
            Written::One(text) => f.write_str(text),
            Written::List(strings) => f.write_str(&strings.join(", ")),
        }
    }
}

impl Serialize for Declarations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.written {
            Written::One(text) => serializer.serialize_str(text),
            Written::List(strings) => strings.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Declarations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrList)
    }
}

struct TextOrList;

impl<'de> Visitor<'de> for TextOrList {
    type Value = Declarations;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string as `Read, Bash(git *)`, or a list of such strings")
    }

    fn visit_str<E>(self, text: &str) -> Result<Declarations, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Declarations, A::Error> {
        let mut strings = Vec::new();
        while let Some(text) = items.next_element::<String>()? {
            strings.push(text);
        }
        Ok(strings.into_iter().collect())
    }
}
