//! Lists tools, prompts and resources of one snapshot.

use super::{convert, logging};
use rmcp::model::{
    JsonObject, Prompt, PromptsCapability, Resource, ResourceTemplate, ResourcesCapability,
    ServerCapabilities, TASKS_EXTENSION_ID, Tool,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::{Arc, Weak};
use tool_runtime_core as core;
use tool_runtime_core::pool::Snapshot;
use tool_runtime_core::seam::as_json_in_place;
use tool_runtime_core::tool::TaskSupport;

/// The lists of one snapshot, converted once. Every list is sorted by the names in its cursors.
#[derive(Debug)]
pub(super) struct Listing {
    /// Identifies the snapshot. Weak, so that removed tools are dropped.
    snapshot: Weak<Snapshot>,
    /// Tools for clients of 2026-07-28 and later.
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
    pub(super) fn new(snapshot: &Arc<Snapshot>) -> Self {
        let mut resources: Vec<_> =
            snapshot.resources().iter().map(core::tool::resource::Resource::definition).collect();
        resources.sort_unstable_by(|one, other| one.uri.cmp(&other.uri));
        let (templates, resources): (Vec<_>, Vec<_>) =
            resources.into_iter().partition(|resource| resource.is_template());
        Self {
            modern: snapshot.definitions().map(convert::tool).collect(),
            legacy: snapshot.definitions().map(convert::legacy_tool).collect(),
            prompts: masked(snapshot, snapshot.prompts().iter().map(convert::prompt)),
            resources: masked(snapshot, resources.into_iter().map(convert::resource)),
            templates: masked(snapshot, templates.into_iter().map(convert::template)),
            capabilities: capabilities(snapshot),
            #[cfg(feature = "http")]
            mirrored: snapshot.definitions().map(convert::is_mirrored).collect(),
            snapshot: Arc::downgrade(snapshot),
        }
    }

    /// The tool of this name, for clients of 2026-07-28.
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
        std::ptr::eq(self.snapshot.as_ptr(), Arc::as_ptr(snapshot))
    }
}

/// Prompts, resources and templates in MCP's JSON, without empty lists.
pub fn offered_beside_tools(snapshot: &Arc<Snapshot>) -> Vec<(&'static str, serde_json::Value)> {
    let listing = Listing::new(snapshot);
    let written = [
        ("prompts", serde_json::to_value(listing.prompts)),
        ("resources", serde_json::to_value(listing.resources)),
        ("resourceTemplates", serde_json::to_value(listing.templates)),
    ];
    let lists = written.into_iter().filter_map(|(kind, list)| Some((kind, list.ok()?)));
    lists.filter(|(_, list)| list.as_array().is_some_and(|list| !list.is_empty())).collect()
}

/// Prompts or resources without the secrets of the pool.
fn masked<T: Serialize + DeserializeOwned>(
    snapshot: &Snapshot,
    listed: impl Iterator<Item = T>,
) -> Vec<T> {
    let mut listed: Vec<T> = listed.collect();
    if let Some(mask) = snapshot.mask() {
        listed.iter_mut().for_each(|one| as_json_in_place(&**mask, one));
    }
    listed
}

/// The capabilities in use, and tools, which may be added at any time.
fn capabilities(snapshot: &Snapshot) -> ServerCapabilities {
    let mut capabilities =
        ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
    logging::declare(&mut capabilities);
    if snapshot.definitions().any(|tool| tool.task != TaskSupport::None) {
        let extensions = capabilities.extensions.get_or_insert_default();
        extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
    }
    if snapshot.offers_prompts() {
        let prompts = capabilities.prompts.insert(PromptsCapability::default());
        prompts.list_changed = Some(true);
    }
    if snapshot.offers_resources() {
        let resources = capabilities.resources.insert(ResourcesCapability::default());
        (resources.subscribe, resources.list_changed) = (Some(true), Some(true));
    }
    let prompts = snapshot.prompts().iter().any(|prompt| prompt.has_completers());
    if prompts || snapshot.resources().iter().any(|resource| resource.has_completers()) {
        capabilities.completions = Some(serde_json::Map::new());
    }
    capabilities
}
