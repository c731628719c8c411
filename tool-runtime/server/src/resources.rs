//! `resources/read`.

use super::client::Subject;
use super::errors;
use super::handler::PoolHandler;
use super::request::{McpResult, RequestContext};
use super::rounds::Round;
use super::run_call::{interrupted, run_call};
use rmcp::model::{
    self, MetaObject, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
};
use tool_runtime_core::vocabulary::content::ResourceContents;
use tool_runtime_core::vocabulary::error::ErrorClass;

impl PoolHandler {
    pub(super) async fn resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext,
    ) -> McpResult<ReadResourceResponse> {
        errors::check_declared(self.listing().capabilities.resources.as_ref(), "resources/read")?;
        let round = Round { responses: request.input_responses, state: request.request_state };
        let subject = Subject { method: "resources/read", name: request.uri, arguments: None };
        let client = self.client(context, subject, round);
        let call = self.context_with(&client, client.request().token());
        let resource = self.pool.read_resource(client.name(), &call);
        match run_call(&client, resource).await {
            Ok(Ok(read)) => {
                let mut result = ReadResourceResult::new(read.into_iter().map(contents).collect());
                (result.ttl_ms, result.cache_scope) = self.hint(client.is_stateless());
                Ok(result.into())
            }
            Ok(Err(error)) if error.class() == ErrorClass::NotFound => {
                Err(errors::unknown_resource(client.name()))
            }
            Ok(Err(error)) => Err(errors::of_call(&error, client.is_stateless())),
            Err(interruption) => interrupted(interruption),
        }
    }
}

/// Contents without text are bytes, perhaps none.
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
