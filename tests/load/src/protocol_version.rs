//! The protocol versions that the load generator supports.

use serde_json::{Value, json};

/// A protocol version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolVersion {
    /// Stateful: a handshake with `initialize`, then calls.
    V2025_11_25,
    /// Stateless: every request carries the client's information in its `_meta`.
    V2026_07_28,
}

impl ProtocolVersion {
    /// Both versions, the older one first.
    pub const ALL: [Self; 2] = [Self::V2025_11_25, Self::V2026_07_28];

    /// The version as MCP writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The request `initialize`, if the version has one.
    pub(crate) fn initialize(self) -> Option<Value> {
        let params = json!({
            "protocolVersion": self.as_str(),
            "capabilities": {},
            "clientInfo": { "name": "load", "version": env!("CARGO_PKG_VERSION") },
        });
        let request =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        (self == Self::V2025_11_25).then_some(request)
    }

    /// The notification after the answer to `initialize`.
    pub(crate) fn initialized() -> Value {
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
    }

    /// The `_meta` of a request, if the version has one.
    pub(crate) fn meta(self) -> Option<Value> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": self.as_str(),
            "io.modelcontextprotocol/clientInfo":
                { "name": "load", "version": env!("CARGO_PKG_VERSION") },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        (self == Self::V2026_07_28).then_some(meta)
    }
}
