//! Task lists: whether an item is done is a checkbox, which conversions leave out.

use dom_query::Document;

/// The checkboxes of items, as GitHub, GitLab and Markdown renderers write them.
const CHECKBOXES: &str = "li > input[type='checkbox'], li > label > input[type='checkbox'], li > p > input[type='checkbox']";

/// Replaces the checkbox at the beginning of an item by a character. `[x]` would be escaped.
pub(super) fn mark(document: &Document) {
    for input in document.select(CHECKBOXES).nodes() {
        if input.prev_element_sibling().is_none() {
            let mark = if input.has_attr("checked") { "☑ " } else { "☐ " };
            input.replace_with_html(mark);
        }
    }
}
