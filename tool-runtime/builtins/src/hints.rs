//! The hints and tags of tools in short form, for assertions. Tests outside the crate include this file, too.

use tool_runtime::prelude::ToolPool;

/// A row for each tool, sorted: `Bash -d-o core` is destructive and open-world, and has the tag `core`.
///
/// Letters: read-only, destructive, idempotent, open world; `?` for a hint that is not stated. A tool without an output
/// schema ends with `(text)`.
pub(super) fn rows(pool: &ToolPool) -> Vec<String> {
    let tools = pool.tools();
    let row = |tool: &tool_runtime::Tool| {
        let definition = tool.definition();
        let hints = &definition.annotations;
        let letter = |letter, hint| match hint {
            Some(true) => letter,
            Some(false) => '-',
            None => '?',
        };
        let letters = [
            letter('r', hints.read_only_hint),
            letter('d', hints.destructive_hint),
            letter('i', hints.idempotent_hint),
            letter('o', hints.open_world_hint),
        ];
        let mut words = vec![tool.name().to_owned(), letters.into_iter().collect()];
        words.extend(definition.tags.iter().cloned());
        words.extend(definition.output_schema.is_none().then(|| "(text)".to_owned()));
        words.join(" ")
    };
    let mut rows: Vec<String> = tools.iter().map(row).collect();
    rows.sort();
    rows
}
