//! The reasons why tools of runners are missing.

use super::Inner;
use super::link::Link;
use super::publish::Publisher;
use crate::board::BoardError;
use crate::names::Queue;
use crate::seam::{missing_runners, no_remote_tool};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use tool_runtime_core::pool::AbsentSource;
use tool_runtime_core::seam::{Absence, lock};
use tool_runtime_core::tool::Source;
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};

impl Publisher {
    /// Notes why the board is out of reach, or that it is not any more. An outage is logged when it begins, when it ends, and
    /// when the board begins to refuse the caller.
    pub(super) fn note_outage(&self, outage: Option<BoardError>) {
        let Some(link) = self.link.upgrade() else { return };
        let before = std::mem::replace(&mut lock(&self.state).outage, outage.clone());
        match (before, outage) {
            (Some(before), Some(error)) if !error.is_transient() && before.is_transient() => {
                tracing::error!("the tools of remote runners are missing: {error}");
            }
            (None, Some(error)) => tracing::warn!("{error}; trying again"),
            // A warning like the one that it ends, so that both are logged or none.
            (Some(_), None) => {
                tracing::warn!("connected to the hub at {} again", link.board.address());
            }
            _ => {}
        }
    }

    /// Notes what the board says of itself, for callers who find no runner.
    pub(super) async fn ask_board(&self, link: &Link) {
        if let Ok(state) = link.board.state().await {
            lock(&self.state).board_problem = state.problems.into_iter().next();
        }
    }

    /// The reason why the tools of all runners are missing.
    pub(super) fn missing(&self) -> Option<(ErrorClass, String)> {
        let link = self.link.upgrade()?;
        let state = lock(&self.state);
        if let Some(outage) = &state.outage {
            return Some((ErrorClass::Transient, outage.to_string()));
        }
        if !state.queues.is_empty() || !link.roster.all().is_empty() {
            return None;
        }
        if !link.board.may_call() {
            let name = link.board.caller();
            let text = format!(
                "the token of `{name}` may call no queue; give it the scope `call:QUEUE` at the hub"
            );
            return Some((ErrorClass::Denied, text));
        }
        let address = link.board.address();
        let how = match &state.board_problem {
            Some(problem) => format!(": {problem}"),
            None => "; start one, for instance by the command `run`".to_owned(),
        };
        Some((ErrorClass::Transient, format!("no runner is there ({address}){how}")))
    }

    /// The reason why the tool of that name is not there.
    fn why_absent(&self, name: &str) -> Option<CallError> {
        let prefix = &*self.settings.prefix;
        let is_remote = prefix.is_empty()
            || name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.'));
        if !is_remote {
            return None;
        }
        self.why_not_published(name).or_else(|| {
            let (class, reason) = self.missing()?;
            Some(no_remote_tool(name, class, &reason))
        })
    }

    /// The reason why a tool that a runner has announced is not in the pool.
    fn why_not_published(&self, name: &str) -> Option<CallError> {
        let state = lock(&self.state);
        let left_out = state.queues.iter().find_map(|(queue, published)| {
            let problem = published.tools.get(name)?.left_out()?;
            Some(format!("`{name}` of queue `{queue}` cannot be called: {problem}"))
        });
        if let Some(text) = left_out {
            return Some(CallError::new(ErrorClass::Denied, text));
        }
        let (queue, served) = state.withdrawn.get(name)?;
        let since = served.elapsed().as_secs();
        let mut text =
            format!("`{name}` is not there: no runner of queue `{queue}` was heard for {since} s");
        if let Some(outage) = &state.outage {
            text += &format!(" ({outage})");
        }
        Some(CallError::new(ErrorClass::Transient, text))
    }

    /// The queues that are known and have no runner; all of them, if the board is out of reach.
    fn absent(&self) -> Vec<AbsentSource> {
        if let Some((_, reason)) = self.missing() {
            return vec![missing_runners(reason)];
        }
        let Some(link) = self.link.upgrade() else { return Vec::new() };
        let mut absent = BTreeMap::new();
        for seen in link.roster.all() {
            if !link.roster.serves(&seen.presence.queue) {
                let since = seen.at.elapsed().as_secs();
                let text = format!("its last runner was heard {since} s ago");
                absent.insert(seen.presence.queue, text);
            }
        }
        let source =
            |(queue, why): (Queue, String)| AbsentSource::new(Source::runner(queue.as_str()), why);
        absent.into_iter().map(source).collect()
    }
}

impl Absence for Inner {
    fn why(&self, name: &str) -> Option<CallError> {
        self.publisher.why_absent(name)
    }

    fn settling(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }

    fn absent(&self) -> Vec<AbsentSource> {
        self.publisher.absent()
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}
