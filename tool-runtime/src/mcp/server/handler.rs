//! Answers MCP requests from a pool. rmcp keeps the lifecycles and the versions.

use super::convert;
#[cfg(feature = "http")]
use super::http::request;
use super::stdio::{RawArguments, is_known_method};
use crate::context::ToolContext;
use crate::error::{ErrorClass, INTERNAL};
use crate::pool::{Snapshot, ToolPool};
use arc_swap::ArcSwap;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, ErrorCode, ErrorData, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use std::borrow::Cow;
use std::convert::identity;
use std::sync::{Arc, Weak};

/// Answers MCP requests from a pool.
#[derive(Clone, Debug)]
pub(super) struct PoolHandler {
    pool: ToolPool,
    config: ServerConfig,
    listing: Arc<ArcSwap<Listing>>,
}

/// The tools of one snapshot as the clients of the two eras may see them, converted once.
#[derive(Debug)]
struct Listing {
    /// Only to be recognised by: tools that are removed must not live on here.
    of: Weak<Snapshot>,
    modern: Vec<Tool>,
    legacy: Vec<Tool>,
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
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let config =
            ServerConfig::new(capabilities).with_server_info(Implementation::new(name, version));
        Self {
            listing: Arc::new(ArcSwap::from_pointee(Listing::new(&pool.snapshot()))),
            pool,
            config,
        }
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

impl PoolHandler {
    /// What the tool may use.
    fn call_context(&self, context: &RequestContext<RoleServer>) -> ToolContext {
        let call = self
            .pool
            .context()
            .with_cancellation(context.ct.clone())
            .with_call_id(context.id.to_string());
        #[cfg(feature = "http")]
        if let Some(principal) = request::principal(context) {
            return call.with_principal(principal);
        }
        call
    }
}

impl ServerHandler for PoolHandler {
    fn get_info(&self) -> ServerConfig {
        self.config.clone()
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
        let arguments = arguments(&request, &context)?;
        let call = self.call_context(&context);
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

/// Our transports keep the raw text; others hand over a parsed map.
fn arguments<'a>(
    request: &CallToolRequestParams,
    context: &'a RequestContext<RoleServer>,
) -> Result<Cow<'a, str>, ErrorData> {
    if let Some(RawArguments(raw)) = context.extensions.get::<RawArguments>() {
        return Ok(Cow::Borrowed(given(raw.get())));
    }
    #[cfg(feature = "http")]
    if let Some(text) = request::arguments(context) {
        return Ok(Cow::Borrowed(given(text)));
    }
    let Some(map) = &request.arguments else {
        return Ok(Cow::Borrowed(""));
    };
    serde_json::to_string(map)
        .map(Cow::Owned)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A null stands for "none" with clients that always send the field.
fn given(arguments: &str) -> &str {
    if arguments == "null" { "" } else { arguments }
}

/// The tool ran, but what it gave back is nothing that a client could read.
fn unfit(tool: &str, error: &serde_json::Error) -> CallToolResult {
    tracing::warn!(tool, %error, "the tool's answer is no MCP result");
    convert::failure(&format!("`{tool}`: {INTERNAL}"))
}

fn not_offered(method: &str) -> ErrorData {
    let message = format!("this server has tools only; `{method}` is not offered");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
