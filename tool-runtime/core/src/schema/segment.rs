//! A path through a JSON value, for schemas and for the types that decode it.

use serde_json::Value;

/// Length of the longest tuple that serde implements.
const MAX_TUPLE: usize = 16;

/// One segment of a path: from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// The value of a key.
    Key(String),
    /// An item of a list, and the text of the items before it where the list may be a tuple.
    Item { index: usize, before: String },
}

impl Segment {
    /// The item of `items` at `index`.
    pub(crate) fn item(items: &[Value], index: usize) -> Self {
        let before = items.iter().take(index).filter(|_| index < MAX_TUPLE);
        Self::Item { index, before: before.map(|item| format!("{item},")).collect() }
    }

    /// An item of a list whose items all have one type.
    pub(crate) fn any_item() -> Self {
        Self::Item { index: 0, before: String::new() }
    }

    /// Its size in the text of a probe.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Key(name) => name.len(),
            Self::Item { before, .. } => before.len(),
        }
    }
}

/// The part of a value at `path`.
pub(crate) fn part_at<'v>(value: &'v Value, path: &[Segment]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, step| match step {
        Segment::Key(name) => value.get(name),
        Segment::Item { index, .. } => value.get(index),
    })
}
