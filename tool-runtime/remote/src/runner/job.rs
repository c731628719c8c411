//! One claimed job, from its claim to its outcome.

use super::Inner;
use super::peer::{CallerPeer, Line};
use super::running::{Entered, Stop};
use crate::backoff::persist;
use crate::board::{BoardError, Claim, Swap};
use crate::crash_point::crash_point;
use crate::keep;
use crate::message::{About, Client, Job, millis};
use crate::names::{RunnerId, StepKey};
use crate::outcome;
use crate::payload::{Json, MAX_BLOB, MAX_INLINE, Payload};
use crate::record::{Record, Revised, Revision};
use crate::roster::Seen;
use crate::transition::{Holder, OnClaim, OnEnd, must_stop, on_claim, on_end};
use crate::{BEAT, LONGEST};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tool_runtime_core::govern::Begin;
use tool_runtime_core::tool::peer::PeerInfo;
use tool_runtime_core::tool::{
    Execution, Observation, StepId, Tool, ToolCall, ToolContext, ToolResult,
};
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};
use tool_runtime_core::vocabulary::{Principal, RetryMode};

/// The time until a job comes again that another version of the tool is wanted for.
const OTHER_VERSION: Duration = Duration::from_millis(250);

/// The time until a job comes again whose earlier round has not ended here.
const EARLIER_ROUND: Duration = Duration::from_millis(100);

/// The number of notes in a row that nobody heard, after which a caller counts as gone.
const UNHEARD: u32 = 2;

/// Attends to a claimed job.
pub(super) async fn attend(shared: &Inner, claim: Box<dyn Claim>) {
    let job = claim.job();
    let key = StepKey::new(shared.queue.clone(), claim.caller().clone(), job.step().clone());
    let entered = match shared.running.enter(&key, job.round()) {
        Ok(entered) => entered,
        // Another delivery of a job that runs here: the claim lapses, and comes again if it has to.
        Err(round) if round >= job.round() => return,
        Err(_) => return given_back(claim.later(EARLIER_ROUND).await),
    };
    let tool = shared.tool(job);
    if tool.is_some() {
        shared.job_came.notify_one();
    }
    let mode = stricter(job.mode, tool.as_ref());
    let attended = Attended { shared, claim: &*claim, job, key, entered, mode };
    if let Err(error) = attended.attend(tool).await {
        let step = job.step();
        tracing::warn!(runner = %shared.id, %step, "a call could not be attended to: {error}");
    }
}

/// The mode of a call: that of the caller or of the tool here, whichever is stricter.
fn stricter(mode: RetryMode, tool: Option<&Tool>) -> RetryMode {
    let own = tool.map(|tool| {
        let definition = tool.definition();
        let hints = || RetryMode::from_annotations(&definition.effective_annotations());
        definition.retry_mode.unwrap_or_else(hints)
    });
    match own {
        Some(own) if mode == RetryMode::SafeToRetry => own,
        _ => mode,
    }
}

fn given_back(result: Result<(), BoardError>) {
    if let Err(error) = result {
        // The claim lapses, with the same effect later.
        tracing::debug!("a claim was not given back: {error}");
    }
}

/// A job that this runner has.
struct Attended<'a> {
    shared: &'a Inner,
    claim: &'a dyn Claim,
    job: &'a Job,
    key: StepKey,
    entered: Entered<'a>,
    mode: RetryMode,
}

impl Inner {
    /// The tool of a job, if it is the one that the caller decided about.
    fn tool(&self, job: &Job) -> Option<Tool> {
        let tool = self.pool.get(job.tool())?;
        (self.catalogue.contract(&tool) == job.contract).then_some(tool)
    }

    /// Whether a runner of the queue has other tools than this one, as far as is known: it may have the version that a caller
    /// wants.
    fn may_have_other_versions(&self) -> bool {
        let own = self.catalogue.digest();
        let has_other = |seen: &Seen| {
            seen.is_alive()
                && seen.presence.runner != self.id
                && own.as_ref() != Some(&seen.presence.catalogue.sha256)
        };
        !self.roster.knows_all() || self.roster.all().iter().any(has_other)
    }
}

impl Attended<'_> {
    async fn attend(&self, tool: Option<Tool>) -> Result<(), BoardError> {
        crash_point("after-claim");
        // Later, the record of what another runner did meanwhile may have expired.
        let begun = timeout(self.job.limit(), self.begin(tool.is_some())).await;
        let Ok(begun) = begun else {
            let step = self.job.step();
            tracing::warn!(runner = %self.shared.id, %step, "a call was not started: its time was over before its record could be written");
            return Ok(());
        };
        let Some(begun) = begun? else { return Ok(()) };
        let Begun { revision, refusal } = begun;
        let (outcome, ran) = match refusal {
            Some(error) => (outcome::write(Err(&error)), None),
            None => match self.arguments().await {
                Ok(arguments) => {
                    let start = Instant::now();
                    let Some(outcome) = self.run(arguments).await else {
                        given_back(self.claim.later(Duration::ZERO).await);
                        return Ok(());
                    };
                    (outcome, Some(millis(start.elapsed())))
                }
                Err(error) => (outcome::write(Err(&error)), None),
            },
        };
        crash_point("before-done");
        self.end(outcome, ran, revision).await?;
        crash_point("after-done");
        given_back(self.claim.finish().await);
        Ok(())
    }

    /// Decides whether the tool runs, and writes that it starts. `None` if there is nothing to do.
    async fn begin(&self, has_tool: bool) -> Result<Option<Begun>, BoardError> {
        let round = self.job.round();
        let is_first = round == 1 && !self.claim.is_repeated();
        // A write says whether there is a record after all. A refusal would replace a start.
        let is_fenced = self.mode == RetryMode::SafeToRetry || has_tool;
        let mut record = match is_first && is_fenced {
            true => None,
            false => self.read().await?,
        };
        loop {
            let holder = |runner: &RunnerId| self.holder(runner);
            match on_claim(self.mode, round, record.as_ref(), holder) {
                OnClaim::Run(revision) | OnClaim::Start(revision) if !has_tool => {
                    return Ok(self.without_tool(revision).await);
                }
                OnClaim::Run(revision) => return Ok(Some(Begun { revision, refusal: None })),
                OnClaim::Start(revision) => {
                    let started = Record::started(round, &self.shared.id);
                    match self.swap(&started, revision).await? {
                        Swap::Written(revision) => {
                            crash_point("after-started");
                            return Ok(Some(Begun { revision, refusal: None }));
                        }
                        Swap::Conflict(now) => record = now,
                    }
                }
                OnClaim::Settle(revision) => match self.settle(record.as_ref(), revision).await? {
                    Some(Swap::Conflict(now)) => record = now,
                    Some(Swap::Written(_)) => {
                        given_back(self.claim.finish().await);
                        return Ok(None);
                    }
                    None => {
                        given_back(self.claim.later(BEAT).await);
                        return Ok(None);
                    }
                },
                OnClaim::Later => {
                    given_back(self.claim.later(BEAT).await);
                    return Ok(None);
                }
                OnClaim::Finish => {
                    given_back(self.claim.finish().await);
                    return Ok(None);
                }
            }
        }
    }

    /// A job whose tool this runner does not have: for another one, or refused.
    async fn without_tool(&self, revision: Revision) -> Option<Begun> {
        if self.shared.may_have_other_versions() {
            given_back(self.claim.later(OTHER_VERSION).await);
            return None;
        }
        let name = self.job.tool();
        let text =
            format!("the tool `{name}` of queue `{}` has changed; call it again", self.key.queue);
        let refusal = Some(CallError::new(ErrorClass::Transient, text));
        Some(Begun { revision, refusal })
    }

    /// This runner has entered the step, so a start of its own has no end.
    fn holder(&self, runner: &RunnerId) -> Holder {
        if *runner == self.shared.id { Holder::Gone } else { self.shared.roster.holder(runner) }
    }

    /// Writes the outcome that the log of this pool has, or that it is unknown, if the runner that started the step is gone.
    /// `None` if it lives.
    async fn settle(
        &self,
        record: Option<&Revised>,
        revision: Revision,
    ) -> Result<Option<Swap>, BoardError> {
        let Some(runner) = record.and_then(|revised| revised.record.runner()) else {
            return Ok(None);
        };
        let is_own = *runner == self.shared.id;
        if !is_own && !self.shared.roster.is_gone(runner, &*self.shared.board).await {
            return Ok(None);
        }
        let outcome = match self.logged_outcome(record.map_or(1, |it| it.record.round)).await {
            Some(outcome) => self.payload(outcome::write(outcome.as_ref())).await?,
            None => {
                Payload::Inline(outcome::write(Err(&outcome::unknown(self.job.tool(), runner))))
            }
        };
        let settled = Record::settled(self.job.round(), &self.shared.id, outcome);
        self.swap(&settled, revision).await.map(Some)
    }

    /// The outcome of a round in the log of this pool: that of an earlier process, whose runner is gone.
    async fn logged_outcome(&self, round: u32) -> Option<Result<Observation, CallError>> {
        let steps = self.shared.pool.step_store()?;
        match steps.begin(&self.step_of_round(round), self.mode).await {
            Ok(Begin::Replay(outcome)) => Some(outcome),
            Ok(_) => None,
            Err(error) => {
                tracing::warn!(runner = %self.shared.id, step = %self.job.step(), "the log cannot be read: {error}");
                None
            }
        }
    }

    /// The step as the log of this pool names it. Callers choose the ids of executions, so those of one caller must not answer
    /// another one; and a later round is not the first.
    fn step_of_round(&self, round: u32) -> StepId {
        let StepKey { caller, step, .. } = &self.key;
        let step = match self.job.run {
            None => step.clone(),
            Some(_) => StepId::new(format!("{step}@{caller}")),
        };
        match round {
            1 => step,
            round => StepId::new(format!("{step}/{round}")),
        }
    }

    async fn read(&self) -> Result<Option<Revised>, BoardError> {
        persist("a record cannot be read", || self.shared.board.read(&self.key)).await
    }

    async fn swap(&self, record: &Record, expected: Revision) -> Result<Swap, BoardError> {
        let keep = keep(record, self.job.keep, self.job.limit());
        let swap = || self.shared.board.swap(&self.key, record, expected, keep);
        persist("a record cannot be written", swap).await
    }

    /// The text of the arguments.
    async fn arguments(&self) -> Result<String, CallError> {
        match self.job.arguments() {
            Payload::Inline(json) => Ok(json.as_str().to_owned()),
            Payload::Blob(blob) => {
                let get = || self.shared.board.get(&blob);
                let bytes =
                    persist("arguments cannot be read", get).await.map_err(lost_arguments)?;
                String::from_utf8(bytes.into()).map_err(lost_arguments)
            }
        }
    }

    /// Runs the tool. `None` if another runner has to run it.
    async fn run(&self, arguments: String) -> Option<Json> {
        let line = Arc::new(Line::new(
            &self.shared.board,
            self.key.clone(),
            &self.shared.id,
            self.job.round(),
        ));
        let context = match self.context(&line) {
            Ok(context) => context,
            Err(error) => return Some(outcome::write(Err(&error))),
        };
        let (pool, job) = (self.shared.pool.clone(), self.job);
        let call = ToolCall::new(job.tool(), arguments)
            .with_call_id(job.call_id.clone().unwrap_or_default());
        // In a task of its own, which may block its thread. It ends with this one.
        let mut task = JoinSet::new();
        task.spawn(async move { pool.call_with(call, &context).await });
        let result = self.attend_to(&mut task, &line).await;
        line.flush().await;
        self.outcome(result)
    }

    /// Waits for the end of the tool; meanwhile shows that it lives, and looks whether it has to stop.
    async fn attend_to(&self, task: &mut JoinSet<ToolResult>, line: &Line) -> Option<ToolResult> {
        let mut beat = interval_at(Instant::now() + BEAT, BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut last, mut unheard) = (Instant::now(), 0);
        loop {
            tokio::select! {
                biased;
                result = task.join_next() => return result?.ok(),
                _ = beat.tick() => {
                    let is_heard = line.tell(About::Alive).await;
                    unheard = if is_heard || self.job.keep { 0 } else { unheard + 1 };
                    if unheard >= UNHEARD {
                        self.entered.stop(Stop::CallerGone);
                    }
                    given_back(self.claim.renew().await);
                    self.look().await;
                }
                () = self.entered.look.notified() => self.look().await,
                () = line.due(last) => {
                    line.flush().await;
                    last = Instant::now();
                }
            }
        }
    }

    /// Stops the tool if the record says so.
    async fn look(&self) {
        if let Ok(record) = self.shared.board.read(&self.key).await
            && must_stop(self.mode, self.job.round(), record.as_ref())
        {
            self.entered.stop(Stop::Decided);
        }
    }

    /// The outcome to write. `None` if another runner has to run the tool.
    fn outcome(&self, result: Option<ToolResult>) -> Option<Json> {
        let tool = self.job.tool();
        let Some(result) = result else {
            let text = format!("`{tool}` failed: its runner could not run it");
            return Some(outcome::write_error(ErrorClass::Internal, text));
        };
        let was_stopped =
            result.error().is_some_and(|error| error.class() == ErrorClass::Cancelled);
        match self.entered.stopped().filter(|_| was_stopped) {
            Some(Stop::Shutdown) if self.mode == RetryMode::SafeToRetry => return None,
            Some(Stop::Shutdown) => {
                let text = format!(
                    "the runner of `{tool}` was stopped while it ran; check whether it had its effect before you call it again"
                );
                return Some(outcome::write_error(ErrorClass::Indeterminate, text));
            }
            Some(Stop::CallerGone) => {
                let text = format!("`{tool}` was stopped: its caller is gone");
                return Some(outcome::write_error(ErrorClass::Cancelled, text));
            }
            Some(Stop::Decided) | None => {}
        }
        Some(match result.error() {
            Some(error) => outcome::write(Err(error)),
            None => outcome::write(Ok(result.observation())),
        })
    }

    /// The context of the call at this runner.
    fn context(&self, line: &Arc<Line>) -> Result<ToolContext, CallError> {
        let (job, pool) = (self.job, &self.shared.pool);
        let step = self.step_of_round(job.round());
        let peer = CallerPeer {
            accepts: job.accepts.clone(),
            info: job.client.clone().map(client),
            meta: job.trace.clone(),
            line: Arc::clone(line),
            running: Arc::clone(&self.entered),
        };
        let mut context = pool
            .context()
            .with_principal(self.principal()?)
            .with_cancellation(self.entered.token.clone())
            .with_peer(Arc::new(peer));
        if let Some(deadline) = Instant::now().checked_add(job.limit().min(LONGEST)) {
            context = context.with_deadline(deadline.into_std());
        }
        if let Some(run) = &job.run {
            let execution = Execution::new(&*run.id).with_attempt(run.attempt).within(&step);
            let labels = run.labels.iter();
            let execution = labels.fold(execution, |it, (name, value)| it.with_label(name, value));
            context = context.in_execution(&Arc::new(execution));
        }
        Ok(context.as_step(step))
    }

    /// As whom the call runs. The scopes of tools are always enforced: the owner of this process is somebody else.
    fn principal(&self) -> Result<Principal, CallError> {
        let caller = self.claim.caller();
        let asserted = &self.job.principal;
        let mut claims = asserted.claims.clone();
        claims.insert("tool-runtime/caller".to_owned(), caller.as_str().into());
        let principal = Principal::new(&*asserted.id)
            .with_scopes(asserted.scopes.iter().cloned())
            .with_claims(claims);
        let mapped = match &self.shared.principals {
            None => Some(principal),
            Some(map) => map(caller, principal),
        };
        let denied = || {
            let text = format!("the runner of `{}` does not serve `{caller}`", self.job.tool());
            CallError::new(ErrorClass::Denied, text)
        };
        mapped.map(Principal::restricted).ok_or_else(denied)
    }

    /// Writes the outcome, however long the board is away.
    async fn end(
        &self,
        outcome: Json,
        ran: Option<u64>,
        revision: Revision,
    ) -> Result<(), BoardError> {
        let outcome = self.payload(outcome).await?;
        let (round, id) = (self.job.round(), &self.shared.id);
        let record = Record::by_runner(round, id, outcome, ran);
        let mut expected = revision;
        loop {
            let Swap::Conflict(now) = self.swap(&record, expected).await? else { return Ok(()) };
            match on_end(self.mode, round, now.as_ref()) {
                OnEnd::Write(revision) => expected = revision,
                OnEnd::Late => {
                    let step = self.job.step();
                    tracing::info!(runner = %id, %step, "the outcome came late, and another one counts");
                    return Ok(());
                }
            }
        }
    }

    async fn payload(&self, outcome: Json) -> Result<Payload, BoardError> {
        let size = outcome.as_str().len();
        if size <= MAX_INLINE {
            return Ok(Payload::Inline(outcome));
        }
        if size as u64 > MAX_BLOB {
            let tool = self.job.tool();
            let text = format!(
                "the result of `{tool}` has {size} bytes, and at most {MAX_BLOB} can be passed on; return less"
            );
            return Ok(Payload::Inline(outcome::write_error(ErrorClass::Tool, text)));
        }
        let bytes = bytes::Bytes::from(outcome.as_str().to_owned());
        let put = || self.shared.board.put(bytes.clone());
        persist("a result cannot be stored", put).await.map(Payload::Blob)
    }
}

/// A round that begins, or is refused.
struct Begun {
    /// The record that the outcome replaces.
    revision: Revision,
    refusal: Option<CallError>,
}

fn client(client: Client) -> PeerInfo {
    let mut info = PeerInfo::new(client.name, client.version);
    info.title = client.title;
    info
}

fn lost_arguments(error: impl std::fmt::Display) -> CallError {
    let text = "the arguments did not reach the runner; call it again";
    CallError::new(ErrorClass::Transient, text).with_detail(error.to_string())
}
