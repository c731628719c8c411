//! Kinds of functions: tool, prompt, resource.

/// What a function becomes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Tool,
    Prompt,
    Resource,
}

impl Kind {
    /// As it is called in messages; it is also the attribute's name.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
        }
    }

    /// What the name of the generated struct ends with.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Tool => "Action",
            Self::Prompt => "Prompt",
            Self::Resource => "Resource",
        }
    }

    /// What an empty description should say.
    pub(crate) fn asked(self) -> &'static str {
        match self {
            Self::Tool => "what the tool does and when to use it",
            Self::Prompt => "what the prompt is for",
            Self::Resource => "what the resource holds",
        }
    }

    /// What a missing description should say.
    pub(crate) fn said(self) -> &'static str {
        match self {
            Self::Tool => "what it does and when to use it",
            Self::Prompt => "what it is for",
            Self::Resource => "what it holds",
        }
    }
}
