//! The end of work before it is complete: the call was cancelled, or took too long.

#[cfg(test)]
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tool_runtime::ToolContext;

/// Ends work that is cancelled or takes too long.
///
/// Loops end early when it is due, and their results are then incomplete. Once due, it stays due, so one check at the
/// end of the work is enough.
pub(crate) struct Stop<'a> {
    context: &'a ToolContext,
    deadline: Instant,
    has_expired: AtomicBool,
    #[cfg(test)]
    looks: Looks,
}

/// Looks at the time, which tests count instead of it.
#[cfg(test)]
#[derive(Default)]
struct Looks {
    count: AtomicUsize,
    limit: Option<usize>,
}

impl<'a> Stop<'a> {
    pub(crate) fn after(limit: Duration, context: &'a ToolContext) -> Self {
        let deadline = Instant::now() + limit;
        Self {
            context,
            deadline,
            has_expired: AtomicBool::new(false),
            #[cfg(test)]
            looks: Looks::default(),
        }
    }

    /// The context of the call.
    #[cfg(feature = "search")]
    pub(crate) fn context(&self) -> &'a ToolContext {
        self.context
    }

    /// Whether the work ends now.
    pub(crate) fn is_due(&self) -> bool {
        #[cfg(test)]
        self.count_look();
        if self.has_expired() || self.context.is_cancelled() {
            return true;
        }
        let is_late = Instant::now() >= self.deadline;
        if is_late {
            self.expire();
        }
        is_late
    }

    /// Whether the time was up before the work was complete.
    pub(crate) fn has_expired(&self) -> bool {
        self.has_expired.load(Ordering::Relaxed)
    }

    /// Ends the work before its deadline.
    pub(crate) fn expire(&self) {
        self.has_expired.store(true, Ordering::Relaxed);
    }
}

#[cfg(all(test, feature = "files"))]
impl<'a> Stop<'a> {
    /// One whose time is up after a number of looks at it.
    pub(crate) fn after_looks(limit: usize, context: &'a ToolContext) -> Self {
        let looks = Looks { limit: Some(limit), ..Looks::default() };
        Self { looks, ..Self::after(Duration::from_secs(3600), context) }
    }

    /// How often the time was looked at.
    pub(crate) fn looks(&self) -> usize {
        self.looks.count.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
impl Stop<'_> {
    fn count_look(&self) {
        let before = self.looks.count.fetch_add(1, Ordering::Relaxed);
        if self.looks.limit.is_some_and(|limit| before >= limit) {
            self.expire();
        }
    }
}

#[cfg(feature = "files")]
impl Stop<'_> {
    /// The items until the work ends, which is noticed after some of them: each takes little time.
    pub(crate) fn items<I: IntoIterator>(&self, items: I) -> impl Iterator<Item = I::Item> {
        const INTERVAL: usize = 64;
        let numbered = items.into_iter().enumerate();
        let is_on = |number: usize| !number.is_multiple_of(INTERVAL) || !self.is_due();
        numbered.take_while(move |(number, _)| is_on(*number)).map(|(_, item)| item)
    }
}
