//! Capabilities of a peer.

use std::fmt;

/// A capability of a peer that a request needs: MCP's client capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PeerCapability {
    /// Showing a form to its user.
    Elicitation,
    /// Sending its user to a web page.
    ElicitationUrl,
    /// Asking its model.
    Sampling,
    /// Naming the folders it works in.
    Roots,
}

impl PeerCapability {
    fn what(self) -> &'static str {
        match self {
            Self::Elicitation => "ask its user",
            Self::ElicitationUrl => "send its user to a web page",
            Self::Sampling => "ask its model",
            Self::Roots => "name its root folders",
        }
    }
}

impl fmt::Display for PeerCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what())
    }
}
