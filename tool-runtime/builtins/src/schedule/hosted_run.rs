//! One run of a job, in the process of its host.

use super::advance::Started;
use super::builder::{Inner, Schedule};
use super::database::StoredPrincipal;
use super::host::Notify;
use super::job::RunState;
use super::text::MAX_OUTCOME;
use crate::background::RUN_BY;
use crate::earlier_output::EarlierOutput;
use std::sync::Arc;
use std::time::Instant;
use tool_runtime::__seam::{excerpt_of, lock};
use tool_runtime::tool::{Execution, SessionId};
use tool_runtime::{CancellationToken, ErrorClass, Principal, ToolCall, ToolPool, ToolResult};
use tool_runtime_store::rusqlite::{self, params};

/// The label of the calls of jobs, whose value is the id of the job: policies read it by `labels`.
pub(super) const JOB_LABEL: &str = "schedule.job";
/// The value of the label [`RUN_BY`].
const SCHEDULE: &str = "schedule";

/// A run of this process.
pub(super) struct HostedRun {
    pub(super) schedule: Schedule,
    pub(super) pool: ToolPool,
    pub(super) notify: Notify,
    pub(super) started: Started,
}

impl HostedRun {
    /// Makes the call and records its end.
    pub(super) async fn make(self, token: CancellationToken) {
        let End { state, text, written } = match self.principal() {
            Ok(principal) => self.call(principal, &token).await,
            Err(text) => End { state: RunState::Failed, text, written: None },
        };
        let Started { run, job, due, attempt } = &self.started;
        let (run, attempt, id) = (*run, *attempt, job.id);
        let (ended, outcome) = (self.schedule.now().as_millisecond(), text.clone());
        let record = move |connection: &rusqlite::Transaction<'_>| {
            if written.is_some() {
                connection
                    .execute("UPDATE jobs SET written = ?2 WHERE id = ?1", params![id, written])?;
            }
            connection.execute(
                "UPDATE runs SET state = ?3, ended = ?4, outcome = ?5
                 WHERE id = ?1 AND attempt = ?2 AND state = 'running'",
                params![run, attempt, state.name(), ended, outcome],
            )
        };
        if let Err(error) = self.schedule.0.store.write(record).await {
            tracing::error!(%error, run, "the end of a run cannot be recorded");
        }
        (self.notify)(&job.event(*due, state, &text));
    }

    /// # Errors
    /// The creator may not run jobs any more.
    fn principal(&self) -> Result<Principal, String> {
        let stored: StoredPrincipal = serde_json::from_str(&self.started.job.principal)
            .map_err(|error| format!("the creator of the job cannot be read: {error}"))?;
        let principal = Principal::from(stored);
        match &self.schedule.0.options.principals {
            Some(decide) => decide(&principal)
                .ok_or_else(|| "the creator of the job may not run it any more".to_owned()),
            None => Ok(principal),
        }
    }

    async fn call(&self, principal: Principal, token: &CancellationToken) -> End {
        let Started { job, due, attempt, .. } = &self.started;
        let session = self.pool.for_principal(principal).session();
        let _mark = Mark::new(&self.schedule.0, *session.id());
        let id = format!("{}/{}", job.public_id(), due.as_second());
        let execution = Execution::new(id)
            .with_attempt(*attempt)
            .with_label(JOB_LABEL, job.public_id())
            .with_label(RUN_BY, SCHEDULE);
        let context = session.pool().context();
        let context = context
            .in_execution(&Arc::new(execution))
            .with_cancellation(token.clone())
            .with_deadline(Instant::now() + self.schedule.0.options.run_timeout);
        let context = match self.earlier_output() {
            Some(earlier) => context.with(earlier),
            None => context,
        };
        let call = ToolCall::new(job.tool.clone(), job.arguments.clone());
        let result = session.pool().call_with(call, &context).await;
        session.close().await;
        let text = excerpt_of(&result.observation().to_text(), MAX_OUTCOME).into_owned();
        End { state: state(&result), text, written: written(&result) }
    }

    /// What the last run that wrote a file wrote.
    fn earlier_output(&self) -> Option<EarlierOutput> {
        let id = self.started.job.id;
        let read = move |connection: &rusqlite::Connection| {
            let written = "SELECT written FROM jobs WHERE id = ?1";
            connection.query_row(written, [id], |row| row.get::<_, Option<String>>(0))
        };
        self.schedule.0.store.read(read).ok().flatten().map(EarlierOutput)
    }
}

/// The end of a call.
struct End {
    state: RunState,
    text: String,
    /// The SHA-256 of the file that it wrote.
    written: Option<String>,
}

/// The hash in the result of a tool that changes a file.
fn written(result: &ToolResult) -> Option<String> {
    let value = result.observation().structured().filter(|value| value["diff"].is_string())?;
    value["sha256"].as_str().map(str::to_owned)
}

fn state(result: &ToolResult) -> RunState {
    match result.error().map(|error| error.class()) {
        Some(ErrorClass::Cancelled) => RunState::Cancelled,
        _ if result.is_error() || result.observation().failed_command().is_some() => {
            RunState::Failed
        }
        _ => RunState::Succeeded,
    }
}

/// Marks a session as that of a job, as long as it lives.
struct Mark<'a> {
    schedule: &'a Inner,
    session: SessionId,
}

impl<'a> Mark<'a> {
    fn new(schedule: &'a Inner, session: SessionId) -> Self {
        lock(&schedule.running).insert(session);
        Self { schedule, session }
    }
}

impl Drop for Mark<'_> {
    fn drop(&mut self) {
        let mut running = lock(&self.schedule.running);
        running.remove(&self.session);
    }
}
