//! Serves resources and resource templates.

use super::client::Subject;
use super::convert;
use super::handler::PoolHandler;
use super::pagination::List;
use super::refusal;
use super::rounds::Round;
use super::run_call::{interrupted, run_call};
use rmcp::RoleServer;
use rmcp::model::{
    self, Annotations, ErrorData, ListResourceTemplatesResult, ListResourcesResult, MetaObject,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceTemplate, ResourcesCapability, Role,
};
use rmcp::service::RequestContext;
use tool_runtime_core as core;
use tool_runtime_core::{ContentAnnotations, ErrorClass, ResourceContents};

/// What is declared where there are resources.
pub(super) fn capability() -> ResourcesCapability {
    let mut capability = ResourcesCapability::default();
    capability.subscribe = Some(true);
    capability.list_changed = Some(true);
    capability
}

/// All resources as in lists, those of one URI and templates apart, sorted by URI.
pub(super) fn listed(resources: &[core::Resource]) -> (Vec<Resource>, Vec<ResourceTemplate>) {
    let (mut fixed, mut templates) = (Vec::new(), Vec::new());
    let mut order: Vec<&core::Resource> = resources.iter().collect();
    order.sort_by_key(|resource| resource.uri());
    for resource in order {
        match resource.definition().is_template() {
            true => templates.push(template(resource.definition())),
            false => fixed.push(single(resource.definition())),
        }
    }
    (fixed, templates)
}

fn single(definition: &core::ResourceDefinition) -> Resource {
    let mut listed = Resource::new(&*definition.uri, &*definition.name);
    listed.title.clone_from(&definition.title);
    listed.description = Some(definition.description.clone()).filter(|text| !text.is_empty());
    listed.mime_type.clone_from(&definition.mime_type);
    listed.size = definition.size;
    listed.icons = convert::icons(&definition.icons);
    listed.meta = convert::meta(&definition.meta);
    listed.annotations = annotations(&definition.annotations);
    listed
}

fn template(definition: &core::ResourceDefinition) -> ResourceTemplate {
    let single = single(definition);
    let mut listed = ResourceTemplate::new(single.uri, single.name);
    listed.title = single.title;
    listed.description = single.description;
    listed.mime_type = single.mime_type;
    listed.icons = single.icons;
    listed.meta = single.meta;
    listed.annotations = single.annotations;
    listed
}

#[allow(clippy::cast_possible_truncation, reason = "between 0 and 1, and a hint")]
fn annotations(annotations: &ContentAnnotations) -> Option<Annotations> {
    if *annotations == ContentAnnotations::default() {
        return None;
    }
    let role = |name: &String| match name.as_str() {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        _ => None,
    };
    let audience: Vec<Role> = annotations.audience.iter().filter_map(role).collect();
    let mut listed = Annotations::default();
    listed.audience = Some(audience).filter(|audience| !audience.is_empty());
    listed.priority = annotations.priority.map(|priority| priority as f32);
    listed.last_modified.clone_from(&annotations.last_modified);
    Some(listed)
}

impl PoolHandler {
    /// `resources/list`.
    pub(super) fn resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: &RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listing = self.listing();
        refusal::unless(listing.capabilities.resources.is_some(), "resources/list")?;
        let resources = &listing.resources;
        let uri = |index: usize| resources[index].uri.clone();
        let page = self.page(List::Resources, resources.len(), &uri, request, context)?;
        Ok(ListResourcesResult {
            next_cursor: page.next,
            ttl_ms: page.ttl_ms,
            cache_scope: page.scope,
            ..ListResourcesResult::with_all_items(resources[page.range].to_vec())
        })
    }

    /// `resources/templates/list`.
    pub(super) fn templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: &RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let listing = self.listing();
        refusal::unless(listing.capabilities.resources.is_some(), "resources/templates/list")?;
        let templates = &listing.templates;
        let uri = |index: usize| templates[index].uri_template.clone();
        let page = self.page(List::Templates, templates.len(), &uri, request, context)?;
        Ok(ListResourceTemplatesResult {
            next_cursor: page.next,
            ttl_ms: page.ttl_ms,
            cache_scope: page.scope,
            ..ListResourceTemplatesResult::with_all_items(templates[page.range].to_vec())
        })
    }

    /// `resources/read`.
    pub(super) async fn resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        refusal::unless(self.listing().capabilities.resources.is_some(), "resources/read")?;
        let round = Round { responses: request.input_responses, state: request.request_state };
        let subject = Subject { method: "resources/read", name: request.uri, arguments: None };
        let client = self.client(context, subject, round);
        let call = self.context_with(&client, client.request().token());
        let resource = self.pool().read_resource(client.name(), &call);
        match run_call(&client, resource).await {
            Ok(Ok(read)) => {
                let mut result = ReadResourceResult::new(read.into_iter().map(contents).collect());
                (result.ttl_ms, result.cache_scope) = self.hint(client.is_modern());
                Ok(result.into())
            }
            Ok(Err(error)) if error.class() == ErrorClass::NotFound => {
                Err(refusal::no_resource(client.name()))
            }
            Ok(Err(error)) => Err(refusal::of(&error, client.is_modern())),
            Err(interruption) => interrupted(interruption),
        }
    }
}

/// Contents without text are bytes, if only none.
fn contents(contents: ResourceContents) -> model::ResourceContents {
    let ResourceContents { uri, mime_type, text, blob, meta } = contents;
    let meta = meta.map(MetaObject);
    match text {
        Some(text) => model::ResourceContents::TextResourceContents { uri, mime_type, text, meta },
        None => model::ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob: blob.unwrap_or_default(),
            meta,
        },
    }
}
