//! The methods of MCP. rmcp keeps lifecycles and versions.

use super::errors::{check_declared, unknown_method, unknown_resource};
use super::handler::PoolHandler;
use super::logging::SetLevel;
use super::methods::{is_known_method, is_old_method};
use super::request::{McpResult, RequestContext, is_stateless};
use super::task_call::owner;
use super::trace::in_span;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetTaskParams, GetTaskResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};

/// Limit on the resources of one client, or of one subscription. A template counts once.
const MAX_SUBSCRIPTIONS: usize = 1000;

impl ServerHandler for PoolHandler {
    fn get_info(&self) -> ServerConfig {
        let mut config = self.config.clone();
        config.capabilities = self.listing().capabilities.clone();
        config
    }

    async fn discover(&self, context: RequestContext) -> McpResult<DiscoverResult> {
        let answer = async {
            let versions = self.supported_protocol_versions().into_owned();
            let mut result = DiscoverResult::from_server_info(versions, self.get_info());
            if let (Some(ttl_ms), Some(scope)) = self.hint(is_stateless(&context)) {
                (result.ttl_ms, result.cache_scope) = (ttl_ms, scope);
            }
            Ok(result)
        };
        in_span(self.span("server/discover", None, &context), answer).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.subscribers.add_client(&self.session, context.peer);
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext,
    ) -> McpResult<ListToolsResult> {
        let answer = async {
            // Many hosts list the tools only once.
            self.pool.settled().await;
            let listing = self.listing();
            let tools = if is_stateless(&context) { &listing.modern } else { &listing.legacy };
            let (tools, is_shared) = self.visible_tools(&self.pool.callable(), tools, &context);
            let page = self.page("tools", &tools, |tool| &tool.name, request, &context)?;
            Ok(ListToolsResult {
                next_cursor: page.next_cursor,
                ttl_ms: page.ttl_ms,
                cache_scope: match is_shared {
                    true => page.cache_scope,
                    false => page.cache_scope.and(Some(CacheScope::Private)),
                },
                ..ListToolsResult::with_all_items(page.items)
            })
        };
        in_span(self.span("tools/list", None, &context), answer).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.listing().tool(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext,
    ) -> McpResult<CallToolResponse> {
        self.call(request, context).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext,
    ) -> McpResult<GetTaskResult> {
        self.tasks.get(&owner(&context), &request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext,
    ) -> McpResult<()> {
        self.tasks.update(&owner(&context), &request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext,
    ) -> McpResult<()> {
        self.tasks.cancel(&owner(&context), &request.task_id)
    }

    async fn set_level(&self, request: SetLevel, context: RequestContext) -> McpResult<()> {
        if is_stateless(&context) {
            return Err(unknown_method("logging/setLevel"));
        }
        self.session.level.set(&request);
        Ok(())
    }

    async fn ping(&self, context: RequestContext) -> McpResult<()> {
        if is_stateless(&context) { Err(unknown_method("ping")) } else { Ok(()) }
    }

    /// rmcp also calls this for requests whose parameters it could not parse.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext,
    ) -> McpResult<CustomResult> {
        let method = request.method;
        let is_removed = is_stateless(&context) && is_old_method(&method);
        if !is_known_method(&method) || is_removed {
            return Err(unknown_method(&method));
        }
        let message = format!("the parameters of `{method}` are not what the method takes");
        Err(ErrorData::invalid_params(message, None))
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext,
    ) -> McpResult<ListPromptsResult> {
        let answer = async {
            let listing = self.listing();
            check_declared(listing.capabilities.prompts.as_ref(), "prompts/list")?;
            let prompts = &listing.prompts;
            let page = self.page("prompts", prompts, |prompt| &prompt.name, request, &context)?;
            Ok(ListPromptsResult {
                next_cursor: page.next_cursor,
                ttl_ms: page.ttl_ms,
                cache_scope: page.cache_scope,
                ..ListPromptsResult::with_all_items(page.items)
            })
        };
        in_span(self.span("prompts/list", None, &context), answer).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext,
    ) -> McpResult<GetPromptResponse> {
        let span = self.span("prompts/get", Some(&request.name), &context);
        Box::pin(in_span(span, self.prompt(request, context))).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext,
    ) -> McpResult<ListResourcesResult> {
        let answer = async {
            let listing = self.listing();
            check_declared(listing.capabilities.resources.as_ref(), "resources/list")?;
            let resources = &listing.resources;
            let page =
                self.page("resources", resources, |resource| &resource.uri, request, &context)?;
            Ok(ListResourcesResult {
                next_cursor: page.next_cursor,
                ttl_ms: page.ttl_ms,
                cache_scope: page.cache_scope,
                ..ListResourcesResult::with_all_items(page.items)
            })
        };
        in_span(self.span("resources/list", None, &context), answer).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext,
    ) -> McpResult<ListResourceTemplatesResult> {
        let answer = async {
            let listing = self.listing();
            check_declared(listing.capabilities.resources.as_ref(), "resources/templates/list")?;
            let templates = &listing.templates;
            let page =
                self.page("templates", templates, |one| &one.uri_template, request, &context)?;
            Ok(ListResourceTemplatesResult {
                next_cursor: page.next_cursor,
                ttl_ms: page.ttl_ms,
                cache_scope: page.cache_scope,
                ..ListResourceTemplatesResult::with_all_items(page.items)
            })
        };
        in_span(self.span("resources/templates/list", None, &context), answer).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext,
    ) -> McpResult<ReadResourceResponse> {
        let span = self.span("resources/read", None, &context);
        Box::pin(in_span(span, self.resource(request, context))).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext,
    ) -> McpResult<CompleteResult> {
        let span = self.span("completion/complete", None, &context);
        Box::pin(in_span(span, self.completion(request, &context))).await
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _: RequestContext) -> McpResult<()> {
        let uri = request.uri;
        check_declared(self.listing().capabilities.resources.as_ref(), "resources/subscribe")?;
        if self.pool.find_resource(&uri).is_none() {
            return Err(unknown_resource(&uri));
        }
        if !self.session.subscribe(uri, MAX_SUBSCRIPTIONS) {
            let text = format!(
                "the limit is {MAX_SUBSCRIPTIONS} subscriptions per client; unsubscribe from some"
            );
            return Err(ErrorData::invalid_params(text, None));
        }
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext,
    ) -> McpResult<()> {
        check_declared(self.listing().capabilities.resources.as_ref(), "resources/unsubscribe")?;
        self.session.unsubscribe(&request.uri);
        Ok(())
    }

    /// rmcp removes the lists that are not declared.
    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.truncate(MAX_SUBSCRIPTIONS);
            uris.retain(|uri| self.pool.find_resource(uri).is_some());
        }
        Some(accepted)
    }

    /// Lasts until the client cancels it or disconnects, or the server shuts down.
    async fn listen(&self, context: SubscriptionContext) -> McpResult<()> {
        let _guard = self.subscribers.add_sink(context.sink().clone());
        let cancelled = self.session.disconnected.run_until_cancelled(context.cancelled());
        Box::pin(self.shutdown.run_until_cancelled(cancelled)).await;
        Ok(())
    }
}
