//! What a call is about: a tool, a resource, a prompt.

use tool_runtime_core::seam::{PROMPTS, RESOURCES};

/// What a call is about, by the name of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject<'a> {
    Tool(&'a str),
    Resource(&'a str),
    Prompt(&'a str),
}

impl<'a> Subject<'a> {
    pub(crate) fn from_name(name: &'a str) -> Self {
        let (resource, prompt) = (name.strip_prefix(RESOURCES), name.strip_prefix(PROMPTS));
        match (resource, prompt) {
            (Some(uri), _) => Self::Resource(uri),
            (_, Some(name)) => Self::Prompt(name),
            _ => Self::Tool(name),
        }
    }
}
