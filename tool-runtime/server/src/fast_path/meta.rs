//! The `_meta` of a plain call, which most tools do not read.

use arc_swap::ArcSwap;
use rmcp::model::{ClientCapabilities, ProtocolVersion, RequestMetaObject};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// The last valid `_meta`: most clients send the same one with every call.
#[derive(Debug, Default)]
pub(crate) struct MetaCache(ArcSwap<Meta>);

/// A `_meta` object, parsed when it is first needed.
#[derive(Debug, Default)]
pub(crate) struct Meta {
    /// Empty if there is none.
    text: Box<str>,
    is_stateless: bool,
    parsed: OnceLock<RequestMetaObject>,
}

/// The members that 2026-07-28 requires.
#[derive(Deserialize)]
struct RequiredMembers<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<Cow<'a, str>>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<ClientCapabilities>,
}

/// Finds a version, which clients of older versions must not send.
#[derive(Deserialize)]
struct VersionMember {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<IgnoredAny>,
}

impl MetaCache {
    /// The metadata, if it is valid: with `is_stateless`, all members that 2026-07-28 requires are present;
    /// otherwise the version is absent.
    pub(super) fn read(&self, raw: Option<&RawValue>, is_stateless: bool) -> Option<Arc<Meta>> {
        let text = raw.map_or("", RawValue::get);
        let last = self.0.load();
        if last.is_stateless == is_stateless && *last.text == *text {
            return Some(Arc::clone(&last));
        }
        let meta = Arc::new(Meta::read(text, is_stateless)?);
        self.0.store(Arc::clone(&meta));
        Some(meta)
    }
}

impl Meta {
    fn read(text: &str, is_stateless: bool) -> Option<Self> {
        // Derived structs would also accept an array.
        if !text.is_empty() && !text.starts_with('{') {
            return None;
        }
        let is_complete = match is_stateless {
            true => {
                let RequiredMembers { version, capabilities } = serde_json::from_str(text).ok()?;
                let expected = ProtocolVersion::V_2026_07_28;
                version.as_deref() == Some(expected.as_str()) && capabilities.is_some()
            }
            false => {
                text.is_empty()
                    || serde_json::from_str::<VersionMember>(text).ok()?.version.is_none()
            }
        };
        is_complete.then(|| Self { text: text.into(), is_stateless, parsed: OnceLock::new() })
    }

    /// The span that the client has sent. Most send none, and need not be parsed for it.
    #[cfg(feature = "http")]
    pub(crate) fn traceparent(&self) -> Option<&str> {
        self.text.contains("traceparent").then(|| self.get().get_traceparent()).flatten()
    }

    pub(crate) fn get(&self) -> &RequestMetaObject {
        // The text was checked by `read`. An object nested deeper than serde_json's limit counts as empty.
        self.parsed.get_or_init(|| serde_json::from_str(&self.text).unwrap_or_default())
    }
}
