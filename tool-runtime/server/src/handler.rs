//! Answers MCP requests from a pool. rmcp keeps the lifecycles and the versions.

use super::client::{Client, Subject};
use super::fast_path::MetaCache;
use super::listing::Listing;
use super::logging::{self, SetLevel};
use super::methods::{is_known_method, is_old_method};
use super::pagination::{Hint, List, Pagination};
use super::request::{Request, is_modern, principal};
use super::request_state::StateCodec;
use super::rounds::Round;
use super::subscribers::{Session, Subscribers};
use super::tasks::Tasks;
use arc_swap::ArcSwap;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, RequestId,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use std::ops::Range;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::{Isolation, excerpt};
use tool_runtime_core::{Principal, ToolContext, ToolPool};

/// Answers MCP requests from a pool. One handler is of one client: a clone is for another.
#[derive(Debug)]
pub(super) struct PoolHandler {
    pool: ToolPool,
    config: ServerConfig,
    listing: Arc<ArcSwap<Listing>>,
    paging: Pagination,
    subscribers: Arc<Subscribers>,
    session: Arc<Session>,
    codec: Arc<StateCodec>,
    tasks: Tasks,
    metas: Arc<MetaCache>,
    /// When it is cancelled, the server ends.
    ending: CancellationToken,
    /// Runs user code apart from the server; `None` runs it in the tasks of requests.
    isolation: Option<Isolation>,
}

impl Clone for PoolHandler {
    fn clone(&self) -> Self {
        Self {
            pool: self.pool.clone(),
            config: self.config.clone(),
            listing: Arc::clone(&self.listing),
            paging: self.paging,
            subscribers: Arc::clone(&self.subscribers),
            session: Arc::default(),
            codec: Arc::clone(&self.codec),
            tasks: self.tasks.clone(),
            metas: Arc::clone(&self.metas),
            ending: self.ending.clone(),
            isolation: self.isolation.clone(),
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
            subscribers: Arc::new(Subscribers::of(pool.clone())),
            session: Arc::default(),
            codec: Arc::new(StateCodec::random()),
            tasks: Tasks::default(),
            metas: Arc::default(),
            ending: CancellationToken::new(),
            isolation: Some(Isolation::default()),
            paging: Pagination::default(),
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

    pub(super) fn subscribers(&self) -> &Arc<Subscribers> {
        &self.subscribers
    }

    pub(super) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    pub(super) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    pub(super) fn metas(&self) -> &MetaCache {
        &self.metas
    }

    pub(super) fn ending(&self) -> &CancellationToken {
        &self.ending
    }

    /// The client of a request, as what runs for it may turn to it.
    pub(super) fn client(
        &self,
        request: impl Request + 'static,
        subject: Subject,
        round: Round,
    ) -> Arc<Client> {
        let asking = (round, Arc::clone(&self.codec));
        Arc::new(Client::new(Box::new(request), subject, Arc::clone(&self.session), asking))
    }

    /// What a request runs in: it ends when the client gives up.
    pub(super) fn context(&self, request: &RequestContext<RoleServer>) -> ToolContext {
        let context = self.context_of(&request.id, principal(request));
        self.session.in_session(context).with_cancellation(request.ct.clone())
    }

    /// What a request runs in that may turn to its client, until somebody stops it.
    pub(super) fn context_with(
        &self,
        client: &Arc<Client>,
        stop: CancellationToken,
    ) -> ToolContext {
        let request = client.request();
        let context = self.context_of(request.id(), request.principal()).with_cancellation(stop);
        let context = client.session().in_session(context);
        let isolation =
            self.isolation.as_ref().map(|isolation| match request.is_polled_by_transport() {
                true => isolation.outer(),
                false => isolation.observed(client.first_poll()),
            });
        context.with_isolation(isolation).with_peer(Arc::clone(client) as _).started()
    }

    fn context_of(&self, id: &RequestId, principal: Option<Arc<Principal>>) -> ToolContext {
        let context = match id {
            RequestId::Number(id) => {
                self.pool.context().with_call_id(itoa::Buffer::new().format(*id))
            }
            RequestId::String(id) => self.pool.context().with_call_id(Arc::clone(id)),
        };
        let context = context.with_isolation(self.isolation.clone());
        match principal {
            Some(principal) => context.with_principal(principal),
            None => context,
        }
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
        let (ttl_ms, scope) = self.hint(is_modern(context));
        Ok(Page { range, next, ttl_ms, scope })
    }

    /// How long an answer is fresh and for whom: older clients know no such thing.
    pub(super) fn hint(&self, is_modern: bool) -> (Option<u64>, Option<CacheScope>) {
        match self.paging.hint.filter(|_| is_modern) {
            Some(hint) => (Some(hint.ttl_ms), Some(hint.scope)),
            None => (None, None),
        }
    }

    /// Whether HTTP headers repeat arguments of this tool.
    #[cfg(feature = "http")]
    pub(super) fn has_mirrored_arguments(&self, name: &str) -> bool {
        self.listing().is_mirrored(name)
    }

    /// Ends what has no end of its own with this token.
    #[cfg(feature = "http")]
    pub(super) fn set_ending(&mut self, ending: CancellationToken) {
        self.ending = ending;
    }

    /// The client counts as gone when the token is cancelled, if not before.
    pub(super) fn set_end(&mut self, end: &CancellationToken) {
        self.session = Arc::new(Session::until(end));
    }

    /// Runs user code apart from the server, if it is not to run in the tasks of requests.
    pub(super) fn isolation(&self) -> Option<&Isolation> {
        self.isolation.as_ref()
    }

    /// Runs user code in the tasks of requests.
    pub(super) fn set_inline(&mut self) {
        self.isolation = None;
    }

    pub(super) fn set_seal(&mut self, codec: StateCodec) {
        self.codec = Arc::new(codec);
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
        if let (Some(ttl_ms), Some(scope)) = self.hint(is_modern(&context)) {
            (result.ttl_ms, result.cache_scope) = (ttl_ms, scope);
        }
        Ok(result)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.subscribers.greet(&self.session, context.peer);
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // Many hosts list once.
        self.pool.settled().await;
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
        self.listing().tool(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request, context).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.task(&request, &context)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.answer_task(request, &context)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.stop_task(&request, &context)
    }

    async fn set_level(
        &self,
        request: SetLevel,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_modern(&context) {
            return Err(unknown_method("logging/setLevel"));
        }
        self.session.level.set(logging::level_set(&request));
        Ok(())
    }

    async fn ping(&self, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if is_modern(&context) { Err(unknown_method("ping")) } else { Ok(()) }
    }

    /// rmcp hands over requests whose parameters it could not read as if their method were
    /// unknown.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        let is_gone = is_modern(&context) && is_old_method(&method);
        if !is_known_method(&method) || is_gone {
            return Err(unknown_method(&method));
        }
        let message = format!("the parameters of `{method}` are not what the method takes");
        Err(ErrorData::invalid_params(message, None))
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
        Box::pin(self.prompt(request, context)).await
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
        Box::pin(self.resource(request, context)).await
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

fn unknown_method(method: &str) -> ErrorData {
    let message = format!("unknown method `{}`", excerpt(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}
