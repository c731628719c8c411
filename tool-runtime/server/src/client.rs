//! The client of one request, as the `Peer` of its call.

use super::host_arguments;
use super::logging::requested_level;
use super::outbox::{Outbox, Question, QuestionGuard, SentQuestion};
use super::request::Request;
use super::request_state::StateCodec;
use super::rounds::{Interruption, Round, Rounds, digest};
use super::subscribers::Session;
use super::suspended::{SuspendedCalls, random_id};
use super::tasks::Handle;
use rmcp::model::{CustomRequest, JsonObject, ProgressToken};
use rmcp::service::PeerRequestOptions;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::timeout;
use tool_runtime_core::seam::{CallRounds, FirstPoll, canonical, lock};
use tool_runtime_core::tool::peer::{
    LogEntry, LogLevel, Peer, PeerCapability, PeerError, PeerInfo, PeerRequest, Progress,
};
use tool_runtime_core::vocabulary::BoxFuture;

/// Limit on waiting until dropped calls are stored for the next round.
const MAX_SETTLING: Duration = Duration::from_secs(1);

/// The target of a request, with its arguments.
pub(super) struct Subject {
    /// The method.
    pub(super) method: &'static str,
    /// The name of a tool or prompt, or a resource's URI.
    pub(super) name: String,
    /// The arguments, unless their text came with the request.
    pub(super) arguments: Option<JsonObject>,
}

/// The client of one request.
pub(super) struct Client {
    request: Box<dyn Request>,
    subject: Subject,
    /// Arguments that are left out.
    ignored: Vec<String>,
    session: Arc<Session>,
    transport: &'static str,
    outbox: Arc<Outbox>,
    /// Set for clients of 2026-07-28. Older clients answer questions while the request waits.
    round: Option<(Round, Arc<StateCodec>)>,
    rounds: OnceLock<Rounds>,
    /// The calls that may be continued in the next round, and the store that keeps them.
    calls: OnceLock<(Arc<CallRounds>, Arc<SuspendedCalls>)>,
    /// Digests of questions, by key.
    questions: Mutex<BTreeMap<String, String>>,
    /// The task that the call has become.
    task: OnceLock<Handle>,
    token: OnceLock<Option<ProgressToken>>,
    first_poll: Arc<FirstPoll>,
}

impl Client {
    pub(super) fn new(
        request: Box<dyn Request>,
        subject: Subject,
        session: Arc<Session>,
        round: (Round, Arc<StateCodec>),
        transport: &'static str,
    ) -> Self {
        Self {
            round: request.is_stateless().then_some(round),
            request,
            subject,
            ignored: Vec::new(),
            session,
            transport,
            outbox: Arc::default(),
            rounds: OnceLock::new(),
            calls: OnceLock::new(),
            questions: Mutex::default(),
            task: OnceLock::new(),
            token: OnceLock::new(),
            first_poll: Arc::default(),
        }
    }

    /// Leaves out arguments of these names.
    pub(super) fn with_ignored_arguments(mut self, names: Vec<String>) -> Self {
        self.ignored = names;
        self
    }

    pub(super) fn request(&self) -> &dyn Request {
        &*self.request
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn name(&self) -> &str {
        &self.subject.name
    }

    pub(super) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    pub(super) fn is_stateless(&self) -> bool {
        self.round.is_some()
    }

    /// The state of the first poll of the call.
    pub(super) fn first_poll(&self) -> &Arc<FirstPoll> {
        &self.first_poll
    }

    /// Sends more questions and progress to a task.
    pub(super) fn become_task(&self, task: Handle) {
        drop(self.task.set(task));
    }

    /// The token of progress notifications, if the client requested them.
    pub(super) fn progress_token(&self) -> Option<&ProgressToken> {
        self.token.get_or_init(|| self.request.meta().get_progress_token()).as_ref()
    }

    /// The reason to answer the request before the call has ended, if there is one.
    pub(super) fn interruption(&self) -> Option<Interruption> {
        self.rounds.get()?.interruption(|| self.suspend_calls())
    }

    /// The interruption of a call that is not being polled.
    pub(super) fn interruption_now(&self) -> Option<Interruption> {
        self.rounds.get()?.interruption_now(|| self.suspend_calls())
    }

    /// The governed calls of the request: those of its earlier rounds, if they are still suspended. `None` for a client
    /// that answers questions while its request waits.
    pub(super) fn resumed_calls(&self, suspended: &Arc<SuspendedCalls>) -> Option<Arc<CallRounds>> {
        let round = self.round.as_ref()?;
        let waiting = || suspended.take(&self.rounds(round).waiting_calls()?);
        let earlier = round.0.state.as_ref().and_then(|_| waiting());
        let calls = (earlier.unwrap_or_default(), Arc::clone(suspended));
        Some(Arc::clone(&self.calls.get_or_init(|| calls).0))
    }

    /// Waits until the calls are stored for the next round. The call of a tool that blocks its
    /// thread ends instead.
    pub(super) async fn settled_calls(&self) {
        if let Some((calls, _)) = self.calls.get() {
            drop(timeout(MAX_SETTLING, calls.settled()).await);
        }
    }

    /// Stores the governed calls of the request for its next round, and returns their id.
    fn suspend_calls(&self) -> Option<String> {
        let (calls, suspended) = self.calls.get().filter(|(calls, _)| calls.is_used())?;
        let id = random_id();
        calls.interrupt();
        suspended.keep(id.clone(), Arc::clone(calls));
        Some(id)
    }

    /// The arguments as text: our transports keep it, others pass a parsed map.
    pub(super) fn arguments(&self) -> Cow<'_, str> {
        host_arguments::without(self.sent_arguments(), &self.ignored)
    }

    fn sent_arguments(&self) -> Cow<'_, str> {
        if let Some(text) = self.request.arguments() {
            // Clients that always send the field send null for "none".
            return Cow::Borrowed(if text == "null" { "" } else { text });
        }
        match &self.subject.arguments {
            Some(map) => serde_json::to_string(map).expect("maps of JSON are JSON").into(),
            None => Cow::Borrowed(""),
        }
    }

    fn rounds(&self, (round, codec): &(Round, Arc<StateCodec>)) -> &Rounds {
        self.rounds.get_or_init(|| {
            let arguments = self.arguments();
            // The digest of arguments that cannot be parsed, such as deeply nested ones, is that of
            // their text.
            let arguments: Value =
                serde_json::from_str(&arguments).unwrap_or_else(|_| (&*arguments).into());
            let Subject { method, name, .. } = &self.subject;
            let principal = self.request.principal();
            let principal = principal.as_ref().map_or("", |principal| principal.id());
            let binding = canonical(&json!([method, name, principal, arguments]));
            Rounds::new(round.clone(), Arc::clone(codec), binding)
        })
    }

    /// Checks that the key names one question of the call. Returns the digest of the question.
    fn check_key(&self, request: &PeerRequest) -> Result<String, PeerError> {
        let digest = digest(request);
        let mut questions = lock(&self.questions);
        let known = questions.entry(request.key().to_owned()).or_insert_with(|| digest.clone());
        if *known == digest {
            return Ok(digest);
        }
        let problem = "it names another question of this call; give each question its own key";
        Err(PeerError::Unaskable { key: request.key().to_owned(), problem: problem.to_owned() })
    }

    /// Runs a future until the client disconnects.
    pub(super) async fn while_connected<F: Future>(&self, future: F) -> Option<F::Output> {
        self.session.disconnected.run_until_cancelled(future).await
    }

    /// Asks a client of 2025-11-25 or before, while the call waits.
    async fn ask(&self, request: PeerRequest) -> Result<Value, PeerError> {
        let (sender, sent) = oneshot::channel();
        self.outbox.ask(Question { request, sent: sender });
        let ended = PeerError::Failed("its request has ended".to_owned());
        let (mut guard, sent) = sent.await.map_err(|_| ended)??;
        let answer = sent.await_response().await;
        guard.id = None;
        serde_json::to_value(answer.map_err(|error| failed(&error))?)
            .map_err(|error| failed(&error))
    }

    /// Sends a question, from the task of the request.
    pub(super) async fn send(&self, question: Question) {
        let Question { request, sent: sender } = question;
        let sent = self.while_connected(self.send_request(request)).await;
        // Without a receiver, the guard cancels the question.
        drop(
            sender.send(
                sent.unwrap_or_else(|| Err(PeerError::Failed("it is disconnected".to_owned()))),
            ),
        );
    }

    async fn send_request(&self, request: PeerRequest) -> Result<SentQuestion, PeerError> {
        let unsupported = PeerError::Unsupported(request.capability());
        let peer = self.request.peer().ok_or(unsupported)?;
        self.request.open_stream().await;
        let method = request.method();
        let (_, params) = request.into_parts();
        let request = CustomRequest::new(method, Some(params.into()));
        let options = PeerRequestOptions::no_options();
        let sent = peer.send_cancellable_request(request.into(), options).await;
        let sent = sent.map_err(|error| failed(&error))?;
        let guard = QuestionGuard { outbox: Arc::clone(&self.outbox), id: Some(sent.id.clone()) };
        Ok((guard, sent))
    }
}

fn failed(error: &dyn ToString) -> PeerError {
    PeerError::Failed(error.to_string())
}

impl Peer for Client {
    fn accepts_progress(&self) -> bool {
        self.task.get().is_some() || self.progress_token().is_some()
    }

    fn progress(&self, progress: Progress) {
        match self.task.get() {
            Some(task) => task.progress(&progress),
            None => self.outbox.progress(progress),
        }
    }

    fn accepts_log(&self, level: LogLevel) -> bool {
        if !self.is_stateless() {
            return self.session.level.includes(level);
        }
        requested_level(self.request.meta()).is_some_and(|least| level >= least)
    }

    fn log(&self, entry: LogEntry) {
        // A task has no stream to log to.
        if self.task.get().is_none() {
            self.outbox.log(entry);
        }
    }

    fn can(&self, capability: PeerCapability) -> bool {
        let Some(client) = self.request.client_capabilities() else {
            return false;
        };
        match capability {
            // A client that names neither mode shows forms, as in older versions.
            PeerCapability::Elicitation => {
                client.elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
            }
            PeerCapability::ElicitationUrl => {
                client.elicitation.is_some_and(|modes| modes.url.is_some())
            }
            PeerCapability::Sampling => client.sampling.is_some(),
            PeerCapability::Roots => client.roots.is_some(),
            _ => false,
        }
    }

    fn request(&self, request: PeerRequest) -> BoxFuture<'_, Result<Value, PeerError>> {
        Box::pin(async move {
            let digest = self.check_key(&request)?;
            if let Some(task) = self.task.get() {
                return task.ask(request).await;
            }
            let Some(round) = &self.round else {
                let answer = self.while_connected(self.ask(request)).await;
                return answer
                    .unwrap_or_else(|| Err(PeerError::Failed("it is disconnected".to_owned())));
            };
            if self.calls.get().is_some_and(|(calls, _)| calls.has_effect()) {
                let problem = "a call that the tool made before has had its effect, and would be repeated with the answer; ask before that call";
                let (key, problem) = (request.key().to_owned(), problem.to_owned());
                return Err(PeerError::Unaskable { key, problem });
            }
            let rounds = self.rounds(round);
            if let Some(answer) = rounds.ask(request, &digest)? {
                return Ok(answer);
            }
            // Waits for the end of this poll, so that concurrent questions are sent together.
            yield_now().await;
            rounds.complete();
            self.outbox.wake();
            // The task of the request ends the call here.
            pending().await
        })
    }

    fn info(&self) -> Option<PeerInfo> {
        let info = self.request.client_info()?;
        let mut peer = PeerInfo::new(info.name, info.version);
        peer.title = info.title;
        Some(peer)
    }

    fn meta(&self) -> Option<&Map<String, Value>> {
        Some(&self.request.meta().0.0)
    }

    fn transport(&self) -> Option<&'static str> {
        Some(self.transport)
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        self.request.header(name).map(Cow::Borrowed)
    }
}
