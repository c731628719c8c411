//! The people who may approve a call.

use serde::{Deserialize, Serialize};

/// The people who may approve a call. The pool rejects approvals by other people.
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
    /// Empty: every person, unless only the caller may approve.
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

    /// These people, by the ids that an approver reports for them. Without ids, nobody may approve.
    pub fn people<T: Into<String>>(ids: impl IntoIterator<Item = T>) -> Self {
        let people: Vec<String> = ids.into_iter().map(Into::into).collect();
        Self { caller: false, only_caller: people.is_empty(), people }
    }

    /// Adds the caller.
    #[must_use]
    pub fn or_caller(mut self) -> Self {
        self.caller = true;
        self
    }

    /// The people who are among both.
    ///
    /// ```
    /// use tool_runtime::Approvers;
    ///
    /// let staff = Approvers::people(["ada", "grace"]).or_caller();
    /// let one = Approvers::people(["grace", "bob"]);
    /// assert_eq!(staff.intersection(&one), Approvers::people(["grace"]));
    /// assert_eq!(staff.intersection(&Approvers::anyone()), Approvers::people(["ada", "grace"]));
    /// assert_eq!(staff.intersection(&Approvers::caller()), Approvers::caller());
    /// ```
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let caller = self.caller && other.caller;
        if !self.includes_others() || !other.includes_others() {
            return Self { caller, people: Vec::new(), only_caller: true };
        }
        let (one, two) = (&self.people, &other.people);
        if one.is_empty() || two.is_empty() {
            return Self { caller, people: [&one[..], two].concat(), only_caller: false };
        }
        let people: Vec<String> = one.iter().filter(|id| two.contains(id)).cloned().collect();
        Self { caller, only_caller: people.is_empty(), people }
    }

    /// Whether the caller may approve.
    pub fn includes_caller(&self) -> bool {
        self.caller
    }

    /// Whether anyone but the caller may approve.
    pub fn includes_others(&self) -> bool {
        !self.only_caller
    }

    /// The reason why an approval of a call does not count: by a person, if the approver knows who it
    /// is, or by the caller itself.
    ///
    /// ```
    /// use tool_runtime::Approvers;
    ///
    /// let staff = Approvers::people(["ada", "grace"]);
    /// assert_eq!(staff.refusal("ada", Some("grace"), false), None);
    /// assert!(staff.refusal("ada", Some("bob"), false).is_some());
    /// assert!(staff.refusal("ada", Some("ada"), false).is_some(), "the caller");
    /// assert!(staff.refusal("ada", None, false).is_some(), "an unknown person");
    /// assert!(Approvers::people([""; 0]).refusal("ada", Some("bob"), false).is_some());
    /// ```
    pub fn refusal(&self, caller: &str, by: Option<&str>, is_caller: bool) -> Option<String> {
        if is_caller || (!caller.is_empty() && by == Some(caller)) {
            let text = "the caller may not approve its own call";
            return (!self.caller).then(|| text.to_owned());
        }
        let is_named = |person| self.people.iter().any(|known| known == person);
        if !self.only_caller && (self.people.is_empty() || by.is_some_and(is_named)) {
            return None;
        }
        let person = by.map_or("an unnamed person".to_owned(), |by| format!("`{by}`"));
        Some(format!("{person} may not approve it"))
    }
}
