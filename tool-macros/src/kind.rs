//! Kinds of functions: tool, prompt, resource.

/// The kind of item that a function becomes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Tool,
    Prompt,
    Resource,
}

impl Kind {
    /// The noun in messages, which is also the attribute's name.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
        }
    }

    /// The suffix of the generated struct's name.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Tool => "Action",
            Self::Prompt => "Prompt",
            Self::Resource => "Resource",
        }
    }

    /// The content to write into an empty description.
    pub(crate) fn empty_description_hint(self) -> &'static str {
        match self {
            Self::Tool => "what the tool does and when to use it",
            Self::Prompt => "what the prompt is for",
            Self::Resource => "what the resource holds",
        }
    }

    /// The content to write into a missing description.
    pub(crate) fn description_hint(self) -> &'static str {
        match self {
            Self::Tool => "what it does and when to use it",
            Self::Prompt => "what it is for",
            Self::Resource => "what it holds",
        }
    }
}
