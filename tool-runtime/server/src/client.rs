//! The client of one request, as the `Peer` of its call.

use super::logging::requested_level;
use super::outbox::{Asked, OpenQuestion, Outbox, Question};
use super::request::Request;
use super::request_state::StateCodec;
use super::rounds::{Interruption, Round, Rounds, digest};
use super::subscribers::Session;
use super::tasks::Handle;
use rmcp::model::{CustomRequest, JsonObject, ProgressToken};
use rmcp::service::PeerRequestOptions;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex, OnceLock};
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tool_runtime_core::seam::lock;
use tool_runtime_core::seam::{FirstPoll, canonical};
use tool_runtime_core::{
    BoxFuture, LogEntry, LogLevel, Peer, PeerCapability, PeerError, PeerInfo, PeerRequest, Progress,
};

/// What a request asks for, and with what.
pub(super) struct Subject {
    /// Its method.
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
    session: Arc<Session>,
    outbox: Arc<Outbox>,
    /// How a client of 2026-07-28 is asked. Older ones are asked while the request waits.
    asking: Option<(Round, Arc<StateCodec>)>,
    rounds: OnceLock<Rounds>,
    /// What was asked, by key.
    named: Mutex<BTreeMap<String, String>>,
    /// The task that the call goes on as.
    task: OnceLock<Handle>,
    token: OnceLock<Option<ProgressToken>>,
    first_poll: Arc<FirstPoll>,
}

impl Client {
    pub(super) fn new(
        request: Box<dyn Request>,
        subject: Subject,
        session: Arc<Session>,
        asking: (Round, Arc<StateCodec>),
    ) -> Self {
        Self {
            asking: request.is_modern().then_some(asking),
            request,
            subject,
            session,
            outbox: Arc::default(),
            rounds: OnceLock::new(),
            named: Mutex::default(),
            task: OnceLock::new(),
            token: OnceLock::new(),
            first_poll: Arc::default(),
        }
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

    pub(super) fn is_modern(&self) -> bool {
        self.asking.is_some()
    }

    /// How far the task is that runs the call.
    pub(super) fn first_poll(&self) -> &Arc<FirstPoll> {
        &self.first_poll
    }

    /// Lets the call go on as a task: what it asks and tells from now on goes there.
    pub(super) fn become_task(&self, task: Handle) {
        drop(self.task.set(task));
    }

    /// What progress is reported with, if the client wants to hear of it.
    pub(super) fn progress_token(&self) -> Option<&ProgressToken> {
        self.token.get_or_init(|| self.request.meta().get_progress_token()).as_ref()
    }

    /// Why the request must be answered before its work is done, if it must.
    pub(super) fn interruption(&self) -> Option<Interruption> {
        self.rounds.get()?.interruption()
    }

    /// The same for a call that is not polled at present.
    pub(super) fn interruption_now(&self) -> Option<Interruption> {
        self.rounds.get()?.interruption_now()
    }

    /// The arguments as text: our transports keep it, others hand over a parsed map.
    pub(super) fn arguments(&self) -> Cow<'_, str> {
        if let Some(text) = self.request.arguments() {
            // A null stands for "none" with clients that always send the field.
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
            // What is not a value of ours, too deep for instance, goes by its text.
            let arguments: Value =
                serde_json::from_str(&arguments).unwrap_or_else(|_| (&*arguments).into());
            let Subject { method, name, .. } = &self.subject;
            let principal = self.request.principal();
            let principal = principal.as_ref().map_or("", |principal| principal.id());
            let binding = canonical(&json!([method, name, principal, arguments]));
            Rounds::new(round.clone(), Arc::clone(codec), binding)
        })
    }

    /// Whoever answers a question must know which one: a key names one question of a call.
    /// Gives what it says, in short.
    fn named_once(&self, request: &PeerRequest) -> Result<String, PeerError> {
        let wording = digest(request);
        let mut named = lock(&self.named);
        let known = named.entry(request.key().to_owned()).or_insert_with(|| wording.clone());
        if *known == wording {
            return Ok(wording);
        }
        let problem = "it names another question of this call; give each question its own key";
        Err(PeerError::Unaskable { key: request.key().to_owned(), problem: problem.to_owned() })
    }

    /// Waits for what involves the client, as long as it is there.
    pub(super) async fn while_there<F: Future>(&self, what: F) -> Option<F::Output> {
        self.session.gone.run_until_cancelled(what).await
    }

    /// Asks a client of the older era, while the call waits.
    async fn pushed(&self, request: PeerRequest) -> Result<Value, PeerError> {
        let (asked, sent) = oneshot::channel();
        self.outbox.ask(Question { request, asked });
        let gone = PeerError::Failed("its request has ended".to_owned());
        let (mut open, sent) = sent.await.map_err(|_| gone)??;
        let answer = sent.await_response().await;
        open.id = None;
        serde_json::to_value(answer.map_err(|error| failed(&error))?)
            .map_err(|error| failed(&error))
    }

    /// Sends a question, from the task of the request.
    pub(super) async fn send(&self, question: Question) {
        let Question { request, asked } = question;
        let sent = self.while_there(self.sent(request)).await;
        // The caller may have gone: then the question is withdrawn.
        drop(asked.send(sent.unwrap_or_else(|| Err(PeerError::Failed("it is gone".to_owned())))));
    }

    async fn sent(&self, request: PeerRequest) -> Result<Asked, PeerError> {
        let unsupported = PeerError::Unsupported(request.capability());
        let peer = self.request.peer().ok_or(unsupported)?;
        let method = request.method();
        let (_, params) = request.into_parts();
        let request = CustomRequest::new(method, Some(params.into()));
        let options = PeerRequestOptions::no_options();
        let sent = peer.send_cancellable_request(request.into(), options).await;
        let sent = sent.map_err(|error| failed(&error))?;
        let open = OpenQuestion { outbox: Arc::clone(&self.outbox), id: Some(sent.id.clone()) };
        Ok((open, sent))
    }
}

fn failed(error: &dyn ToString) -> PeerError {
    PeerError::Failed(error.to_string())
}

impl Peer for Client {
    fn hears_progress(&self) -> bool {
        self.task.get().is_some() || self.progress_token().is_some()
    }

    fn progress(&self, progress: Progress) {
        match self.task.get() {
            Some(task) => task.progress(&progress),
            None => self.outbox.progress(progress),
        }
    }

    fn hears_log(&self, level: LogLevel) -> bool {
        if !self.is_modern() {
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
            // A client that names neither way shows forms, as all did once.
            PeerCapability::Elicitation => {
                client.elicitation.is_some_and(|ways| ways.form.is_some() || ways.url.is_none())
            }
            PeerCapability::ElicitationUrl => {
                client.elicitation.is_some_and(|ways| ways.url.is_some())
            }
            PeerCapability::Sampling => client.sampling.is_some(),
            PeerCapability::Roots => client.roots.is_some(),
            _ => false,
        }
    }

    fn request(&self, request: PeerRequest) -> BoxFuture<'_, Result<Value, PeerError>> {
        Box::pin(async move {
            let wording = self.named_once(&request)?;
            if let Some(task) = self.task.get() {
                return task.ask(request).await;
            }
            let Some(asking) = &self.asking else {
                let answer = self.while_there(self.pushed(request)).await;
                return answer.unwrap_or_else(|| Err(PeerError::Failed("it is gone".to_owned())));
            };
            let rounds = self.rounds(asking);
            if let Some(answer) = rounds.ask(request, &wording)? {
                return Ok(answer);
            }
            // Everything that the tool asks at once is sent together: the rest of its poll comes first.
            yield_now().await;
            rounds.complete();
            self.outbox.nudge();
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

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        self.request.header(name).map(Cow::Borrowed)
    }
}
