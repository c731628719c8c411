//! What a server says of a tool beyond its arguments.

use crate::mistakes::Mistakes;
use crate::model::Model;

/// Clients load icons from the web or from the URI itself, and refuse everything else.
pub(super) fn icons(model: &Model<'_>, mistakes: &mut Mistakes) {
    for icon in &model.options.icons {
        let source = icon.value();
        if !source.starts_with("https://") && !source.starts_with("data:") {
            mistakes.at(
                icon.span(),
                format!("bad icon `{source}`: clients load `https:` and `data:` alone; write `icon = \"https://example.com/icon.png\"`"),
            );
        }
    }
}

pub(super) fn task(model: &Model<'_>, mistakes: &mut Mistakes) {
    let Some(task) = &model.options.task else {
        return;
    };
    if !["optional", "required"].contains(&task.value().as_str()) {
        mistakes.at(
            task.span(),
            "write `task = \"optional\"` for a call that may go on as a task, or `task = \"required\"` for one that clients without tasks cannot make",
        );
    }
}
