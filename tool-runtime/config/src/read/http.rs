//! A server over HTTP.

use super::Reader;
use super::entry::{CompletionContext, Entry};
use crate::text::McpText;
use crate::transport::HttpConfig;
use std::collections::BTreeMap;
use tool_runtime_core::Secret;

/// Stands in for an address that is not to be had. It is never handed out.
const STAND_IN: &str = "https://unknown.invalid/";

impl Reader<'_> {
    pub(super) fn http(&mut self, entry: &mut Entry<'_>, legacy_sse: bool) -> Option<HttpConfig> {
        let url = entry.one_of(&["url", "http_url", "server_url", "base_url"], self.findings);
        let url = url.map(|given| self.url(&given));
        let headers = self.headers(entry);
        let auth = self.auth(entry);
        Some(HttpConfig { headers, auth, legacy_sse, ..HttpConfig::new(url?) })
    }

    fn url(&mut self, given: &CompletionContext<'_>) -> McpText {
        let written = self.string(&given.place, given.value);
        let url = written.and_then(|written| self.expanded(&given.place, written));
        match (url, written) {
            (Some(url), Some(written)) => McpText::url(url.as_str().to_owned(), written),
            _ => McpText::from(STAND_IN),
        }
    }

    pub(super) fn headers(&mut self, entry: &mut Entry<'_>) -> BTreeMap<McpText, Secret> {
        let mut headers = BTreeMap::new();
        if let Some(given) = entry.one_of(&["headers", "http_headers"], self.findings) {
            self.map(&given, &mut headers);
        }
        if let Some(given) = entry.one_of(&["env_http_headers"], self.findings) {
            self.headers_of_variables(&given, &mut headers);
        }
        headers
    }

    /// Headers, and the names of variables that have their values.
    fn headers_of_variables(
        &mut self,
        given: &CompletionContext<'_>,
        into: &mut BTreeMap<McpText, Secret>,
    ) {
        let Some(object) = self.object(&given.place, given.value) else { return };
        for (header, variable) in object {
            let place = given.place.key(header);
            let Some(variable) = self.string(&place, variable) else { continue };
            let value = self.variable(&place, variable);
            self.put(&place, McpText::from(header.as_str()), value, into);
        }
    }
}
