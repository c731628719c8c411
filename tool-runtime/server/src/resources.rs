//! Serves resources and resource templates.

use super::client::Subject;
use super::handler::PoolHandler;
use super::pagination::List;
use super::refusal;
use super::rounds::Round;
use super::run_call::{interrupted, run_call};
use rmcp::RoleServer;
use rmcp::model::{
    self, ErrorData, ListResourceTemplatesResult, ListResourcesResult, MetaObject,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
};
use rmcp::service::RequestContext;
use tool_runtime_core::{ErrorClass, ResourceContents};

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
    let (uri, mime_type, text, blob, meta) = contents.into_members();
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
