//! Rules for a toolset as a whole.

use super::{contradiction, metadata};
use crate::diagnostics::Diagnostics;
use crate::model::Model;
use crate::names;
use crate::toolset::Toolset;

/// Applies every rule of the block; the tools are validated separately.
pub(crate) fn toolset(toolset: &Toolset<'_>, tools: &[Model<'_>], diagnostics: &mut Diagnostics) {
    prefix(toolset, diagnostics);
    metadata::tags(&toolset.options.tags, diagnostics);
    metadata::scopes(&toolset.options.scopes, diagnostics);
    if let Some(span) = toolset.options.hints.contradiction() {
        contradiction(span, diagnostics);
    }
    require_tools(toolset, diagnostics);
    tools.iter().for_each(|tool| distinct(tool, diagnostics));
    tools.iter().for_each(|tool| super::distinct_action(tool, diagnostics));
}

fn prefix(toolset: &Toolset<'_>, diagnostics: &mut Diagnostics) {
    let (prefix, span) = toolset.prefix();
    if prefix.is_empty() {
        return;
    }
    if prefix.ends_with('.') {
        diagnostics
            .error_at(span, "the dot between prefix and name is added; write `prefix = \"fs\"`");
    } else if let Some(problem) = names::name_problem(&prefix) {
        diagnostics.error_at(
            span,
            format!(
                "bad prefix {prefix:?}: it {problem}; write characters of `A-Z a-z 0-9 _ - .`, as in `prefix = \"fs\"`"
            ),
        );
    }
}

fn require_tools(toolset: &Toolset<'_>, diagnostics: &mut Diagnostics) {
    if toolset.block.methods().next().is_none() {
        diagnostics.error_on(
            toolset.ty(),
            "no method here is a tool; write `#[tool]` above each method that is to be one",
        );
    }
}

fn distinct(tool: &Model<'_>, diagnostics: &mut Diagnostics) {
    // rustc reports two methods of the same name.
    let Some(duplicate) = tool.duplicate.as_ref().filter(|duplicate| *duplicate != tool.ident())
    else {
        return;
    };
    let (name, span) = tool.name();
    diagnostics.error_at(
        span,
        format!(
            "`{duplicate}` is the tool `{name}` already; write another name for one of the two"
        ),
    );
}
