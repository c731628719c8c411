//! Paths of arguments: `path`, `target.host`, `files[*].name`, `rows[0]`.

use crate::read::Fault;
use serde_json::Value;
use std::fmt;

/// A step into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    Key(String),
    Index(usize),
    /// Every item of a list.
    Each,
}

impl Segment {
    /// The part of a value. `None` if there is none, or if there are several.
    pub(crate) fn find_in<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match self {
            Self::Key(key) => value.as_object()?.get(key),
            Self::Index(index) => value.as_array()?.get(*index),
            Self::Each => None,
        }
    }
}

/// The path of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    name: String,
    rest: Vec<Segment>,
}

impl Field {
    /// # Errors
    /// Not a path.
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let wrong = || {
            let help = "write it as `path`, `target.host`, `files[*].name` or `rows[0]`";
            Fault::new(format!("`{text}` is not the path of an argument"), help)
        };
        let mut segments = Vec::new();
        for part in text.split('.') {
            let (key, mut brackets) = part.split_at(part.find('[').unwrap_or(part.len()));
            if key.is_empty() || key.contains(']') {
                return Err(wrong());
            }
            segments.push(Segment::Key(key.to_owned()));
            while !brackets.is_empty() {
                let inside = brackets.strip_prefix('[').and_then(|rest| rest.split_once(']'));
                let (index, rest) = inside.ok_or_else(wrong)?;
                segments.push(match index {
                    "*" => Segment::Each,
                    index => Segment::Index(index.parse().map_err(|_| wrong())?),
                });
                brackets = rest;
            }
        }
        Self::from_segments(segments).ok_or_else(wrong)
    }

    /// A path of keys as they are, with dots and brackets.
    pub(crate) fn keys(keys: Vec<String>) -> Option<Self> {
        Self::from_segments(keys.into_iter().map(Segment::Key).collect())
    }

    fn from_segments(mut segments: Vec<Segment>) -> Option<Self> {
        if segments.is_empty() {
            return None;
        }
        let rest = segments.split_off(1);
        match segments.pop() {
            Some(Segment::Key(name)) => Some(Self { name, rest }),
            _ => None,
        }
    }

    /// The name of the argument, and the path inside it.
    pub(crate) fn parts(&self) -> (&str, &[Segment]) {
        (&self.name, &self.rest)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.rest.iter().try_for_each(|segment| match segment {
            Segment::Key(key) => write!(f, ".{key}"),
            Segment::Index(index) => write!(f, "[{index}]"),
            Segment::Each => f.write_str("[*]"),
        })
    }
}
