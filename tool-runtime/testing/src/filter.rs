//! Subscriptions of a test client.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The filter of `subscriptions/listen`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[allow(dead_code, reason = "what is not read is still checked")]
pub(super) struct Filter {
    tools_list_changed: bool,
    prompts_list_changed: bool,
    resources_list_changed: bool,
    pub(super) resource_subscriptions: Vec<String>,
}

impl Filter {
    /// # Panics
    /// It is none: a server would tell nothing, and nobody would know why.
    pub(super) fn read(filter: &Map<String, Value>) -> Self {
        let read = Self::deserialize(filter);
        read.unwrap_or_else(|error| panic!("no filter of `subscriptions/listen`: {error}"))
    }
}
