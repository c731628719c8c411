//! Rules for `reads`, `writes` and `access`.

use crate::access::Key;
use crate::diagnostics::Diagnostics;
use crate::hints::is_given;
use crate::model::Model;

/// Applies every rule.
pub(super) fn access(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    one_declaration(model, diagnostics);
    read_only(model, diagnostics);
    let options = &model.options;
    for (_, keys) in options.reads.iter().chain(&options.writes) {
        for key in keys {
            let _ = Key::parse(key, model, diagnostics);
        }
    }
}

fn one_declaration(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    let options = &model.options;
    let listed = options.reads.as_ref().or(options.writes.as_ref());
    if let (Some(path), Some(_)) = (&options.access, listed) {
        diagnostics.error_on(
            path,
            "`access` declares all resources of a call; remove `access`, or `reads` and `writes`",
        );
    }
}

fn read_only(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    let Some((span, keys)) = &model.options.writes else { return };
    if keys.is_empty() || !is_given(model.hints.read_only) {
        return;
    }
    let message = match model.options.hints.read_only {
        Some(_) => "a `read_only` tool writes nothing; remove `read_only`, or `writes`",
        None => {
            "`#[toolset]` makes this tool `read_only`; write `read_only = false` here, or remove `writes`"
        }
    };
    diagnostics.error_at(*span, message);
}
