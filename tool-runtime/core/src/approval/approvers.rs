//! The people who may approve a call.

use serde::{Deserialize, Serialize};

/// The people who may approve a call. The pool refuses the approval of everyone else.
///
/// The caller is not among them unless it is named here: the program that calls, and with it the
/// model, may act under the same identity as its user.
///
/// ```
/// use tool_runtime::{Approvers, Decision};
///
/// let by_user = Decision::ask("Send the mail?").approved_by(Approvers::caller());
/// let by_staff = Decision::ask("Pay?").approved_by(Approvers::people(["ada", "grace"]));
/// # let _ = (by_user, by_staff);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Approvers {
    caller: bool,
    /// Empty: every person.
    people: Vec<String>,
    only_caller: bool,
}

impl Approvers {
    /// Every person that the pool's approver asks, except the caller. This is the default.
    pub fn anyone() -> Self {
        Self::default()
    }

    /// The caller alone.
    pub fn caller() -> Self {
        Self { caller: true, people: Vec::new(), only_caller: true }
    }

    /// These people, by the ids under which an approver knows them.
    pub fn people<T: Into<String>>(ids: impl IntoIterator<Item = T>) -> Self {
        Self { people: ids.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// And the caller.
    #[must_use]
    pub fn or_caller(mut self) -> Self {
        self.caller = true;
        self
    }

    /// Whether the caller may approve.
    pub fn includes_caller(&self) -> bool {
        self.caller
    }

    /// Whether anyone but the caller may approve.
    pub fn includes_others(&self) -> bool {
        !self.only_caller
    }

    /// Whether a person may approve who is not the caller. `None` stands for an approver that does not
    /// name people.
    pub fn includes(&self, person: Option<&str>) -> bool {
        let is_named = |person| self.people.iter().any(|known| known == person);
        !self.only_caller && (self.people.is_empty() || person.is_some_and(is_named))
    }
}
