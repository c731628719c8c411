//! The plain path of a call: decode, check, run, within the limits of the tool and its caller.

use super::{execution, guard};
use crate::pool::ToolPool;
use crate::tool::context::ToolContext;
use crate::tool::results::observation::Observation;
use crate::tool::tool::Tool;
use crate::vocabulary::error::CallError;
use std::borrow::Cow;
use std::pin::pin;

/// Runs a call that nothing looks at before or after the tool. `finish` converts the observation where it arises.
pub(super) async fn run<T>(
    pool: &ToolPool,
    tool: &Tool,
    arguments: &str,
    context: &ToolContext,
    finish: impl FnOnce(Observation) -> T,
) -> Result<T, CallError> {
    let outcome = if guard::is_unbounded(pool, tool, context) {
        execution::of_tool(tool, None, arguments, context).await
    } else {
        let (limit, context) = guard::bounds(pool, tool, Cow::Borrowed(context));
        // The arguments are decoded within the limit.
        let call = pin!(async { execution::of_tool(tool, None, arguments, &context).await });
        guard::guarded(call, tool.name(), limit, &context).await?
    };
    outcome.map(finish)
}
