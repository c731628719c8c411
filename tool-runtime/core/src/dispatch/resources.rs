//! Waits for the resources that a call declares.

use super::guard;
use crate::access::{Access, Claim};
use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass};
use crate::pool::ToolPool;
use crate::schedule::{Deadlock, Held, Ticket};
use crate::tool::Tool;
use std::pin::pin;

impl ToolPool {
    /// Enters the queue, then waits for the resources as long as the caller does.
    pub(super) fn acquire<'a>(
        &'a self,
        tool: &'a Tool,
        access: Access,
        context: &'a ToolContext,
    ) -> impl Future<Output = Result<Held, CallError>> + 'a {
        let is_read_only = tool.definition().effective_annotations().is_read_only();
        let ticket = self.governance().queue.enter(Claim { access, is_read_only }, context.held());
        async move {
            match ticket.held() {
                Ok(held) => Ok(held),
                // Boxed: few calls wait.
                Err(ticket) => {
                    let ready = Box::pin(ready(ticket, tool, context));
                    guard::while_open(self, None, ready).await
                }
            }
        }
    }
}

async fn ready(ticket: Ticket, tool: &Tool, context: &ToolContext) -> Result<Held, CallError> {
    let ready = pin!(async {
        ticket.ready().await.map_err(|Deadlock| {
            let text = "it waits for a resource that is held by a call that waits for this one; try again later";
            CallError::new(ErrorClass::Transient, format!("`{}`: {text}", tool.name()))
        })
    });
    guard::waiting(ready, tool.name(), context).await
}
