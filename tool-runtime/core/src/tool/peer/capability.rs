//! Capabilities of a peer.

use serde_json::{Value, json};
use std::fmt;

/// A capability of a peer that a request needs: MCP's client capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PeerCapability {
    /// Shows a form to its user.
    Elicitation,
    /// Sends its user to a web page.
    ElicitationUrl,
    /// Requests a message of its model.
    Sampling,
    /// Lists the directories that the client works in.
    Roots,
}

impl PeerCapability {
    /// Whether the request is a question to the user.
    #[doc(hidden)]
    pub fn is_elicitation(self) -> bool {
        match self {
            Self::Elicitation | Self::ElicitationUrl => true,
            Self::Sampling | Self::Roots => false,
        }
    }

    /// The member that every answer to such a request has.
    #[doc(hidden)]
    pub fn answer_member(self) -> &'static str {
        match self {
            Self::Elicitation | Self::ElicitationUrl => "action",
            Self::Sampling => "content",
            Self::Roots => "roots",
        }
    }

    /// The capability as clients declare it.
    #[doc(hidden)]
    pub fn declaration(self) -> Value {
        match self {
            Self::Elicitation => json!({ "elicitation": { "form": {} } }),
            Self::ElicitationUrl => json!({ "elicitation": { "url": {} } }),
            Self::Sampling => json!({ "sampling": {} }),
            Self::Roots => json!({ "roots": {} }),
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Elicitation => "ask its user",
            Self::ElicitationUrl => "send its user to a web page",
            Self::Sampling => "ask its model",
            Self::Roots => "list its roots",
        }
    }
}

impl fmt::Display for PeerCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what())
    }
}
