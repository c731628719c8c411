//! The lines of all paths in a document, found in another pass: only mistakes and explanations cost it.

#[cfg(feature = "toml")]
mod toml;
#[cfg(feature = "yaml")]
mod yaml;

use super::path::{DocumentPath, Segment};
use std::collections::HashMap;

#[cfg(feature = "toml")]
pub(super) use toml::LineStarts;

/// The line of each key and item.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(HashMap<Vec<Segment>, usize>);

impl Lines {
    /// The line of a path, or of the nearest value around it.
    pub(super) fn line_of(&self, path: &DocumentPath) -> Option<usize> {
        (1..=path.0.len()).rev().find_map(|length| self.0.get(&path.0[..length]).copied())
    }
}
