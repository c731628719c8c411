//! Prompts in lists.

use crate::convert;
use rmcp::model::{Prompt, PromptArgument, PromptsCapability};
use tool_runtime_core as core;

/// What is declared where there are prompts.
pub(super) fn capability() -> PromptsCapability {
    let mut capability = PromptsCapability::default();
    capability.list_changed = Some(true);
    capability
}

/// A prompt in a list.
pub(super) fn listed(prompt: &core::Prompt) -> Prompt {
    let definition = prompt.definition();
    let mut listed = Prompt::new(&*definition.name, None::<String>, None);
    listed.title.clone_from(&definition.title);
    listed.description = Some(definition.description.clone()).filter(|text| !text.is_empty());
    let arguments = definition.arguments.iter().map(argument).collect::<Vec<_>>();
    listed.arguments = Some(arguments).filter(|arguments| !arguments.is_empty());
    listed.icons = convert::icons(&definition.icons);
    listed.meta = convert::meta(&definition.meta);
    listed
}

fn argument(argument: &core::PromptArgument) -> PromptArgument {
    let mut listed = PromptArgument::new(&*argument.name).with_required(argument.required);
    listed.title.clone_from(&argument.title);
    listed.description = Some(argument.description.clone()).filter(|text| !text.is_empty());
    listed
}
