//! The two lifecycles of the protocol.

use serde_json::{Value, json};

/// Which lifecycle a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// `initialize`, then calls.
    Legacy,
    /// Every request says by itself who asks.
    Modern,
}

impl Era {
    /// Both, the older one first.
    pub const ALL: [Self; 2] = [Self::Legacy, Self::Modern];

    /// The version that the client asks for.
    pub fn version(self) -> &'static str {
        match self {
            Self::Legacy => "2025-11-25",
            Self::Modern => "2026-07-28",
        }
    }

    /// The first request, if there has to be one.
    pub(crate) fn greeting(self) -> Option<Value> {
        let params = json!({
            "protocolVersion": self.version(),
            "capabilities": {},
            "clientInfo": { "name": "load", "version": env!("CARGO_PKG_VERSION") },
        });
        let request =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        (self == Self::Legacy).then_some(request)
    }

    /// What follows on the answer to a greeting.
    pub(crate) fn thanks() -> Value {
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
    }

    /// What a request's parameters say of the client.
    pub(crate) fn meta(self) -> Option<Value> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": self.version(),
            "io.modelcontextprotocol/clientInfo":
                { "name": "load", "version": env!("CARGO_PKG_VERSION") },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        (self == Self::Modern).then_some(meta)
    }
}
