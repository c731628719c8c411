//! Permission modes.

use arc_swap::ArcSwap;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Weak};
use tool_runtime_core::govern::{CallView, Decision, PolicyEngine};
use tool_runtime_core::seam::{SessionValues, nearest};
use tool_runtime_core::tool::{SessionId, ToolContext};
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_core::vocabulary::matching::{PatternError, ToolPattern};

/// The tag of tools that edit.
const EDIT: &str = "edit";
/// The tag of tools that a plan needs although they are not read-only, such as `Skill`.
const PLAN: &str = "plan";

/// How much an agent may do without asking.
///
/// | Mode | Tools that only read | Edits | Others |
/// |---|---|---|---|
/// | `default` | run | ask | ask |
/// | `accept_edits` | run | run | ask |
/// | `plan` | run | denied | denied |
/// | `dont_ask` | run | denied | denied |
/// | `bypass` | run | run | run |
///
/// Edits are tools with the tag `edit`, which the built-in tools that change files have. Tools with the tag `plan`, such as
/// `Skill`, run in the mode `plan`.
///
/// With `dont_ask`, questions of other policies and of hooks are denials, too. `bypass` cannot be
/// read from a string; denials of other policies hold in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
#[non_exhaustive]
pub enum PermissionMode {
    /// Asks about everything that is not read-only.
    #[default]
    Default,
    /// Lets edits run.
    AcceptEdits,
    /// Only reads.
    Plan,
    /// Denies where others ask.
    DontAsk,
    /// Lets everything run that no other policy denies.
    Bypass,
}

impl PermissionMode {
    const READABLE: [(&'static str, Self); 4] = [
        ("default", Self::Default),
        ("accept_edits", Self::AcceptEdits),
        ("plan", Self::Plan),
        ("dont_ask", Self::DontAsk),
    ];

    /// The name.
    pub fn as_str(self) -> &'static str {
        let known = Self::READABLE.iter().find(|(_, mode)| *mode == self);
        known.map_or("bypass", |(name, _)| name)
    }
}

impl From<PermissionMode> for &'static str {
    fn from(mode: PermissionMode) -> Self {
        mode.as_str()
    }
}

impl FromStr for PermissionMode {
    type Err = String;

    /// `default`, `accept_edits`, `plan` or `dont_ask`.
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "bypass" {
            return Err("the mode `bypass` is set by code alone: `PermissionMode::Bypass`".into());
        }
        let known = Self::READABLE.iter().find(|(name, _)| *name == text);
        known.map(|(_, mode)| *mode).ok_or_else(|| {
            let names = Self::READABLE.map(|(name, _)| name);
            match nearest(text, names, 1).first() {
                Some(near) => format!("unknown mode `{text}`; did you mean `{near}`?"),
                None => format!("unknown mode `{text}`; write one of `{}`", names.join("`, `")),
            }
        })
    }
}

impl TryFrom<String> for PermissionMode {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// Decides by a [`PermissionMode`], of the pool or of a session. Clones share their modes.
///
/// A call has the mode of its session, or else that of the session which it was opened in, or else that of
/// the pool. If several of these sessions have modes, all of them decide: a session never exceeds the one
/// around it. The mode of a session ends with it.
///
/// Hints of sources that are not trusted do not count, nor do their tags.
///
/// ```
/// use tool_runtime::policy::{PermissionMode, Permissions};
/// use tool_runtime::prelude::*;
///
/// let write = Tool::builder("fs.write", "Write a file.").tags(["edit"]).handler(|| async { "ok" });
/// let permissions = Permissions::new(PermissionMode::Plan);
/// let pool = ToolPool::builder().add(write).policy(permissions.clone()).build()?;
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// assert!(pool.call(ToolCall::new("fs.write", "")).await.is_error());
/// permissions.set(PermissionMode::AcceptEdits);
/// assert!(!pool.call(ToolCall::new("fs.write", "")).await.is_error());
/// # });
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
#[derive(Clone)]
pub struct Permissions {
    modes: Arc<Inner>,
    edits: Vec<ToolPattern>,
}

/// The modes, which clones share.
struct Inner(ArcSwap<Modes>);

#[derive(Clone, Default)]
struct Modes {
    all: PermissionMode,
    sessions: HashMap<SessionId, SessionMode>,
}

/// The settings of a session.
#[derive(Clone, Copy, Default)]
struct SessionMode {
    mode: Option<PermissionMode>,
    /// Whether the mode of the pool decides, too.
    is_narrowing: bool,
    is_planning: bool,
}

/// The context does not belong to a session, so no mode was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("calls outside a session have the mode of the pool; open a session, or set that mode")]
pub struct NoSession;

impl Permissions {
    /// A mode for all sessions.
    pub fn new(mode: PermissionMode) -> Self {
        let modes = Modes { all: mode, sessions: HashMap::new() };
        Self { modes: Arc::new(Inner(ArcSwap::from_pointee(modes))), edits: Vec::new() }
    }

    /// Adds a tool, or a glob of tools, that edits. Default: tools with the tag `edit`.
    ///
    /// # Errors
    /// An invalid glob.
    pub fn edits(mut self, pattern: &str) -> Result<Self, PatternError> {
        self.edits.push(pattern.parse()?);
        Ok(self)
    }

    /// Sets the mode of all sessions without one of their own.
    pub fn set(&self, mode: PermissionMode) {
        self.modes.change(|modes| modes.all = mode);
    }

    /// Sets the mode of the session that a context belongs to, until it ends. `None`: that of the session
    /// around it, or of the pool. A tool gives its own context; an agent's run that of
    /// `Run::with_context`.
    ///
    /// ```
    /// use tool_runtime::ToolPool;
    /// use tool_runtime::policy::{PermissionMode, Permissions};
    ///
    /// let permissions = Permissions::new(PermissionMode::Plan);
    /// let pool = ToolPool::builder().policy(permissions.clone()).build()?;
    /// let (one, other) = (pool.session(), pool.session());
    /// permissions.set_for(&one.pool().context(), Some(PermissionMode::AcceptEdits)).unwrap();
    /// assert_eq!(permissions.mode(&one.pool().context()), PermissionMode::AcceptEdits);
    /// assert_eq!(permissions.mode(&other.pool().context()), PermissionMode::Plan);
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    ///
    /// # Errors
    /// The context does not belong to a session.
    pub fn set_for(
        &self,
        context: &ToolContext,
        mode: Option<PermissionMode>,
    ) -> Result<(), NoSession> {
        self.change_session(context, |session| {
            (session.mode, session.is_narrowing) = (mode, false);
        })
    }

    /// The mode of the calls of a context: that of the innermost session with one, or of the pool.
    pub fn mode(&self, context: &ToolContext) -> PermissionMode {
        self.modes.0.load().for_context(context)[0]
    }

    /// Sets the mode of a session as [`Self::set_for`] does, but never lets it exceed what is around it: without a
    /// session around it that has a mode, the mode of the pool decides, too. For sub-agents.
    ///
    /// # Errors
    /// The context does not belong to a session.
    pub fn narrow_for(&self, context: &ToolContext, mode: PermissionMode) -> Result<(), NoSession> {
        self.change_session(context, |session| {
            (session.mode, session.is_narrowing) = (Some(mode), true);
        })
    }

    /// Lets [`PermissionMode::Plan`] decide as well in the session of a context, until [`Self::end_plan`].
    /// `false`: it does already.
    ///
    /// ```
    /// use tool_runtime::ToolPool;
    /// use tool_runtime::policy::{PermissionMode, Permissions};
    ///
    /// let permissions = Permissions::new(PermissionMode::AcceptEdits);
    /// let pool = ToolPool::builder().policy(permissions.clone()).build()?;
    /// let session = pool.session();
    /// let context = session.pool().context();
    /// assert_eq!(permissions.begin_plan(&context), Ok(true));
    /// assert_eq!(permissions.mode(&context), PermissionMode::Plan);
    /// assert!(permissions.end_plan(&context));
    /// assert_eq!(permissions.mode(&context), PermissionMode::AcceptEdits);
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    ///
    /// # Errors
    /// The context does not belong to a session.
    pub fn begin_plan(&self, context: &ToolContext) -> Result<bool, NoSession> {
        let is_planning = self.is_planning(context);
        self.change_session(context, |session| session.is_planning = true)?;
        Ok(!is_planning)
    }

    /// Ends what [`Self::begin_plan`] began in the session of a context. `false`: it did not begin there.
    pub fn end_plan(&self, context: &ToolContext) -> bool {
        let is_planning = self.is_planning(context);
        is_planning && self.change_session(context, |session| session.is_planning = false).is_ok()
    }

    /// Whether [`Self::begin_plan`] began in the session of a context, and did not end.
    pub fn is_planning(&self, context: &ToolContext) -> bool {
        let modes = self.modes.0.load();
        let session = context.session().and_then(|session| modes.sessions.get(session));
        session.is_some_and(|session| session.is_planning)
    }

    fn change_session(
        &self,
        context: &ToolContext,
        change: impl Fn(&mut SessionMode),
    ) -> Result<(), NoSession> {
        let session = *context.session().ok_or(NoSession)?;
        if !self.modes.0.load().sessions.contains_key(&session) {
            let modes = Arc::downgrade(&self.modes);
            context.end_with_session(modes as Weak<dyn SessionValues>);
        }
        self.modes.change(|modes| change(modes.sessions.entry(session).or_default()));
        Ok(())
    }

    fn is_edit(&self, call: &CallView<'_>) -> bool {
        self.edits.iter().any(|pattern| pattern.matches(call.name())) || has_tag(call, EDIT)
    }

    fn decide_in(&self, mode: PermissionMode, call: &CallView<'_>) -> Decision {
        let reads = call.annotations().is_read_only();
        let decision = match mode {
            PermissionMode::Bypass => Decision::allow(),
            _ if reads => Decision::allow(),
            PermissionMode::AcceptEdits if self.is_edit(call) => Decision::allow(),
            PermissionMode::Plan if has_tag(call, PLAN) => Decision::allow(),
            PermissionMode::Plan => Decision::deny(
                "only tools that read may run while a plan is made; describe the step instead",
            ),
            PermissionMode::DontAsk => {
                Decision::deny("it requires approval, and nobody is asked now; do without it")
            }
            _ => Decision::ask(format!("Let `{}` run?", call.name())),
        };
        let decision = match mode {
            PermissionMode::DontAsk => decision.without_asking(),
            _ => decision,
        };
        decision.with_rule(format!("mode:{}", mode.as_str()))
    }
}

/// Whether the tool has a tag, of a source that is trusted.
fn has_tag(call: &CallView<'_>, wanted: &str) -> bool {
    let tags = call.definition().map_or(&[][..], |definition| &definition.tags);
    call.is_trusted() && tags.iter().any(|tag| tag == wanted)
}

impl Modes {
    /// The modes that decide for a context, those of the innermost session first. Not empty.
    fn for_context(&self, context: &ToolContext) -> Vec<PermissionMode> {
        let (mut deciding, mut is_within_pool) = (Vec::new(), true);
        for session in context.sessions().filter_map(|session| self.sessions.get(session)) {
            deciding.extend(session.is_planning.then_some(PermissionMode::Plan));
            deciding.extend(session.mode);
            is_within_pool =
                if session.mode.is_some() { session.is_narrowing } else { is_within_pool };
        }
        deciding.extend(is_within_pool.then_some(self.all));
        deciding
    }
}

impl Inner {
    fn change(&self, change: impl Fn(&mut Modes)) {
        self.0.rcu(|modes| {
            let mut modes = Modes::clone(modes);
            change(&mut modes);
            modes
        });
    }
}

/// A session that ends has no mode any more.
impl SessionValues for Inner {
    fn end(&self, session: SessionId) -> Option<BoxFuture<'static, ()>> {
        self.change(|modes| {
            modes.sessions.remove(&session);
        });
        None
    }
}

impl PolicyEngine for Permissions {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        let modes = self.modes.0.load().for_context(call.context());
        let first = self.decide_in(modes[0], call);
        modes[1..].iter().fold(first, |decision, mode| decision.and(self.decide_in(*mode, call)))
    }
}

impl fmt::Debug for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permissions")
            .field("mode", &self.modes.0.load().all)
            .finish_non_exhaustive()
    }
}
