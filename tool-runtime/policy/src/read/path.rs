//! Paths in a document.

use std::fmt;

/// A step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Segment {
    /// A member, and the number of members of the same name before it.
    Key(String, usize),
    Index(usize),
}

/// The path of a value in a document: `rules[2].when.tools`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DocumentPath(pub(super) Vec<Segment>);

impl DocumentPath {
    pub(crate) fn key(&self, key: &str) -> Self {
        self.repeated(key, 0)
    }

    /// The path of a member whose key appears more than once.
    pub(super) fn repeated(&self, key: &str, earlier: usize) -> Self {
        self.then(Segment::Key(key.to_owned(), earlier))
    }

    pub(crate) fn index(&self, index: usize) -> Self {
        self.then(Segment::Index(index))
    }

    fn then(&self, step: Segment) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

impl fmt::Display for DocumentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.0.iter().enumerate() {
            match step {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key, _) => {
                    let dot = if number == 0 { "" } else { "." };
                    write!(f, "{dot}{key}")?;
                }
            }
        }
        Ok(())
    }
}
