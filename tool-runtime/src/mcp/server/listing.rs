//! What one snapshot of a pool offers, as clients may see it.

use super::{convert, prompts, resources};
use crate::pool::Snapshot;
use rmcp::model::{Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool};
use std::sync::{Arc, Weak};

/// What one snapshot offers, converted once. Every list is sorted by what its cursors go by.
#[derive(Debug)]
pub(super) struct Listing {
    /// Only to be recognised by: tools that are removed must not live on here.
    of: Weak<Snapshot>,
    /// For clients of 2026-07-28 and later.
    pub(super) modern: Vec<Tool>,
    pub(super) legacy: Vec<Tool>,
    pub(super) prompts: Vec<Prompt>,
    pub(super) resources: Vec<Resource>,
    pub(super) templates: Vec<ResourceTemplate>,
    pub(super) capabilities: ServerCapabilities,
}

impl Listing {
    pub(super) fn new(of: &Arc<Snapshot>) -> Self {
        let (resources, templates) = resources::listed(of.resources());
        Self {
            modern: of.definitions().map(convert::tool).collect(),
            legacy: of.definitions().map(convert::legacy_tool).collect(),
            prompts: of.prompts().iter().map(prompts::listed).collect(),
            resources,
            templates,
            capabilities: capabilities(of),
            of: Arc::downgrade(of),
        }
    }

    pub(super) fn is_of(&self, snapshot: &Arc<Snapshot>) -> bool {
        std::ptr::eq(self.of.as_ptr(), Arc::as_ptr(snapshot))
    }
}

/// Exactly what there is; tools may come at any time.
fn capabilities(of: &Snapshot) -> ServerCapabilities {
    let mut capabilities =
        ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
    let catalog = of.catalog();
    if catalog.offers_prompts() {
        capabilities.prompts = Some(prompts::capability());
    }
    if catalog.offers_resources() {
        capabilities.resources = Some(resources::capability());
    }
    let prompts = catalog.prompts().iter().map(|prompt| prompt.terms());
    let resources = catalog.resources().iter().map(|resource| resource.terms());
    if prompts.chain(resources).any(|terms| !terms.completers.is_empty()) {
        capabilities.completions = Some(serde_json::Map::new());
    }
    capabilities
}
