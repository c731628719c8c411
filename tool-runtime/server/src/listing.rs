//! Lists tools, prompts and resources of one snapshot.

mod prompts;
mod resources;

use super::{convert, logging};
use rmcp::model::{
    JsonObject, Prompt, Resource, ResourceTemplate, ServerCapabilities, TASKS_EXTENSION_ID, Tool,
};
use std::sync::{Arc, Weak};
use tool_runtime_core::{Snapshot, TaskSupport};

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
    /// Whether HTTP headers repeat arguments of a tool, in the order of `modern`.
    #[cfg(feature = "http")]
    mirrored: Vec<bool>,
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
            #[cfg(feature = "http")]
            mirrored: of.definitions().map(convert::is_mirrored).collect(),
            of: Arc::downgrade(of),
        }
    }

    /// A tool of this name, for clients of 2026-07-28.
    pub(super) fn tool(&self, name: &str) -> Option<&Tool> {
        self.find(name).map(|index| &self.modern[index])
    }

    /// Whether HTTP headers repeat arguments of this tool.
    #[cfg(feature = "http")]
    pub(super) fn is_mirrored(&self, name: &str) -> bool {
        self.find(name).is_some_and(|index| self.mirrored[index])
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.modern.binary_search_by(|tool| (*tool.name).cmp(name)).ok()
    }

    pub(super) fn is_of(&self, snapshot: &Arc<Snapshot>) -> bool {
        std::ptr::eq(self.of.as_ptr(), Arc::as_ptr(snapshot))
    }
}

/// Prompts, resources and templates as clients are told of them, each kind only if there is any.
pub fn offered_beside_tools(of: &Arc<Snapshot>) -> Vec<(&'static str, serde_json::Value)> {
    let listing = Listing::new(of);
    let written = [
        ("prompts", serde_json::to_value(listing.prompts)),
        ("resources", serde_json::to_value(listing.resources)),
        ("resourceTemplates", serde_json::to_value(listing.templates)),
    ];
    let lists = written.into_iter().filter_map(|(kind, list)| Some((kind, list.ok()?)));
    lists.filter(|(_, list)| list.as_array().is_some_and(|list| !list.is_empty())).collect()
}

/// Exactly what there is; tools may come at any time.
fn capabilities(of: &Snapshot) -> ServerCapabilities {
    let mut capabilities =
        ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
    logging::declare(&mut capabilities);
    if of.definitions().any(|tool| tool.task != TaskSupport::None) {
        let extensions = capabilities.extensions.get_or_insert_default();
        extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
    }
    if of.offers_prompts() {
        capabilities.prompts = Some(prompts::capability());
    }
    if of.offers_resources() {
        capabilities.resources = Some(resources::capability());
    }
    let prompts = of.prompts().iter().any(|prompt| prompt.is_completed());
    if prompts || of.resources().iter().any(|resource| resource.is_completed()) {
        capabilities.completions = Some(serde_json::Map::new());
    }
    capabilities
}
