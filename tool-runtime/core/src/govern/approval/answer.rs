//! The answer to a question.

use crate::vocabulary::matching::MatchAs;
use serde::{Deserialize, Serialize};

/// The answer to an [`ApprovalRequest`](crate::govern::ApprovalRequest).
///
/// ```
/// use tool_runtime::govern::Approval;
///
/// let answer = Approval::rejected("not on a Friday");
/// assert!(matches!(answer, Approval::Rejected { reason, .. } if reason == "not on a Friday"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// The call may run.
    #[non_exhaustive]
    Approved {
        /// Other arguments, as JSON text. The tool and the policies check them again; the question is
        /// not repeated.
        arguments: Option<String>,
        /// The person who approved. `None` if the approver does not know.
        by: Option<String>,
        /// Whether the caller itself approved.
        is_caller: bool,
        /// The calls that the approval is meant for.
        remember: Remember,
    },
    /// The call must not run.
    #[non_exhaustive]
    Rejected {
        /// The reason, which the model reads.
        reason: String,
        /// The person who rejected. `None` if the approver does not know.
        by: Option<String>,
        /// Whether the caller itself rejected.
        is_caller: bool,
    },
    /// No person could be asked, so the call must not run.
    Unasked {
        /// The reason, which the model reads.
        reason: String,
    },
}

/// The calls that an approval is meant for. `approvals::Remembering` keeps approvals and applies them
/// to later calls; without it each is for one call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Remember {
    /// This call.
    #[default]
    Call,
    /// All calls of the tool in this session that raise the same question.
    Session,
    /// All calls of the tool that raise the same question and whose argument matches.
    #[non_exhaustive]
    Pattern {
        /// The name of the argument.
        argument: String,
        /// The kind of pattern.
        kind: MatchAs,
        /// The pattern.
        pattern: String,
    },
}

impl Remember {
    /// All calls whose argument matches a pattern.
    ///
    /// ```
    /// use tool_runtime::govern::{Approval, Remember};
    /// use tool_runtime::matching::MatchAs;
    ///
    /// let below = Remember::pattern("path", MatchAs::Path, "/srv/**");
    /// let answer = Approval::approved().remembered(below);
    /// # let _ = answer;
    /// ```
    pub fn pattern(argument: impl Into<String>, kind: MatchAs, pattern: impl Into<String>) -> Self {
        Self::Pattern { argument: argument.into(), kind, pattern: pattern.into() }
    }
}

impl Approval {
    /// The call may run.
    ///
    /// ```
    /// use tool_runtime::govern::Approval;
    ///
    /// let answer = Approval::approved().by("ada").with_arguments(r#"{"path": "b.txt"}"#);
    /// assert!(matches!(answer, Approval::Approved { by: Some(_), .. }));
    /// ```
    pub fn approved() -> Self {
        Self::Approved { arguments: None, by: None, is_caller: false, remember: Remember::Call }
    }

    /// Sets the person who approved or rejected, which the approver must have verified. Default:
    /// unknown.
    #[must_use]
    pub fn by(mut self, name: impl Into<String>) -> Self {
        if let Self::Approved { by, .. } | Self::Rejected { by, .. } = &mut self {
            *by = Some(name.into());
        }
        self
    }

    /// Lets the call run with other arguments: JSON text, which the tool and the policies check
    /// again. Default: those in the request. Without effect on a rejection.
    #[must_use]
    pub fn with_arguments(mut self, edited: impl Into<String>) -> Self {
        if let Self::Approved { arguments, .. } = &mut self {
            *arguments = Some(edited.into());
        }
        self
    }

    /// Marks the answer as that of the caller itself. An approval counts only where [`Approvers`]
    /// include the caller.
    ///
    /// [`Approvers`]: super::Approvers
    #[must_use]
    pub fn by_caller(mut self) -> Self {
        if let Self::Approved { is_caller, .. } | Self::Rejected { is_caller, .. } = &mut self {
            *is_caller = true;
        }
        self
    }

    /// Sets the calls that the approval is meant for. Default: this one. Without effect on a rejection.
    #[must_use]
    pub fn remembered(mut self, calls: Remember) -> Self {
        if let Self::Approved { remember, .. } = &mut self {
            *remember = calls;
        }
        self
    }

    /// Whether the call may run with other arguments.
    pub(crate) fn is_edit(&self) -> bool {
        matches!(self, Self::Approved { arguments: Some(_), .. })
    }

    /// No person could be asked, for a reason that the model reads.
    pub fn unasked(reason: impl Into<String>) -> Self {
        Self::Unasked { reason: reason.into() }
    }

    /// The call must not run, for a reason that the model reads; empty for none.
    pub fn rejected(reason: impl Into<String>) -> Self {
        Self::Rejected { reason: reason.into(), by: None, is_caller: false }
    }
}
