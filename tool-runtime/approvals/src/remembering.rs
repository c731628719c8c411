//! Answers that count for later calls.

use crate::remembered::RememberedApproval;
use crate::store::ApprovalStore;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tool_runtime_core::govern::{Approval, ApprovalRequest, Approver, Approvers, Remember};
use tool_runtime_core::seam::{argument_text, lock};
use tool_runtime_core::tool::SessionId;
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_core::vocabulary::matching::{
    ArgumentMatch, ArgumentMatcher, MatchAs, Matcher, PathMatcher, UrlMatcher,
};

/// Limit on the answers that are kept. The oldest is forgotten when there are more.
const MAX_KEPT: usize = 1000;
/// The default time that stored approvals count.
const EXPIRY: Duration = Duration::from_secs(30 * 86_400);

/// Keeps the approvals of another approver that are [meant for](Remember) more than one call, and
/// gives them again without asking.
///
/// A kept approval counts for the same caller, the same tool and the same question of the same rule: a rule that asks
/// something else withdraws it. Approvals for a session end with the session. Those for a
/// pattern count whatever the other arguments are, and end with this value; in a store ([`Self::kept_in`]) they outlive it, can be listed and withdrawn,
/// and expire. An anonymous caller has both only in its session. An approval with changed arguments is for
/// one call.
///
/// ```
/// use tool_runtime::approvals::Remembering;
/// use tool_runtime::ToolPool;
/// use tool_runtime::govern::{Approval, ApprovalRequest, Remember};
///
/// let approver = Remembering::new(|request: ApprovalRequest| async move {
///     println!("{}", request.question());
///     Approval::approved().remembered(Remember::Session)
/// });
/// let pool = ToolPool::builder().approver(approver).allow_empty().build()?;
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
pub struct Remembering<A> {
    inner: A,
    matchers: Vec<Arc<dyn ArgumentMatcher>>,
    kept: Mutex<VecDeque<Kept>>,
    /// Keeps approvals for patterns.
    store: Option<Arc<dyn ApprovalStore>>,
    expiry: Duration,
}

/// The calls that an answer may count for.
#[derive(Clone, PartialEq, Eq)]
struct Subject {
    principal: String,
    tool: String,
    rule: Option<String>,
    question: String,
}

struct Kept {
    subject: Subject,
    /// `None`: all sessions of the caller.
    session: Option<SessionId>,
    argument: Option<(String, Box<dyn Matcher>)>,
    answer: Approval,
}

impl<A: Approver> Remembering<A> {
    /// Keeps the approvals of an approver.
    pub fn new(inner: A) -> Self {
        let (matchers, kept) = (default_matchers(), Mutex::default());
        Self { inner, matchers, kept, store: None, expiry: EXPIRY }
    }

    /// Adds a matcher for patterns, such as `shell::ShellMatcher`. Default: those of paths and URLs.
    /// An approval for a pattern without a matcher is for one call.
    #[must_use]
    pub fn matcher(mut self, matcher: impl ArgumentMatcher) -> Self {
        self.matchers.push(Arc::new(matcher));
        self
    }

    /// Keeps approvals for patterns in a store, which may be that of an [`Inbox`](crate::Inbox). The commands
    /// `approvals remembered` and `approvals forget` list and withdraw them, also while the program runs.
    /// Default: in memory.
    ///
    /// ```
    /// use tool_runtime::ToolPool;
    /// use tool_runtime::approvals::{FileStore, Inbox, Remembering};
    /// # let directory = std::env::temp_dir().join(format!("remembered-{}", std::process::id()));
    ///
    /// let store = FileStore::open(&directory)?;
    /// let approver = Remembering::new(Inbox::new(store.clone())).kept_in(store);
    /// let pool = ToolPool::builder().approver(approver).allow_empty().build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn kept_in(mut self, store: impl ApprovalStore) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Sets the time that approvals in a store count. Default: 30 days.
    #[must_use]
    pub fn expiry(mut self, expiry: Duration) -> Self {
        self.expiry = expiry;
        self
    }

    /// Forgets all approvals that are kept in memory.
    pub fn forget(&self) {
        lock(&self.kept).clear();
    }

    async fn known(&self, request: &ApprovalRequest) -> Option<Approval> {
        if let Some(answer) = self.in_memory(request) {
            return Some(answer);
        }
        match self.store.as_ref()?.remembered().await {
            Ok(stored) => {
                let covering = stored.iter().filter(|it| self.covers(it, request));
                covering.map(RememberedApproval::answer).find(|answer| counts(answer, request))
            }
            Err(error) => {
                tracing::warn!("remembered approvals cannot be read: {error}");
                None
            }
        }
    }

    fn in_memory(&self, request: &ApprovalRequest) -> Option<Approval> {
        let subject = Subject::from_request(request);
        let kept = lock(&self.kept);
        let covering = kept.iter().filter(|kept| kept.covers(&subject, request));
        covering.map(|kept| &kept.answer).find(|answer| counts(answer, request)).cloned()
    }

    fn covers(&self, stored: &RememberedApproval, request: &ApprovalRequest) -> bool {
        let matcher = || self.compile(stored.kind, &stored.pattern);
        stored.concerns(request)
            && matcher().is_some_and(|matcher| matches(request, &stored.argument, &*matcher))
    }

    async fn keep(&self, request: &ApprovalRequest, answer: &Approval) {
        let Approval::Approved { arguments: None, by, is_caller, remember, .. } = answer else {
            return;
        };
        let session = request.session().copied();
        let argument = match remember {
            Remember::Session if session.is_some() => None,
            Remember::Pattern { argument, kind, pattern, .. } => {
                let Some(matcher) = self.compile(*kind, pattern) else { return };
                Some((argument.clone(), matcher))
            }
            _ => return,
        };
        let caller = request.principal();
        let is_refused =
            request.approvers().refusal(caller.id(), by.as_deref(), *is_caller).is_some();
        let is_anonymous = caller.is_anonymous();
        if is_refused || is_anonymous && session.is_none() {
            return;
        }
        if let (Some(store), false) = (&self.store, is_anonymous)
            && let Some(approval) = RememberedApproval::new(request, answer, self.expiry)
        {
            if let Err(error) = store.remember(approval).await {
                tracing::warn!("an approval is for one call only: {error}");
            }
            return;
        }
        let mut answer = Approval::approved();
        if let Some(by) = by {
            answer = answer.by(by);
        }
        if *is_caller {
            answer = answer.by_caller();
        }
        let session = if argument.is_none() || is_anonymous { session } else { None };
        let mut kept = lock(&self.kept);
        kept.push_back(Kept { subject: Subject::from_request(request), session, argument, answer });
        if kept.len() > MAX_KEPT {
            kept.pop_front();
        }
    }

    fn compile(&self, kind: MatchAs, pattern: &str) -> Option<Box<dyn Matcher>> {
        let matcher = self.matchers.iter().rev().find(|matcher| matcher.kind() == kind);
        let compiled = matcher.map(|matcher| matcher.compile(pattern));
        match compiled {
            Some(Ok(matcher)) => Some(matcher),
            Some(Err(error)) => {
                tracing::warn!("an approval is for one call only: {error}");
                None
            }
            None => {
                tracing::warn!(
                    "an approval is for one call only: no matcher of patterns for {kind}"
                );
                None
            }
        }
    }
}

impl Subject {
    fn from_request(request: &ApprovalRequest) -> Self {
        Self {
            principal: request.principal().id().to_owned(),
            tool: request.tool().to_owned(),
            rule: request.rule().map(str::to_owned),
            question: request.question().to_owned(),
        }
    }
}

impl Kept {
    fn covers(&self, subject: &Subject, request: &ApprovalRequest) -> bool {
        let is_session = self.session.is_none_or(|own| request.session() == Some(&own));
        self.subject == *subject && is_session && self.matches(request)
    }

    fn matches(&self, request: &ApprovalRequest) -> bool {
        let argument = self.argument.as_ref();
        argument.is_none_or(|(name, matcher)| matches(request, name, &**matcher))
    }
}

/// Whether the person who gave the answer may still give it.
fn counts(answer: &Approval, request: &ApprovalRequest) -> bool {
    let Approval::Approved { by, is_caller, .. } = answer else { return false };
    request.approvers().refusal(request.principal().id(), by.as_deref(), *is_caller).is_none()
}

/// The matchers of paths and URLs.
pub(crate) fn default_matchers() -> Vec<Arc<dyn ArgumentMatcher>> {
    vec![Arc::new(PathMatcher::new()), Arc::new(UrlMatcher::new())]
}

/// Whether an argument of the request matches a pattern.
fn matches(request: &ApprovalRequest, argument: &str, matcher: &dyn Matcher) -> bool {
    let text = argument_text(request.arguments(), argument);
    text.is_some_and(|text| matcher.matches(&text) == ArgumentMatch::Yes)
}

impl<A: Approver> Approver for Remembering<A> {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            if let Some(answer) = self.known(request).await {
                return answer;
            }
            let answer = request.answer_of(&self.inner).await;
            self.keep(request, &answer).await;
            answer
        })
    }

    fn reaches(&self, approvers: &Approvers) -> bool {
        self.inner.reaches(approvers)
    }

    fn keeps_time(&self) -> bool {
        true
    }
}

impl<A: fmt::Debug> fmt::Debug for Remembering<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remembering")
            .field("inner", &self.inner)
            .field("kept", &lock(&self.kept).len())
            .finish_non_exhaustive()
    }
}
