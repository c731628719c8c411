//! Rules for titles, tags, icons and tasks.

use crate::diagnostics::Diagnostics;
use crate::expressions::bare;
use crate::model::Model;
use darling::util::PreservedStrExpr;
use proc_macro2::{Delimiter, TokenTree};
use syn::{Expr, LitStr};

/// Checks titles and tags, which must not be blank.
pub(super) fn title_and_tags(model: &Model<'_>, diagnostics: &mut Diagnostics) {
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
    for tag in tags.iter().filter(|tag| tag.value().contains(',')) {
        diagnostics.error_on(tag, "a tag has no comma; write several as `tags(\"a\", \"b\")`");
    }
}

/// Checks metadata and schemas, which are objects.
pub(super) fn objects(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    let mut check = |value: &Option<PreservedStrExpr>, message: &str| {
        if let Some(value) = value.as_ref().filter(|value| is_never_an_object(&value.0)) {
            diagnostics.error_on(value, message);
        }
    };
    check(
        &model.options.meta,
        "the metadata is not an object; write `meta = serde_json::json!({ \"key\": 1 })`",
    );
    check(
        &model.options.input_schema,
        "the schema is not an object; write `input_schema = serde_json::json!({ \"type\": \"object\" })`",
    );
}

/// A literal, an array or `json!` of one.
fn is_never_an_object(value: &Expr) -> bool {
    match bare(value) {
        Expr::Lit(_) | Expr::Array(_) | Expr::Tuple(_) => true,
        Expr::Macro(call) if call.mac.path.segments.last().is_some_and(|it| it.ident == "json") => {
            let mut tokens = call.mac.tokens.clone().into_iter();
            match (tokens.next(), tokens.next()) {
                (Some(TokenTree::Literal(_)), None) => true,
                (Some(TokenTree::Group(group)), None) => group.delimiter() == Delimiter::Bracket,
                _ => false,
            }
        }
        _ => false,
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
