//! Answers MCP requests from a pool. rmcp keeps the lifecycles and the versions.

use super::client::{Client, Subject, is_modern};
use super::convert;
use super::logging::{self, Session, SetLevel};
use super::rounds::Round;
use super::seal::Seal;
use super::stdio::{is_known_method, is_old_method};
use super::tasks::Tasks;
use crate::definition::TaskSupport;
use crate::pool::{Snapshot, ToolPool};
use arc_swap::ArcSwap;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, ErrorCode, ErrorData, GetTaskParams,
    GetTaskResult, Implementation, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ServerConfig, TASKS_EXTENSION_ID,
    Tool, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use std::sync::{Arc, Weak};

/// Answers MCP requests from a pool.
#[derive(Clone, Debug)]
pub(super) struct PoolHandler {
    pub(super) pool: ToolPool,
    config: ServerConfig,
    listing: Arc<ArcSwap<Listing>>,
    seal: Arc<Seal>,
    pub(super) tasks: Tasks,
    session: Arc<Session>,
}

/// The tools of one snapshot as the clients of the two eras may see them, converted once.
#[derive(Debug)]
struct Listing {
    /// Only to be recognised by: tools that are removed must not live on here.
    of: Weak<Snapshot>,
    modern: Vec<Tool>,
    legacy: Vec<Tool>,
    /// Whether calls of any tool may go on as tasks.
    has_tasks: bool,
    /// Whether HTTP headers repeat arguments of a tool, in the order of `modern`.
    #[cfg(feature = "http")]
    mirrored: Vec<bool>,
}

impl Listing {
    fn new(of: &Arc<Snapshot>) -> Self {
        Self {
            #[cfg(feature = "http")]
            mirrored: of.definitions().map(convert::is_mirrored).collect(),
            modern: of.definitions().map(convert::tool).collect(),
            legacy: of.definitions().map(convert::legacy_tool).collect(),
            has_tasks: of.definitions().any(|tool| tool.task != TaskSupport::None),
            of: Arc::downgrade(of),
        }
    }

    /// Where a tool is in the lists.
    fn find(&self, name: &str) -> Option<usize> {
        self.modern.binary_search_by(|tool| (*tool.name).cmp(name)).ok()
    }
}

impl PoolHandler {
    pub(super) fn new(pool: ToolPool, name: String, version: String) -> Self {
        let capabilities = logging::capabilities();
        let config =
            ServerConfig::new(capabilities).with_server_info(Implementation::new(name, version));
        Self {
            listing: Arc::new(ArcSwap::from_pointee(Listing::new(&pool.snapshot()))),
            pool,
            config,
            seal: Arc::new(Seal::random()),
            tasks: Tasks::default(),
            session: Arc::default(),
        }
    }

    /// The same for a client of its own.
    pub(super) fn for_session(&self) -> Self {
        Self { session: Arc::default(), ..self.clone() }
    }

    /// The client of a request.
    pub(super) fn client(
        &self,
        request: RequestContext<RoleServer>,
        subject: Subject,
        round: Round,
    ) -> Client {
        let asking = (round, Arc::clone(&self.seal));
        Client::new(request, subject, Arc::clone(&self.session), asking)
    }

    pub(super) fn set_seal(&mut self, seal: Seal) {
        self.seal = Arc::new(seal);
    }

    /// What is visible now.
    fn listing(&self) -> Arc<Listing> {
        let (known, now) = (self.listing.load_full(), self.pool.snapshot());
        if std::ptr::eq(known.of.as_ptr(), Arc::as_ptr(&now)) {
            return known;
        }
        let listing = Arc::new(Listing::new(&now));
        self.listing.store(Arc::clone(&listing));
        listing
    }

    /// Whether HTTP headers repeat arguments of this tool.
    #[cfg(feature = "http")]
    pub(super) fn has_mirrored_arguments(&self, name: &str) -> bool {
        let listing = self.listing();
        listing.find(name).is_some_and(|index| listing.mirrored[index])
    }

    pub(super) fn set_title(&mut self, title: String) {
        self.config.server_info.title = Some(title);
    }

    pub(super) fn set_instructions(&mut self, instructions: String) {
        self.config.instructions = Some(instructions);
    }
}

impl ServerHandler for PoolHandler {
    fn get_info(&self) -> ServerConfig {
        let mut config = self.config.clone();
        if self.listing().has_tasks {
            let extensions = config.capabilities.extensions.get_or_insert_default();
            extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        }
        config
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // One page holds everything, so no cursor was ever given out.
        if let Some(cursor) = request.and_then(|request| request.cursor) {
            let message = format!("unknown cursor {cursor:?}; list without a cursor");
            return Err(ErrorData::invalid_params(message, None));
        }
        let listing = self.listing();
        let tools = if is_modern(&context) { &listing.modern } else { &listing.legacy };
        Ok(ListToolsResult::with_all_items(tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let listing = self.listing();
        listing.find(name).map(|index| listing.modern[index].clone())
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
        self.session.set_level(logging::level_set(&request));
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

    // rmcp answers capabilities that were never declared with empty lists; they do not exist.

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(not_offered("prompts/list"))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(not_offered("resources/list"))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(not_offered("resources/templates/list"))
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(not_offered("completion/complete"))
    }
}

fn unknown_method(method: &str) -> ErrorData {
    let message = format!("unknown method `{method}`");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

fn not_offered(method: &str) -> ErrorData {
    let message = format!("this server has tools only; `{method}` is not offered");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}
