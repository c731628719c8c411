//! The reason why a model ended its answer.

use std::fmt;

/// The reason why a model ended its answer, with the word of its API. Read by
/// [`Export::finish_reason`](crate::tool::export::Export::finish_reason).
///
/// ```
/// use tool_runtime::export::FinishReason;
///
/// let reason = FinishReason::TokenLimit("max_tokens".into());
/// assert!(reason.is_cut());
/// assert_eq!(reason.to_string(), "the answer reached its limit on tokens (`max_tokens`)");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FinishReason {
    /// The model ended its turn or calls tools, or the API does not say.
    #[default]
    Complete,
    /// The API paused a long turn: a request with the answer, and without a new message of the user, continues it.
    Paused(String),
    /// The answer reached its limit on tokens, or the size of the context.
    TokenLimit(String),
    /// A filter ended the answer: safety, copyright, a refusal.
    Filtered(String),
    /// The model wrote a call that the API could not read, and that the answer does not contain.
    MalformedCall(String),
    /// The model's server broke off.
    Interrupted(String),
    /// A word that is not known here. The answer counts as complete.
    Other(String),
}

impl FinishReason {
    /// The reason that a word means: `stop_reason` of Anthropic, `finish_reason` of OpenAI and of the servers that are
    /// compatible with it, `FinishReason` of Gemini. Without regard to case; an empty word means a complete answer.
    ///
    /// ```
    /// use tool_runtime::export::FinishReason;
    ///
    /// assert_eq!(FinishReason::from_word("tool_calls"), FinishReason::Complete);
    /// assert_eq!(FinishReason::from_word("MAX_TOKENS"), FinishReason::TokenLimit("MAX_TOKENS".into()));
    /// ```
    pub fn from_word(word: &str) -> Self {
        let own = || word.to_owned();
        // Gemini's endpoint that is compatible with OpenAI's writes what it filtered before the word.
        let last = word.rsplit(':').next().unwrap_or_default().trim();
        match last.to_ascii_lowercase().as_str() {
            ""
            | "stop"
            | "end_turn"
            | "stop_sequence"
            | "eos"
            | "complete"
            | "completed"
            | "tool_use"
            | "tool_calls"
            | "tool_call"
            | "function_call"
            | "finish_reason_unspecified" => Self::Complete,
            "pause_turn" => Self::Paused(own()),
            "length"
            | "max_tokens"
            | "max_output_tokens"
            | "max_length"
            | "max_completion_tokens"
            | "token_limit"
            | "model_length"
            | "model_context_window_exceeded" => Self::TokenLimit(own()),
            "content_filter"
            | "refusal"
            | "safety"
            | "recitation"
            | "language"
            | "blocklist"
            | "prohibited_content"
            | "spii"
            | "sensitive"
            | "model_armor"
            | "image_safety"
            | "image_prohibited_content"
            | "image_recitation" => Self::Filtered(own()),
            "malformed_function_call" | "unexpected_tool_call" | "malformed_response" => {
                Self::MalformedCall(own())
            }
            "error"
            | "network_error"
            | "insufficient_system_resource"
            | "abort"
            | "aborted"
            | "cancelled"
            | "canceled"
            | "failed"
            | "incomplete"
            | "in_progress"
            | "queued"
            | "other"
            | "too_many_tool_calls"
            | "missing_thought_signature" => Self::Interrupted(own()),
            _ => Self::Other(own()),
        }
    }

    /// Whether the answer may be incomplete. Its calls do not run.
    pub fn is_cut(&self) -> bool {
        !matches!(self, Self::Complete | Self::Paused(_) | Self::Other(_))
    }
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => f.write_str("the answer is complete"),
            Self::Paused(word) => write!(f, "the answer is paused (`{word}`)"),
            Self::TokenLimit(word) => {
                write!(f, "the answer reached its limit on tokens (`{word}`)")
            }
            Self::Filtered(word) => write!(f, "a filter ended the answer (`{word}`)"),
            Self::MalformedCall(word) => {
                write!(f, "a call in the answer could not be read (`{word}`)")
            }
            Self::Interrupted(word) => write!(f, "the model's server broke off (`{word}`)"),
            Self::Other(word) => write!(f, "the answer ended by `{word}`"),
        }
    }
}
