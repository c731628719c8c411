//! Mistakes in tool options beyond arguments.

use crate::mistakes::Mistakes;
use crate::model::Model;
use syn::LitStr;

/// Titles and tags that say nothing.
pub(super) fn texts(model: &Model<'_>, mistakes: &mut Mistakes) {
    for title in model.options.title.iter().filter(|title| is_blank(title)) {
        mistakes.on(title, "the title is empty; write one, or remove `title`");
    }
    tags(&model.options.tags, mistakes);
}

/// Tags of a tool, or of a toolset.
pub(super) fn tags(tags: &[LitStr], mistakes: &mut Mistakes) {
    for tag in tags.iter().filter(|tag| is_blank(tag)) {
        mistakes.on(tag, "a tag is empty; write a word to filter by, or remove it");
    }
}

fn is_blank(text: &LitStr) -> bool {
    text.value().trim().is_empty()
}

/// Clients load pictures from the web or from the URI itself, and refuse everything else.
pub(super) fn icons(model: &Model<'_>, mistakes: &mut Mistakes) {
    for icon in &model.options.icons {
        if !["https:", "data:"].iter().any(|scheme| icon.value().starts_with(scheme)) {
            mistakes.on(icon, "clients load no such picture; write an `https:` or a `data:` URI");
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
