//! Policies that are read again when their file changes.

use crate::loaded::Loaded;
use crate::policy::Policy;
use crate::read::{Format, PolicyError, Text};
use crate::rule::Rule;
use arc_swap::ArcSwapOption;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tool_runtime_core::govern::{Approvers, CallView, Decision, PolicyEngine};
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::seam::{lock, spawn};
use tool_runtime_core::tool::ToolDefinition;
use tool_runtime_core::vocabulary::Principal;

/// A policy of a file or a folder, which can be read again while the pool runs. Clones share it.
///
/// A new version replaces the old one at once: each decision is by one of them. A version
/// with mistakes changes nothing, and is reported by [`Self::last_error`]. Each version that is read later is logged, with
/// its mistakes or the number of its rules, whoever asks for it.
///
/// ```no_run
/// use std::time::Duration;
/// use tool_runtime::ToolPool;
/// use tool_runtime::policy::LivePolicy;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let policy = LivePolicy::open("policy.yaml")?;
/// policy.watch(Duration::from_secs(2));
/// let pool = ToolPool::builder().allow_empty().install(policy).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct LivePolicy(Arc<Live>);

struct Live {
    path: PathBuf,
    /// `None`: there never was a version without mistakes.
    current: ArcSwapOption<Loaded>,
    configure: Box<dyn Fn(Policy) -> Policy + Send + Sync>,
    /// Serialises reading, so that an older version never replaces a newer one.
    state: Mutex<State>,
    /// Tells that a new version was taken.
    replaced: Notify,
}

#[derive(Default)]
struct State {
    stamp: Stamp,
    error: Option<PolicyError>,
}

/// The policy files and hashes of their contents: size and time may be those of the version before. `None`: a file
/// cannot be read.
type Stamp = Vec<(PathBuf, Option<u64>)>;

impl LivePolicy {
    /// Opens a file, or a folder as [`PolicyFolder`](crate::PolicyFolder) describes it.
    ///
    /// # Errors
    /// All mistakes.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, PolicyError> {
        let policy = Self::read(path, |policy| policy);
        match policy.last_error() {
            Some(error) => Err(error),
            None => Ok(policy),
        }
    }

    /// Opens a file or a folder. One with mistakes denies everything, by the rule `policy-error`,
    /// until a version without mistakes is read.
    pub fn open_or_deny(path: impl Into<PathBuf>) -> Self {
        Self::configured(path, |policy| policy)
    }

    /// Opens a file or a folder, and changes each version that is read, by [`Policy::analyzer`] for instance. One with
    /// mistakes denies everything, as with [`Self::open_or_deny`].
    pub fn configured(
        path: impl Into<PathBuf>,
        configure: impl Fn(Policy) -> Policy + Send + Sync + 'static,
    ) -> Self {
        let policy = Self::read(path, configure);
        if let Some(error) = policy.last_error() {
            policy.0.log_refusal(&error);
        }
        policy
    }

    fn read(
        path: impl Into<PathBuf>,
        configure: impl Fn(Policy) -> Policy + Send + Sync + 'static,
    ) -> Self {
        let live = Self(Arc::new(Live {
            path: path.into(),
            current: ArcSwapOption::empty(),
            configure: Box::new(configure),
            state: Mutex::default(),
            replaced: Notify::new(),
        }));
        // The error is kept.
        let _ = live.0.take(&mut lock(&live.0.state));
        live
    }

    /// Reads the file again. Logs what became of a version that was not read before.
    ///
    /// # Errors
    /// All mistakes; the version before stays.
    pub fn reload(&self) -> Result<(), PolicyError> {
        self.read_again(&mut lock(&self.0.state))
    }

    /// Reads the file again if it changed since the last time, as [`Self::reload`] does. Tells whether it did.
    ///
    /// # Errors
    /// All mistakes; the version before stays.
    pub fn reload_if_changed(&self) -> Result<bool, PolicyError> {
        let mut state = lock(&self.0.state);
        match state.stamp == stamp(&self.0.path) {
            true => Ok(false),
            false => self.read_again(&mut state).map(|()| true),
        }
    }

    fn read_again(&self, state: &mut State) -> Result<(), PolicyError> {
        let before = state.stamp.clone();
        let taken = self.0.take(state);
        if state.stamp != before {
            self.log(&taken);
        }
        if taken.is_ok() {
            self.0.replaced.notify_one();
        }
        taken
    }

    fn log(&self, taken: &Result<(), PolicyError>) {
        let (path, rules) = (self.0.path.display(), self.rule_count());
        match taken {
            Ok(()) => tracing::info!(rules, "the policy `{path}` was read again"),
            Err(error) if self.0.current.load().is_some() => tracing::error!(
                "the policy `{path}` has mistakes, and the rules of before count: {}",
                joined(error)
            ),
            Err(error) => self.0.log_refusal(error),
        }
    }

    /// The mistakes of the newest version, if it was not taken.
    pub fn last_error(&self) -> Option<PolicyError> {
        lock(&self.0.state).error.clone()
    }

    /// Patterns of rules that select no tool, resource or prompt of a pool, as [`Policy::unused_patterns`] has them, of the
    /// current version. Empty if there never was a version without mistakes.
    pub fn unused_patterns(&self, pool: &ToolPool) -> Vec<String> {
        let current = self.0.current.load_full();
        current.map(|current| current.unused_patterns(pool)).unwrap_or_default()
    }

    /// Waits until a new version was taken.
    #[doc(hidden)]
    pub async fn replaced(&self) {
        self.0.replaced.notified().await;
    }

    /// The number of rules of the current version.
    #[doc(hidden)]
    pub fn rule_count(&self) -> usize {
        let current = self.0.current.load();
        let own =
            |policy: &Policy| policy.rules.iter().filter(|rule| rule.merged_from.is_none()).count();
        current.as_ref().map_or(0, |current| current.policies().map(own).sum())
    }

    /// Looks for changes at an interval, in a task that ends with the last clone of this. Needs a runtime of tokio; the
    /// files are read in its threads for blocking work.
    ///
    /// A changed file is read once it stays the same for an interval: one that is still being written may be a valid
    /// policy with fewer rules.
    pub fn watch(&self, interval: Duration) {
        let weak = Arc::downgrade(&self.0);
        drop(spawn(Box::pin(async move {
            let mut seen = None;
            loop {
                tokio::time::sleep(interval).await;
                let Some(live) = weak.upgrade() else { return };
                let before = seen.take();
                let look = tokio::task::spawn_blocking(move || Self(live).look(before));
                // It fails if the runtime ends, or if a callback of the host panics, which is logged.
                seen = look.await.ok();
            }
        })));
    }
}

impl LivePolicy {
    /// Reads a changed file that is as it was seen before. Returns its state.
    fn look(&self, before: Option<Stamp>) -> Stamp {
        let now = stamp(&self.0.path);
        let is_new = lock(&self.0.state).stamp != now;
        if is_new && before.as_ref() == Some(&now) {
            // The mistakes are logged.
            let _ = self.reload_if_changed();
        }
        now
    }
}

/// All mistakes on a line.
fn joined(error: &PolicyError) -> String {
    error.problems().iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl Live {
    /// Reads the newest version, and takes it if it has no mistakes.
    fn take(&self, state: &mut State) -> Result<(), PolicyError> {
        // Before the text: a change in between is seen the next time.
        state.stamp = stamp(&self.path);
        let version = self.read();
        state.error = version.as_ref().err().cloned();
        self.current.store(Some(Arc::new(version?)));
        Ok(())
    }

    fn log_refusal(&self, error: &PolicyError) {
        let (path, mistakes) = (self.path.display(), joined(error));
        tracing::error!("the policy `{path}` cannot be read, so no call runs: {mistakes}");
    }

    fn read(&self) -> Result<Loaded, PolicyError> {
        let mut folder = match Loaded::from_path(&self.path)? {
            Loaded::File(policy) => return Ok(Loaded::File((self.configure)(policy))),
            Loaded::Folder(folder) => folder,
        };
        for policy in folder.policies_mut() {
            let empty = Policy::builder().build()?;
            *policy = (self.configure)(std::mem::replace(policy, empty));
        }
        Ok(Loaded::Folder(folder))
    }
}

/// The state of a file, or of the policy files of a folder.
fn stamp(path: &Path) -> Stamp {
    let of = |path: PathBuf| {
        let hash = Text::read(&path).ok().map(|text| text.hash());
        (path, hash)
    };
    let Ok(entries) = std::fs::read_dir(path) else { return vec![of(path.to_owned())] };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Stamp = paths.filter(|path| Format::from_path(path).is_some()).map(of).collect();
    files.sort();
    files
}

impl LivePolicy {
    fn ask<T>(&self, ask: impl FnOnce(&dyn PolicyEngine) -> T) -> Option<T> {
        self.0.current.load().as_ref().map(|current| ask(current.engine()))
    }
}

impl PolicyEngine for LivePolicy {
    fn questions(&self) -> Vec<(String, Approvers)> {
        self.ask(|engine| engine.questions()).unwrap_or_default()
    }

    fn reads_risk(&self) -> bool {
        self.ask(|engine| engine.reads_risk()).unwrap_or(false)
    }

    fn reads_files(&self) -> bool {
        self.ask(|engine| engine.reads_files()).unwrap_or(true)
    }

    fn decide(&self, call: &CallView<'_>) -> Decision {
        self.ask(|engine| engine.decide(call)).unwrap_or_else(|| {
            Decision::deny("the policy cannot be read; nothing runs until it is corrected")
                .with_rule("policy-error")
        })
    }

    fn visible(&self, tool: &ToolDefinition, principal: &Principal) -> bool {
        self.ask(|engine| engine.visible(tool, principal)).unwrap_or(true)
    }
}

impl Policy {
    /// The line of a rule of the policy's own document.
    pub(crate) fn line(&self, rule: &Rule) -> Option<usize> {
        if rule.merged_from.is_some() {
            return None;
        }
        let path = crate::read::DocumentPath::default().key("rules").index(rule.position).key("id");
        self.text.as_ref().and_then(|text| text.line(&path))
    }
}

impl fmt::Debug for LivePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LivePolicy").field("path", &self.0.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
