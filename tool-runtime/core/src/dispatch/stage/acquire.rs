//! Resources: the call waits for what it declares to read and write.

use crate::dispatch::guard;
use crate::pool::ToolPool;
use crate::tool::concurrency::access::{Access, Claim};
use crate::tool::concurrency::schedule::{Deadlock, Held, Ticket};
use crate::tool::context::ToolContext;
use crate::tool::tool::Tool;
use crate::vocabulary::error::{CallError, ErrorClass};
use std::any::Any;
use std::pin::pin;
use std::sync::Arc;

/// Keeps declared resources until it is dropped.
type Guard = Arc<dyn Any + Send + Sync>;

/// Waits for the declared resources, as long as the caller does. Returns the context of a call that holds them. A call
/// that declares nothing does not wait for calls outside its batch.
///
/// # Errors
/// The time was up, the call was cancelled, the pool was closed, or a call holds a resource that waits for this one.
pub(in crate::dispatch) async fn acquire(
    pool: &ToolPool,
    tool: &Tool,
    access: Access,
    context: ToolContext,
) -> Result<(ToolContext, Option<Guard>), CallError> {
    if access.touches_nothing() {
        return Ok((context, None));
    }
    let is_read_only = tool.definition().effective_annotations().is_read_only();
    let ticket = pool.governance().queue.enter(Claim { access, is_read_only }, context.held());
    let held = match ticket.held() {
        Ok(held) => held,
        Err(ticket) => {
            let ready = pin!(ready(ticket, tool));
            let ready = pin!(guard::waiting(ready, tool.name(), &context));
            guard::while_open(pool, None, ready).await?
        }
    };
    let (context, guard) = context.hold(held);
    Ok((context, Some(guard)))
}

async fn ready(ticket: Ticket, tool: &Tool) -> Result<Held, CallError> {
    ticket.ready().await.map_err(|Deadlock| {
        let text = "it waits for a resource that is held by a call that waits for this one; try again later";
        CallError::new(ErrorClass::Transient, format!("`{}`: {text}", tool.name()))
    })
}
