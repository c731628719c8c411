//! The state behind the requests of one client.

use super::client::{Client, Subject};
use super::fast_path::MetaCache;
use super::host_arguments::IgnoredArguments;
use super::listing::Listing;
use super::pagination::Pagination;
use super::request::{McpResult, Request, RequestContext, is_stateless, principal};
use super::request_state::{STATE_LIFETIME, StateCodec};
use super::rounds::Round;
use super::subscribers::{Session, Subscribers};
use super::suspended::SuspendedCalls;
use super::tasks::Tasks;
use arc_swap::ArcSwap;
use rmcp::model::{
    CacheScope, Implementation, PaginatedRequestParams, RequestId, ServerCapabilities,
    ServerConfig, Tool,
};
use std::borrow::Cow;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::pool::{Snapshot, ToolPool};
use tool_runtime_core::seam::Isolation;
use tool_runtime_core::tool::ToolContext;
use tool_runtime_core::vocabulary::Principal;

/// Answers MCP requests of one client from a pool. The methods of MCP are in `server_handler.rs`.
#[derive(Clone, Debug)]
pub(super) struct PoolHandler {
    pub(super) pool: ToolPool,
    pub(super) config: ServerConfig,
    listing: Arc<ArcSwap<Listing>>,
    pub(super) pagination: Pagination,
    pub(super) subscribers: Arc<Subscribers>,
    pub(super) session: Arc<Session>,
    pub(super) codec: Arc<StateCodec>,
    pub(super) tasks: Tasks,
    pub(super) suspended: Arc<SuspendedCalls>,
    pub(super) metas: Arc<MetaCache>,
    pub(super) ignored_arguments: IgnoredArguments,
    /// Ends the server when it is cancelled.
    pub(super) shutdown: CancellationToken,
    /// Runs user code apart from the server; `None` runs it in the tasks of requests.
    pub(super) isolation: Option<Isolation>,
    /// The transport, as the conventions of OpenTelemetry name it: `pipe` or `tcp`.
    pub(super) transport: &'static str,
}

/// A page of a list, with the other members of its result.
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    pub(super) next_cursor: Option<String>,
    pub(super) ttl_ms: Option<u64>,
    pub(super) cache_scope: Option<CacheScope>,
}

impl PoolHandler {
    pub(super) fn new(pool: ToolPool, name: String, version: String) -> Self {
        let config = ServerConfig::new(ServerCapabilities::default())
            .with_server_info(Implementation::new(name, version));
        Self {
            listing: Arc::new(ArcSwap::from_pointee(Listing::new(&pool.callable()))),
            subscribers: Arc::new(Subscribers::from_pool(pool.clone())),
            session: Arc::default(),
            codec: Arc::new(StateCodec::random()),
            tasks: Tasks::default(),
            suspended: Arc::new(SuspendedCalls::new(STATE_LIFETIME)),
            metas: Arc::default(),
            ignored_arguments: IgnoredArguments::default(),
            shutdown: CancellationToken::new(),
            isolation: Some(Isolation::default()),
            pagination: Pagination::default(),
            transport: "pipe",
            pool,
            config,
        }
    }

    /// The handler of another client, which counts as disconnected when `end` is cancelled.
    pub(super) fn for_client(&self, end: &CancellationToken) -> Self {
        self.for_session(Arc::new(Session::until(end)))
    }

    /// The handler of a client whose session exists.
    pub(super) fn for_session(&self, session: Arc<Session>) -> Self {
        Self { session, ..self.clone() }
    }

    /// The lists that are visible now.
    pub(super) fn listing(&self) -> Arc<Listing> {
        let (known, snapshot) = (self.listing.load_full(), self.pool.callable());
        if known.is_of(&snapshot) {
            return known;
        }
        let listing = Arc::new(Listing::new(&snapshot));
        self.listing.store(Arc::clone(&listing));
        listing
    }

    /// The tools that the policies of the pool show to the sender of a request, and whether the
    /// list is the same for every sender.
    pub(super) fn visible_tools<'a>(
        &self,
        snapshot: &Snapshot,
        tools: &'a [Tool],
        context: &RequestContext,
    ) -> (Cow<'a, [Tool]>, bool) {
        let Some(sees) = self.pool.visibility() else { return (Cow::Borrowed(tools), true) };
        let principal = principal(context).unwrap_or_default();
        let visible = tools.iter().filter(|listed| {
            let tool = snapshot.get(&listed.name);
            tool.is_some_and(|tool| sees(tool.definition(), &principal))
        });
        (visible.cloned().collect(), false)
    }

    /// The client of a request, for the code that runs for the request.
    pub(super) fn client(
        &self,
        request: impl Request + 'static,
        subject: Subject,
        round: Round,
    ) -> Arc<Client> {
        let rounds = (round, Arc::clone(&self.codec));
        let ignored = self.ignored_arguments.of_call(&self.pool, &subject);
        let session = Arc::clone(&self.session);
        let client = Client::new(Box::new(request), subject, session, rounds, self.transport);
        Arc::new(client.with_ignored_arguments(ignored))
    }

    /// The context of a request, without a channel to the client. The client may cancel it.
    pub(super) fn context(&self, request: &RequestContext) -> ToolContext {
        let context = self.context_of(&request.id, principal(request));
        self.session.in_session(context).with_cancellation(request.ct.clone())
    }

    /// The context of a request with a channel to the client.
    pub(super) fn context_with(
        &self,
        client: &Arc<Client>,
        cancellation: CancellationToken,
    ) -> ToolContext {
        let request = client.request();
        let context = self.context_of(request.id(), request.principal());
        let context = client.session().in_session(context.with_cancellation(cancellation));
        let isolation =
            self.isolation.as_ref().map(|isolation| match request.is_polled_by_transport() {
                true => isolation.outer(),
                false => isolation.observed(client.first_poll()),
            });
        let context = context.with_isolation(isolation).with_peer(Arc::clone(client) as _);
        let context = context.with_stop(self.shutdown.clone());
        match self.pool.has_governors().then(|| client.resumed_calls(&self.suspended)).flatten() {
            Some(calls) => context.with_rounds(calls).started(),
            None => context.started(),
        }
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

    /// The requested page of a sorted list.
    pub(super) fn page<T: Clone>(
        &self,
        kind: &str,
        items: &[T],
        name: impl Fn(&T) -> &str,
        request: Option<PaginatedRequestParams>,
        context: &RequestContext,
    ) -> McpResult<Page<T>> {
        let cursor = request.and_then(|request| request.cursor);
        let (items, next_cursor) = self.pagination.page(kind, items, name, cursor.as_deref())?;
        let (ttl_ms, cache_scope) = self.hint(is_stateless(context));
        Ok(Page { items: items.to_vec(), next_cursor, ttl_ms, cache_scope })
    }

    /// The cache hint of answers. Older versions have none.
    pub(super) fn hint(&self, is_stateless: bool) -> (Option<u64>, Option<CacheScope>) {
        let hint = self.pagination.hint.filter(|_| is_stateless);
        hint.map(|hint| (hint.ttl_ms, hint.scope)).unzip()
    }
}
