//! Progress of a call.

use crate::tool::context::ToolContext;
use crate::vocabulary::mask;
use crate::vocabulary::sealed::Sealed;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The progress of a call: MCP's `notifications/progress`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// The amount done, in the tool's units. It grows with each report.
    pub done: f64,
    /// The total amount, if known.
    pub total: Option<f64>,
    /// The current step, for people.
    pub message: Option<String>,
}

impl Progress {
    /// A report without total and message.
    pub fn new(done: f64) -> Self {
        Self { done, total: None, message: None }
    }
}

impl ToolContext {
    /// Reports progress: `done` of `total`, in units of your own, with a message for people
    /// (`""` for none, [`format_args!`] for one that is formatted only if it is sent).
    ///
    /// Does not wait. Clients get at most about fifty reports a second, and always the last one; a
    /// report without further progress is skipped, as MCP requires. It costs nothing
    /// if the caller did not request progress. `#[tool(progress)]` declares in the definition that a tool reports progress.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// /// Count the words of all files.
    /// #[tool(read_only, progress)]
    /// async fn count(
    ///     /// The files.
    ///     paths: Vec<String>,
    ///     context: &ToolContext,
    /// ) -> u64 {
    ///     for (index, path) in paths.iter().enumerate() {
    ///         context.progress(index, paths.len(), format_args!("reading {path}"));
    ///     }
    ///     // The total may be unknown.
    ///     context.progress(paths.len(), None, "");
    ///     0
    /// }
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// # count(vec!["a".into()], &ToolContext::default()).await;
    /// # });
    /// ```
    pub fn progress(&self, done: impl Amount, total: impl Total, message: impl fmt::Display) {
        if let Some(peer) = self.peer().filter(|peer| peer.accepts_progress()) {
            let mut message = Some(message.to_string()).filter(|message| !message.is_empty());
            if let (Some(message), Some(mask)) = (&mut message, self.mask()) {
                mask::in_place(mask, message);
            }
            peer.progress(Progress {
                done: done.amount(Sealed),
                total: total.total(Sealed),
                message,
            });
        }
    }
}

/// A number that can measure progress: every primitive one.
pub trait Amount {
    #[doc(hidden)]
    fn amount(self, _: Sealed) -> f64;
}

/// The total amount: a number, or `None`.
pub trait Total {
    #[doc(hidden)]
    fn total(self, _: Sealed) -> Option<f64>;
}

impl Total for Option<f64> {
    fn total(self, _: Sealed) -> Option<f64> {
        self
    }
}

macro_rules! amounts {
    ($($number:ty)*) => {$(
        impl Amount for $number {
            #[allow(clippy::cast_precision_loss, clippy::cast_lossless, reason = "shown to people")]
            fn amount(self, _: Sealed) -> f64 {
                self as f64
            }
        }

        impl Total for $number {
            fn total(self, _: Sealed) -> Option<f64> {
                Some(self.amount(Sealed))
            }
        }
    )*};
}

amounts!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);
