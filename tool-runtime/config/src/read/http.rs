//! Reads a server over HTTP.

use super::Reader;
use super::entry::{Entry, Member};
use crate::text::McpText;
use crate::transport::HttpConfig;
use std::collections::BTreeMap;
use tool_runtime_core::vocabulary::Secret;

/// Placeholder for an invalid address, so that the rest of the entry is checked.
const PLACEHOLDER: &str = "https://unknown.invalid/";

impl Reader<'_> {
    pub(super) fn http(&mut self, entry: &mut Entry<'_>, legacy_sse: bool) -> Option<HttpConfig> {
        let url =
            entry.one_of(&["url", "http_url", "server_url", "base_url", "uri"], self.findings);
        let url = url.map(|member| self.url(&member));
        let headers = self.headers(entry);
        let auth = self.auth(entry);
        Some(HttpConfig { headers, auth, legacy_sse, ..HttpConfig::new(url?) })
    }

    fn url(&mut self, member: &Member<'_>) -> McpText {
        let written = self.string(&member.location, member.value);
        let url = written.and_then(|written| self.expanded(&member.location, written));
        match (url, written) {
            (Some(url), Some(written)) => McpText::url(url.as_str().to_owned(), written),
            _ => McpText::from(PLACEHOLDER),
        }
    }

    pub(super) fn headers(&mut self, entry: &mut Entry<'_>) -> BTreeMap<McpText, Secret> {
        let mut headers = BTreeMap::new();
        if let Some(member) = entry.one_of(&["headers", "http_headers"], self.findings) {
            self.map(&member, &mut headers);
        }
        if let Some(member) = entry.one_of(&["env_http_headers"], self.findings) {
            self.headers_of_variables(&member, &mut headers);
        }
        headers
    }

    /// Reads headers whose values are names of variables.
    fn headers_of_variables(&mut self, member: &Member<'_>, into: &mut BTreeMap<McpText, Secret>) {
        let Some(object) = self.object(&member.location, member.value) else { return };
        for (header, variable) in object {
            let location = member.location.key(header);
            let Some(variable) = self.string(&location, variable) else { continue };
            let value = self.variable(&location, variable);
            self.put(&location, McpText::from(header.as_str()), value, into);
        }
    }
}
