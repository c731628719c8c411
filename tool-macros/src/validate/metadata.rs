//! Rules for titles, tags, icons and tasks.

use crate::diagnostics::Diagnostics;
use crate::model::Model;
use syn::LitStr;

/// Checks titles and tags, which must not be blank.
pub(super) fn texts(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    for title in model.options.title.iter().filter(|title| is_blank(title)) {
        diagnostics.error_on(title, "the title is empty; write one, or remove `title`");
    }
    tags(&model.options.tags, diagnostics);
    scopes(&model.options.scopes, diagnostics);
}

/// Checks the scopes of a tool or of a toolset: the characters of RFC 6749, section 3.3.
pub(super) fn scopes(scopes: &[LitStr], diagnostics: &mut Diagnostics) {
    let is_valid = |char: char| char.is_ascii_graphic() && !matches!(char, '"' | '\\');
    for scope in scopes {
        let text = scope.value();
        if text.is_empty() || !text.chars().all(is_valid) {
            let message = "not a valid scope; write visible ASCII without spaces, quotes and backslashes, such as `notes:write`";
            diagnostics.error_on(scope, message);
        }
    }
}

/// Checks the tags of a tool or of a toolset.
pub(super) fn tags(tags: &[LitStr], diagnostics: &mut Diagnostics) {
    for tag in tags.iter().filter(|tag| is_blank(tag)) {
        diagnostics.error_on(tag, "a tag is empty; write a word to filter by, or remove it");
    }
}

fn is_blank(text: &LitStr) -> bool {
    text.value().trim().is_empty()
}

/// Checks icons: clients load `https:` and `data:` URIs only.
pub(super) fn icons(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    for icon in &model.options.icons {
        if !["https:", "data:"].iter().any(|scheme| icon.value().starts_with(scheme)) {
            diagnostics
                .error_on(icon, "clients do not load this URI; write an `https:` or a `data:` URI");
        }
    }
}

pub(super) fn task(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    let Some(task) = &model.options.task else {
        return;
    };
    if !["optional", "required"].contains(&task.value().as_str()) {
        diagnostics.error_at(
            task.span(),
            "write `task = \"optional\"` for a call that may go on as a task, or `task = \"required\"` for one that clients without tasks cannot make",
        );
    }
}
