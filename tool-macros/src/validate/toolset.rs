//! Mistakes in a toolset as a whole.

use super::{contradiction, serving};
use crate::mistakes::Mistakes;
use crate::model::{Model, Toolset};
use crate::names;

/// Applies every rule; each tool has been validated by itself.
pub(crate) fn toolset(toolset: &Toolset<'_>, tools: &[Model<'_>], mistakes: &mut Mistakes) {
    prefix(toolset, mistakes);
    serving::tags(&toolset.options.tags, mistakes);
    if let Some(span) = toolset.options.hints.contradiction() {
        contradiction(span, mistakes);
    }
    something(toolset, mistakes);
    tools.iter().for_each(|tool| distinct(tool, mistakes));
    tools.iter().for_each(|tool| distinct_action(tool, mistakes));
}

fn prefix(toolset: &Toolset<'_>, mistakes: &mut Mistakes) {
    let (prefix, span) = toolset.prefix();
    if prefix.is_empty() {
        return;
    }
    if prefix.ends_with('.') {
        mistakes.at(span, "the dot between prefix and name is added; write `prefix = \"fs\"`");
    } else if let Some(problem) = names::name_problem(&prefix) {
        mistakes.at(
            span,
            format!(
                "bad prefix {prefix:?}: it {problem}; write characters of `A-Z a-z 0-9 _ - .`, as in `prefix = \"fs\"`"
            ),
        );
    }
}

fn something(toolset: &Toolset<'_>, mistakes: &mut Mistakes) {
    if toolset.block.methods().next().is_none() {
        mistakes.on(
            toolset.ty(),
            "no method here is a tool; write `#[tool]` above each method that is to be one",
        );
    }
}

fn distinct(tool: &Model<'_>, mistakes: &mut Mistakes) {
    // Two methods of one name are rustc's to report.
    let Some(twin) = tool.twin.as_ref().filter(|twin| *twin != tool.ident()) else {
        return;
    };
    let (name, span) = tool.name();
    mistakes.at(
        span,
        format!("`{twin}` is the tool `{name}` already; write another name for one of the two"),
    );
}

fn distinct_action(tool: &Model<'_>, mistakes: &mut Mistakes) {
    let Some(namesake) = tool.namesake.as_ref().filter(|namesake| *namesake != tool.ident()) else {
        return;
    };
    let action = tool.action();
    mistakes.at(
        action.span(),
        format!("`{namesake}` makes the struct `{action}` already; write another name, as in `#[tool(action = Name)]`"),
    );
}
