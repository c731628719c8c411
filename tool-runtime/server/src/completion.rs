//! `completion/complete`: completes arguments of prompts and resource templates.

use super::errors;
use super::handler::PoolHandler;
use super::request::{McpResult, RequestContext, is_stateless};
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData};
use tool_runtime_core::seam::excerpt;
use tool_runtime_core::tool::Completion;

impl PoolHandler {
    pub(super) async fn completion(
        &self,
        request: CompleteRequestParams,
        context: &RequestContext,
    ) -> McpResult<CompleteResult> {
        let capabilities = &self.listing().capabilities;
        errors::check_declared(capabilities.completions.as_ref(), "completion/complete")?;
        let given_arguments =
            request.context.and_then(|context| context.arguments).unwrap_or_default();
        let call = self.context(context).with_given(given_arguments.into_iter().collect());
        let (argument, prefix) = (&*request.argument.name, &*request.argument.value);
        let (pool, reference) = (&self.pool, &request.r#ref);
        let completed = match (reference.as_prompt_name(), reference.as_resource_uri()) {
            (Some(prompt), _) => pool.complete_prompt(prompt, argument, prefix, &call).await,
            (_, Some(uri)) => pool.complete_resource(uri, argument, prefix, &call).await,
            (None, None) => {
                let kind = excerpt(reference.reference_type());
                let message = format!("nothing is completed for a `{kind}`");
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        completed.map(result).map_err(|error| errors::of_call(&error, is_stateless(context)))
    }
}

fn result(completion: Completion) -> CompleteResult {
    let mut info = CompletionInfo::default();
    info.values = completion.values;
    info.total = u32::try_from(completion.total).ok();
    info.has_more = Some(completion.has_more);
    CompleteResult::new(info)
}
