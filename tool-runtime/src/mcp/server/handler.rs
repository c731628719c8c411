//! Answers MCP requests from a pool. rmcp keeps the lifecycles and the versions.

use super::audience::{Audience, Client};
use super::convert;
use super::listing::Listing;
use super::pages::{Hint, List, Paging};
use super::stdio::{RawArguments, is_known_method};
use crate::context::ToolContext;
use crate::error::{ErrorClass, INTERNAL};
use crate::pool::ToolPool;
use arc_swap::ArcSwap;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use std::borrow::Cow;
use std::convert::identity;
use std::ops::Range;
use std::sync::Arc;

/// Answers MCP requests from a pool. One handler is of one client: a clone is for another.
#[derive(Debug)]
pub(super) struct PoolHandler {
    pool: ToolPool,
    config: ServerConfig,
    listing: Arc<ArcSwap<Listing>>,
    paging: Paging,
    audience: Arc<Audience>,
    client: Arc<Client>,
}

impl Clone for PoolHandler {
    fn clone(&self) -> Self {
        Self {
            pool: self.pool.clone(),
            config: self.config.clone(),
            listing: Arc::clone(&self.listing),
            paging: self.paging,
            audience: Arc::clone(&self.audience),
            client: Arc::default(),
        }
    }
}

/// A page of a list, and what is said of it.
pub(super) struct Page {
    pub(super) range: Range<usize>,
    pub(super) next: Option<String>,
    pub(super) ttl_ms: Option<u64>,
    pub(super) scope: Option<CacheScope>,
}

impl PoolHandler {
    pub(super) fn new(pool: ToolPool, name: String, version: String) -> Self {
        let config = ServerConfig::new(ServerCapabilities::default())
            .with_server_info(Implementation::new(name, version));
        Self {
            listing: Arc::new(ArcSwap::from_pointee(Listing::new(&pool.snapshot()))),
            audience: Arc::new(Audience::of(pool.clone())),
            client: Arc::default(),
            paging: Paging::default(),
            pool,
            config,
        }
    }

    /// What is visible now.
    pub(super) fn listing(&self) -> Arc<Listing> {
        let (known, now) = (self.listing.load_full(), self.pool.snapshot());
        if known.is_of(&now) {
            return known;
        }
        let listing = Arc::new(Listing::new(&now));
        self.listing.store(Arc::clone(&listing));
        listing
    }

    pub(super) fn pool(&self) -> &ToolPool {
        &self.pool
    }

    pub(super) fn audience(&self) -> &Arc<Audience> {
        &self.audience
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// What a request runs in: it ends when the client gives up.
    pub(super) fn context(&self, context: &RequestContext<RoleServer>) -> ToolContext {
        self.pool
            .context()
            .with_cancellation(context.ct.clone())
            .with_call_id(context.id.to_string())
    }

    /// The page that a request asks for, of names that are sorted.
    pub(super) fn page(
        &self,
        list: List,
        count: usize,
        name: &dyn Fn(usize) -> String,
        request: Option<PaginatedRequestParams>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Page, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let (range, next) = self.paging.page(list, count, name, cursor.as_deref())?;
        let (ttl_ms, scope) = self.hint(context);
        Ok(Page { range, next, ttl_ms, scope })
    }

    /// How long an answer is fresh and for whom: older clients know no such thing.
    pub(super) fn hint(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> (Option<u64>, Option<CacheScope>) {
        match self.paging.hint.filter(|_| is_modern(context)) {
            Some(hint) => (Some(hint.ttl_ms), Some(hint.scope)),
            None => (None, None),
        }
    }

    pub(super) fn set_title(&mut self, title: String) {
        self.config.server_info.title = Some(title);
    }

    pub(super) fn set_instructions(&mut self, instructions: String) {
        self.config.instructions = Some(instructions);
    }

    pub(super) fn set_page_size(&mut self, size: usize) {
        self.paging.size = size.max(1);
    }

    pub(super) fn set_hint(&mut self, hint: Hint) {
        self.paging.hint = Some(hint);
    }
}

impl ServerHandler for PoolHandler {
    fn get_info(&self) -> ServerConfig {
        let mut config = self.config.clone();
        config.capabilities = self.listing().capabilities.clone();
        config
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut result = DiscoverResult::from_server_info(versions, self.get_info());
        if let (Some(ttl_ms), Some(scope)) = self.hint(&context) {
            (result.ttl_ms, result.cache_scope) = (ttl_ms, scope);
        }
        Ok(result)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.audience.greet(&self.client, context.peer);
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listing = self.listing();
        let tools = if is_modern(&context) { &listing.modern } else { &listing.legacy };
        let name = |index: usize| tools[index].name.to_string();
        let page = self.page(List::Tools, tools.len(), &name, request, &context)?;
        Ok(ListToolsResult {
            next_cursor: page.next,
            ttl_ms: page.ttl_ms,
            cache_scope: page.scope,
            ..ListToolsResult::with_all_items(tools[page.range].to_vec())
        })
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let listing = self.listing();
        let found = listing.modern.binary_search_by(|tool| (*tool.name).cmp(name));
        found.ok().map(|index| listing.modern[index].clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = arguments(&request, &context)?;
        let call = self.context(&context);
        // Asked before: the tool may be another one when the call has ended.
        let is_wrapped = !is_modern(&context)
            && self.pool.get(&request.name).is_some_and(|t| convert::is_wrapped(t.definition()));
        match self.pool.dispatch(&request.name, &arguments, &call, identity).await {
            Ok(observation) => {
                let result = convert::result(&observation, is_wrapped);
                Ok(result.unwrap_or_else(|error| unfit(&request.name, &error)).into())
            }
            Err(error) if error.class() == ErrorClass::NotFound => {
                Err(ErrorData::invalid_params(error.message().to_owned(), None))
            }
            Err(error) => Ok(convert::failure(error.message()).into()),
        }
    }

    /// rmcp hands over requests whose parameters it could not read as if their method were
    /// unknown.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        if is_known_method(&method) {
            let message = format!("the parameters of `{method}` are not what the method takes");
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("unknown method `{method}`");
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.prompts(request, &context)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Box::pin(self.prompt(request, &context)).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.resources(request, &context)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.templates(request, &context)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Box::pin(self.resource(request, &context)).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Box::pin(self.completion(request, &context)).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed(request.uri)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.unsubscribed(&request.uri)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(self.heard(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        Box::pin(self.hear(context)).await;
        Ok(())
    }
}

/// Our transport keeps the raw text; other transports hand over a parsed map.
fn arguments<'a>(
    request: &CallToolRequestParams,
    context: &'a RequestContext<RoleServer>,
) -> Result<Cow<'a, str>, ErrorData> {
    if let Some(RawArguments(raw)) = context.extensions.get::<RawArguments>() {
        // A null stands for "none" with clients that always send the field.
        return Ok(Cow::Borrowed(if raw.get() == "null" { "" } else { raw.get() }));
    }
    let Some(map) = &request.arguments else {
        return Ok(Cow::Borrowed(""));
    };
    serde_json::to_string(map)
        .map(Cow::Owned)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// The tool ran, but what it gave back is nothing that a client could read.
fn unfit(tool: &str, error: &serde_json::Error) -> CallToolResult {
    tracing::warn!(tool, %error, "the tool's answer is no MCP result");
    convert::failure(&format!("`{tool}`: {INTERNAL}"))
}

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
