//! Roots: the directories that a client works in.

use super::PeerCapability;
use super::PeerError;
use super::request::PeerRequest;
use crate::tool::context::ToolContext;
use serde::{Deserialize, Serialize};
use serde_json::Map;

/// A directory or file that a client works in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Root {
    /// The `file://` URI of the root.
    pub uri: String,
    /// The name of the root, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

#[derive(Deserialize)]
struct Roots {
    roots: Vec<Root>,
}

impl ToolContext {
    /// Requests the directories that the client works in. `key` names the question, as with [`Self::ask`],
    /// and the same applies to effects before the question.
    ///
    /// MCP deprecates it since 2026-07-28: take a path as an argument where you can.
    ///
    /// # Errors
    /// The client does not support roots, does not answer, or its answer is invalid.
    pub async fn roots(&self, key: &str) -> Result<Vec<Root>, PeerError> {
        let request = PeerRequest::new(key, PeerCapability::Roots, Map::new());
        let answer = self.send_request(request).await?;
        let answer = serde_json::from_value::<Roots>(answer);
        answer.map(|answer| answer.roots).map_err(|error| PeerError::malformed(key, error))
    }
}
