//! Mistakes in `reads`, `writes` and `access`.

use crate::access::Key;
use crate::hints::is_given;
use crate::mistakes::Mistakes;
use crate::model::Model;

/// Applies every rule.
pub(super) fn access(model: &Model<'_>, mistakes: &mut Mistakes) {
    one_way(model, mistakes);
    read_only(model, mistakes);
    let options = &model.options;
    for (_, texts) in options.reads.iter().chain(&options.writes) {
        for text in texts {
            let _ = Key::parse(text, model, mistakes);
        }
    }
}

fn one_way(model: &Model<'_>, mistakes: &mut Mistakes) {
    let options = &model.options;
    let listed = options.reads.as_ref().or(options.writes.as_ref());
    if let (Some(path), Some(_)) = (&options.access, listed) {
        mistakes.on(
            path,
            "`access` says everything that a call touches; remove it, or `reads` and `writes`",
        );
    }
}

fn read_only(model: &Model<'_>, mistakes: &mut Mistakes) {
    let Some((span, texts)) = &model.options.writes else { return };
    if texts.is_empty() || !is_given(model.hints.read_only) {
        return;
    }
    let message = match model.options.hints.read_only {
        Some(_) => "a `read_only` tool writes nothing; remove `read_only`, or `writes`",
        None => {
            "`#[toolset]` says that this tool is `read_only`; write `read_only = false` here, or remove `writes`"
        }
    };
    mistakes.at(*span, message);
}
