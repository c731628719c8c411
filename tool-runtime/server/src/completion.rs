//! Completes arguments of prompts and resource templates.

use super::handler::PoolHandler;
use super::refusal;
use super::request::is_modern;
use rmcp::RoleServer;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};
use rmcp::service::RequestContext;
use tool_runtime_core::Completion;
use tool_runtime_core::seam::excerpt;

impl PoolHandler {
    /// `completion/complete`.
    pub(super) async fn completion(
        &self,
        request: CompleteRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let is_offered = self.listing().capabilities.completions.is_some();
        refusal::unless(is_offered, "completion/complete")?;
        let given = request.context.and_then(|context| context.arguments).unwrap_or_default();
        let call = self.context(context).with_given(given.into_iter().collect());
        let (argument, prefix) = (&*request.argument.name, &*request.argument.value);
        let (pool, wanted) = (self.pool(), &request.r#ref);
        let completed = match (wanted.as_prompt_name(), wanted.as_resource_uri()) {
            (Some(prompt), _) => pool.complete_prompt(prompt, argument, prefix, &call).await,
            (_, Some(uri)) => pool.complete_resource(uri, argument, prefix, &call).await,
            (None, None) => return Err(unknown(wanted)),
        };
        completed.map(result).map_err(|error| refusal::of(&error, is_modern(context)))
    }
}

fn result(completion: Completion) -> CompleteResult {
    let mut info = CompletionInfo::default();
    info.values = completion.values;
    info.total = u32::try_from(completion.total).ok();
    info.has_more = Some(completion.has_more);
    CompleteResult::new(info)
}

fn unknown(reference: &Reference) -> ErrorData {
    let message = format!("nothing is completed for a `{}`", excerpt(reference.reference_type()));
    ErrorData::invalid_params(message, None)
}
