//! Lines of TOML.

use super::Lines;
use crate::read::path::Segment;
use std::collections::HashMap;

impl Lines {
    pub(in crate::read) fn read_toml(table: &toml::de::DeTable<'_>, starts: &LineStarts) -> Self {
        let mut lines = HashMap::new();
        toml_table(table, &mut Vec::new(), starts, &mut lines);
        Self(lines)
    }
}

/// The positions at which the lines of a string begin.
pub(in crate::read) struct LineStarts(Vec<usize>);

impl LineStarts {
    pub(in crate::read) fn new(text: &str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(std::iter::once(0).chain(after_breaks.map(|(at, _)| at + 1)).collect())
    }

    /// The line of a position, from 1.
    pub(in crate::read) fn line(&self, position: usize) -> usize {
        self.0.partition_point(|start| *start <= position)
    }
}

fn toml_table(
    table: &toml::de::DeTable<'_>,
    path: &mut Vec<Segment>,
    starts: &LineStarts,
    lines: &mut HashMap<Vec<Segment>, usize>,
) {
    for (key, value) in table {
        path.push(Segment::Key(key.get_ref().to_string(), 0));
        lines.insert(path.clone(), starts.line(key.span().start));
        toml_value(value.get_ref(), path, starts, lines);
        path.pop();
    }
}

fn toml_value(
    value: &toml::de::DeValue<'_>,
    path: &mut Vec<Segment>,
    starts: &LineStarts,
    lines: &mut HashMap<Vec<Segment>, usize>,
) {
    match value {
        toml::de::DeValue::Table(table) => toml_table(table, path, starts, lines),
        toml::de::DeValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Segment::Index(index));
                lines.insert(path.clone(), starts.line(item.span().start));
                toml_value(item.get_ref(), path, starts, lines);
                path.pop();
            }
        }
        _ => {}
    }
}
