//! Settings of the operator.

use super::search::SearchParams;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the tools for the web, chosen by the operator. No argument of a tool changes them.
///
/// ```
/// use tool_runtime_builtins::web::{SearchParams, WebParams};
///
/// let search = SearchParams::Searxng { url: "https://search.example".to_owned() };
/// let params = WebParams { search: Some(search), ..WebParams::default() };
/// assert!(params.allowed_hosts.is_empty());
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebParams {
    /// Hosts with private addresses that pages may be fetched from: `wiki.example`, `*.corp.example`, `127.0.0.1`,
    /// `10.0.0.0/8`. All others must have public addresses.
    pub allowed_hosts: Vec<String>,
    /// Whether redirects to other hosts are followed. Otherwise they are reported, so that rules about the argument
    /// `url` see the new host. Default: no.
    pub follow_other_hosts: bool,
    /// Headers that a model may set, in any case: `authorization`, `x-api-key`. Another host that a redirect leads to
    /// gets only `accept` and `accept-language`. Default: these two.
    pub allowed_headers: Vec<String>,
    /// Whether the proxy of the environment is used (`HTTPS_PROXY` and others). The proxy resolves the names of what it
    /// fetches, so that this program refuses private addresses there only if they are written as addresses. Default: no.
    pub use_proxy: bool,
    /// Seconds that a request may take, with its redirects and the download.
    pub timeout_seconds: u64,
    /// The most bytes of a page, decompressed.
    pub max_bytes: usize,
    /// The most pages that are downloaded and converted at once. Other calls wait, and their time begins later.
    /// Default: 8.
    pub pages_at_once: usize,
    /// The name of this program in requests.
    pub user_agent: String,
    /// The search engine of `WebSearch`. Default: none, and the tool is hidden.
    pub search: Option<SearchParams>,
}

impl Default for WebParams {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            follow_other_hosts: false,
            allowed_headers: vec!["accept".to_owned(), "accept-language".to_owned()],
            use_proxy: false,
            timeout_seconds: 30,
            max_bytes: 5 << 20,
            pages_at_once: 8,
            user_agent: concat!("tool-runtime/", env!("CARGO_PKG_VERSION")).to_owned(),
            search: None,
        }
    }
}
