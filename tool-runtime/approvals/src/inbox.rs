//! Questions that wait in a store for a person.

use crate::store::{ApprovalAnswer, ApprovalStore, PendingApproval, StoreError, StoredApproval};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tool_runtime_core::govern::{Approval, ApprovalRequest, Approver, Approvers};
use tool_runtime_core::pool::{PoolExtension, ToolPoolBuilder};
use tool_runtime_core::tool::peer::LogLevel;
use tool_runtime_core::vocabulary::BoxFuture;

/// The default time for an answer.
const EXPIRY: Duration = Duration::from_secs(15 * 60);

/// Puts questions into a store, and waits for their answers: by the commands `approvals list`,
/// `approve` and `deny`, over HTTP by [`router`](crate::router), or by
/// [`ApprovalStore::answer`].
///
/// A question whose call is cancelled is withdrawn. An answered one is kept for an hour and until the next question, so that a
/// second person is told. That of a call which is a step of an [`Execution`](tool_runtime_core::tool::Execution) stays: when the
/// execution is repeated after a crash, the question is found with its answer, and is not asked again.
///
/// ```
/// use tool_runtime::approvals::{ApprovalAnswer, ApprovalStore, Inbox, MemoryStore};
/// use tool_runtime::prelude::*;
/// use tool_runtime::hook::{Before, Hook};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let store = MemoryStore::new();
/// let pool = ToolPool::builder()
///     .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
///     .hook(Hook::before("*", |_| async { Before::ask("May this run?") }))
///     .approver(Inbox::new(store.clone()))
///     .build()?;
/// let person = async {
///     loop {
///         if let Some(open) = store.list().await?.iter().find(|it| it.is_open()) {
///             return store.answer(&open.request.id, ApprovalAnswer::approve().by("ada")).await;
///         }
///         store.changed().await;
///     }
/// };
/// let (result, answered) = futures_util::future::join(pool.call(ToolCall::new("ping", "")), person).await;
/// answered?;
/// assert_eq!(result.observation().to_text(), "pong");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Inbox {
    store: Arc<dyn ApprovalStore>,
    expiry: Duration,
    on_question: Vec<Arc<OnQuestion>>,
}

type OnQuestion = dyn Fn(&PendingApproval) + Send + Sync;

impl Inbox {
    /// An inbox over a store.
    pub fn new(store: impl ApprovalStore) -> Self {
        Self { store: Arc::new(store), expiry: EXPIRY, on_question: Vec::new() }
    }

    /// Tells of each new question, so that people learn of it. The function must not block.
    ///
    /// ```
    /// use tool_runtime::approvals::{Inbox, MemoryStore};
    ///
    /// let inbox = Inbox::new(MemoryStore::new())
    ///     .on_question(|question| println!("{} of {}", question.tool, question.caller));
    /// # let _ = inbox;
    /// ```
    #[must_use]
    pub fn on_question(mut self, tell: impl Fn(&PendingApproval) + Send + Sync + 'static) -> Self {
        self.on_question.push(Arc::new(tell));
        self
    }

    /// Sets the time after which a question is denied. A rule may set a shorter one. Default: 15
    /// minutes.
    #[must_use]
    pub fn expiry(mut self, expiry: Duration) -> Self {
        self.expiry = expiry;
        self
    }

    async fn ask(&self, request: &ApprovalRequest) -> Approval {
        if !request.approvers().includes_others() {
            return Approval::unasked(match request.approvers().includes_caller() {
                true => "nobody but the caller may approve it",
                false => "nobody may approve it",
            });
        }
        let time = request.time_left().map_or(self.expiry, |left| left.min(self.expiry));
        let request = &request.clone().with_time_left(time);
        let pending = PendingApproval::new(request, time);
        let asked_at = pending.asked_at;
        let (stored, mut guard) = match self.open(pending, request.step().is_some()).await {
            Ok(opened) => opened,
            Err(error) => return unusable(&error),
        };
        // One that was asked before is kept, with its time.
        if stored.answer.is_none() && stored.request.asked_at == asked_at {
            self.on_question.iter().for_each(|tell| tell(&stored.request));
        }
        let left = time.min(stored.time_left());
        let answered = match &stored.answer {
            Some(_) => Ok(Ok(stored)),
            None => {
                let text =
                    format!("the call waits for an approval: question {} of the inbox", guard.id);
                request.context().log(LogLevel::Info, text);
                timeout(left, self.answered(&guard.id)).await
            }
        };
        match answered {
            Ok(Ok(StoredApproval { answer: Some(answer), .. })) => {
                // A second person learns of the answer.
                guard.is_kept = true;
                approval(request, answer)
            }
            Ok(Ok(_)) => Approval::rejected("the question was withdrawn"),
            Ok(Err(error)) => unusable(&error),
            Err(_) => self.expired(request, &mut guard).await,
        }
    }

    /// The time is up. An answer that the store took before counts; the question stays, so that a late answer is told.
    async fn expired(&self, request: &ApprovalRequest, guard: &mut Withdrawal) -> Approval {
        let ended = self.store.expire(&guard.id).await;
        guard.is_kept = ended.is_ok();
        match ended {
            Ok(Some(StoredApproval { answer: Some(answer), .. })) => approval(request, answer),
            Ok(_) => request.unanswered(),
            Err(error) => unusable(&error),
        }
    }

    /// Puts the question into the store. In a task of its own, so that a call that ends meanwhile withdraws
    /// the question after it was stored.
    async fn open(
        &self,
        pending: PendingApproval,
        is_kept: bool,
    ) -> Result<(StoredApproval, Withdrawal), StoreError> {
        let store = Arc::clone(&self.store);
        let opened = tokio::spawn(async move {
            let stored = store.open(pending).await?;
            let id = stored.request.id.clone();
            Ok((stored, Withdrawal { store, id, is_kept }))
        });
        opened.await.map_err(|error| StoreError::Failed(error.to_string()))?
    }

    /// Waits until the question has an answer or is gone.
    async fn answered(&self, id: &str) -> Result<StoredApproval, StoreError> {
        loop {
            let changed = self.store.changed();
            match self.store.get(id).await? {
                Some(stored) if stored.answer.is_none() => changed.await,
                Some(stored) => return Ok(stored),
                None => return Err(StoreError::Unknown(id.to_owned())),
            }
        }
    }
}

impl Approver for Inbox {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(self.ask(request))
    }

    fn reaches(&self, approvers: &Approvers) -> bool {
        approvers.includes_others()
    }

    /// The question is closed in the store before the call is rejected, so that nobody is told of an approval then.
    fn keeps_time(&self) -> bool {
        true
    }
}

/// Adds the inbox as the approver of the pool. With the feature `cli` and a store that other processes see, the command
/// line of the program gets `approvals list`, `approve` and `deny`, see [`ApprovalCommands`](crate::ApprovalCommands).
impl PoolExtension for Inbox {
    fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        #[cfg(feature = "cli")]
        let builder = match self.store.is_shared() {
            true => crate::ApprovalCommands::of_store(Arc::clone(&self.store)).install(builder),
            false => builder,
        };
        builder.approver(self)
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("expiry", &self.expiry).finish_non_exhaustive()
    }
}

fn unusable(error: &StoreError) -> Approval {
    tracing::warn!("a question could not be put into the inbox: {error}");
    Approval::unasked("the inbox cannot be used")
}

fn approval(request: &ApprovalRequest, answer: ApprovalAnswer) -> Approval {
    let mut approval = match answer.is_approved {
        true => Approval::approved().remembered(answer.remember),
        false => Approval::rejected(answer.reason.unwrap_or_default()),
    };
    if let Some(by) = &answer.by {
        approval = approval.by(by);
    }
    match answer.arguments.map(|edited| request.edited(&edited)) {
        Some(Ok(edited)) => approval.with_arguments(edited),
        Some(Err(error)) if answer.is_approved => {
            let text = format!("its arguments were changed and are not valid: {error}");
            answer.by.into_iter().fold(Approval::rejected(text), Approval::by)
        }
        _ => approval,
    }
}

/// Removes a question whose call no longer waits.
struct Withdrawal {
    store: Arc<dyn ApprovalStore>,
    id: String,
    is_kept: bool,
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        let (store, id) = (Arc::clone(&self.store), std::mem::take(&mut self.id));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = store.remove(&id).await {
                    tracing::warn!("a question could not be withdrawn: {error}");
                }
            });
        }
    }
}
