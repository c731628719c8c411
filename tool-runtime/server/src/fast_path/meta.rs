//! The `_meta` of a plain call, which most tools do not read.

use rmcp::model::{ClientCapabilities, ProtocolVersion, RequestMetaObject};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::OnceLock;

/// A `_meta` object, parsed when it is first needed.
#[derive(Default)]
pub(crate) struct Meta {
    text: Box<str>,
    parsed: OnceLock<RequestMetaObject>,
}

/// The members that 2026-07-28 requires.
#[derive(Deserialize)]
struct Version<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<Cow<'a, str>>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<ClientCapabilities>,
}

/// The version, for older clients, which must not send one.
#[derive(Deserialize)]
struct NoVersion {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<IgnoredAny>,
}

impl Meta {
    /// The metadata, if it is valid for the protocol version: with all members that 2026-07-28 requires,
    /// or without a version for older clients.
    pub(super) fn read(raw: Option<&RawValue>, is_modern: bool) -> Option<Self> {
        let Some(raw) = raw else { return (!is_modern).then(Self::default) };
        let is_complete = match is_modern {
            true => {
                let Version { version, capabilities } = serde_json::from_str(raw.get()).ok()?;
                let expected = ProtocolVersion::V_2026_07_28;
                version.as_deref() == Some(expected.as_str()) && capabilities.is_some()
            }
            false => serde_json::from_str::<NoVersion>(raw.get()).ok()?.version.is_none(),
        };
        is_complete.then(|| Self { text: raw.get().into(), parsed: OnceLock::new() })
    }

    pub(crate) fn get(&self) -> &RequestMetaObject {
        // It was an object when it was read; one that is nested too deep counts as empty.
        self.parsed.get_or_init(|| serde_json::from_str(&self.text).unwrap_or_default())
    }
}
