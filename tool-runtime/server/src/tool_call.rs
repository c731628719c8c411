//! `tools/call`: a call of the pool for a client.

use super::call_result::{CallEnd, CallOutcome, failed};
use super::client::{Client, Subject};
use super::convert;
use super::handler::PoolHandler;
use super::request::{McpResult, RequestContext};
use super::rounds::Round;
use super::run_call::{interrupted, run_call};
use super::task_call::becomes_task;
use rmcp::model::{CallToolRequestParams, CallToolResponse};
use std::convert::identity;
use std::sync::Arc;

impl PoolHandler {
    pub(super) async fn call(
        &self,
        params: CallToolRequestParams,
        request: RequestContext,
    ) -> McpResult<CallToolResponse> {
        #[cfg(feature = "http")]
        if let Some(running) = super::request::running_call(&request) {
            return running.finish(request).await;
        }
        let round = Round { responses: params.input_responses, state: params.request_state };
        let subject = Subject {
            method: "tools/call",
            name: params.name.into_owned(),
            arguments: params.arguments,
        };
        let client = self.client(request, subject, round);
        Ok(self.run(&client).await?.into_response(client.name()))
    }

    /// Runs a call over any transport.
    pub(super) async fn run(&self, client: &Arc<Client>) -> McpResult<CallOutcome> {
        let mut found = self.pool.find(client.name());
        if found.is_err() {
            // Perhaps it is a tool of a server that is still being connected to.
            self.pool.settled().await;
            found = self.pool.find(client.name());
        }
        let definition = found.as_ref().ok().map(|found| found.tool().definition());
        let support = definition.map(|definition| definition.task).unwrap_or_default();
        let is_wrapped = !client.is_stateless() && definition.is_some_and(convert::is_wrapped);
        let end = match becomes_task(client, support)? {
            true => self.call_as_task(Arc::clone(client)).await?,
            false => {
                let context = self.context_with(client, client.request().token());
                let (arguments, name) = (client.arguments(), client.name());
                let call = self.pool.dispatch(found, name, &arguments, &context, identity);
                run_call(client, call).await.map_or_else(CallEnd::Interrupted, CallEnd::Called)
            }
        };
        if let Some(note) = client.request().outcome_note() {
            note.set(end.as_str());
        }
        match end {
            CallEnd::Called(Ok(observation)) => {
                let keeps_big_integers = client.request().keeps_big_integers();
                Ok(CallOutcome::Observation { observation, is_wrapped, keeps_big_integers })
            }
            CallEnd::Called(Err(error)) => failed(&error, client.is_stateless())
                .map(|result| CallOutcome::Other(result.into())),
            CallEnd::Interrupted(interruption) => interrupted(interruption).map(CallOutcome::Other),
            CallEnd::Task(task) => Ok(CallOutcome::Other(task.into())),
        }
    }
}
