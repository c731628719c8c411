//! Settings of the operator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Settings of the browser, chosen by the operator. No argument of a tool changes them.
///
/// ```
/// use tool_runtime_builtins::browser::BrowserParams;
///
/// let params = BrowserParams { program: Some("/opt/chrome/chrome".into()), ..BrowserParams::default() };
/// assert!(params.allowed_hosts.is_empty() && !params.show_stored_values);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BrowserParams {
    /// The program: a path, or a name that is looked up in `PATH`. Default: the first installed one of `chromium`,
    /// `chromium-browser`, `google-chrome`, `google-chrome-stable`.
    pub program: Option<PathBuf>,
    /// Hosts with private addresses that pages may connect to: `wiki.example`, `*.corp.example`, `127.0.0.1`,
    /// `10.0.0.0/8`. All others must have public addresses.
    pub allowed_hosts: Vec<String>,
    /// Directory of downloads, inside a root. A download whose name is taken gets a number. Default: `None`, which denies
    /// downloads.
    pub downloads: Option<PathBuf>,
    /// Limit on the bytes of a download. Larger downloads are cancelled.
    pub max_download_bytes: u64,
    /// Whether `browser_get_storage` shows the values of cookies and of local storage, which often contain sessions of
    /// logged-in users. Default: `false`, which shows the names only.
    pub show_stored_values: bool,
    /// Width of pages, in pixels.
    pub width: u32,
    /// Height of the visible part of pages, in pixels.
    pub height: u32,
    /// Time limit for the start of the browser, in seconds.
    pub start_seconds: u64,
    /// Time limit for loading a page and for one action, in seconds. A call that needs several steps may take twice as
    /// long.
    pub action_seconds: u64,
    /// Seconds without a call after which a browser is closed.
    pub idle_seconds: u64,
    /// Limit on concurrent browsers. Each agent of each session has one.
    pub max_browsers: usize,
}

impl Default for BrowserParams {
    fn default() -> Self {
        Self {
            program: None,
            allowed_hosts: Vec::new(),
            downloads: None,
            max_download_bytes: 100 << 20,
            show_stored_values: false,
            width: 1280,
            height: 900,
            start_seconds: 30,
            action_seconds: 30,
            idle_seconds: 900,
            max_browsers: 4,
        }
    }
}
