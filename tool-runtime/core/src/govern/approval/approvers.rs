//! The people who may approve a call.

use crate::vocabulary::printable::printable;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The people who may approve a call. The pool rejects approvals by other people.
///
/// By default everyone that the pool's approver asks may, and the user of the caller is one of them. Where the program that
/// calls must not decide about itself, name the people, or write [`Self::others`].
///
/// ```
/// use tool_runtime::govern::{Approvers, Decision};
///
/// let by_user = Decision::ask("Send the mail?").approved_by(Approvers::caller());
/// let by_staff = Decision::ask("Pay?").approved_by(Approvers::people(["ada", "grace"]));
/// # let _ = (by_user, by_staff);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Approvers {
    caller: CallerMay,
    others: Others,
}

/// Whether the caller may approve its own calls.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
enum CallerMay {
    Never,
    /// Where an approver asks its user, not by the token that it calls with.
    #[default]
    IfAsked,
    Always,
}

/// The people besides the caller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Others {
    Nobody,
    #[default]
    Anyone,
    /// By their ids; never empty.
    People(Vec<String>),
}

impl Approvers {
    /// Every person that the pool's approver asks, the user of the caller as well. This is the default.
    pub fn everyone() -> Self {
        Self::default()
    }

    /// Every person that the pool's approver asks, except the caller.
    pub fn others() -> Self {
        Self { caller: CallerMay::Never, others: Others::Anyone }
    }

    /// Only the caller.
    pub fn caller() -> Self {
        Self { caller: CallerMay::Always, others: Others::Nobody }
    }

    /// These people, by the ids that an approver reports for them. Without ids, nobody may approve.
    pub fn people<T: Into<String>>(ids: impl IntoIterator<Item = T>) -> Self {
        let people = ids.into_iter().map(Into::into).collect();
        Self { caller: CallerMay::Never, others: Others::from_people(people) }
    }

    /// Adds the caller.
    #[must_use]
    pub fn or_caller(mut self) -> Self {
        self.caller = CallerMay::Always;
        self
    }

    /// The people who are among both.
    ///
    /// ```
    /// use tool_runtime::govern::Approvers;
    ///
    /// let staff = Approvers::people(["ada", "grace"]).or_caller();
    /// let one = Approvers::people(["grace", "bob"]);
    /// assert_eq!(staff.intersection(&one), Approvers::people(["grace"]));
    /// assert_eq!(staff.intersection(&Approvers::others()), Approvers::people(["ada", "grace"]));
    /// assert_eq!(staff.intersection(&Approvers::caller()), Approvers::caller());
    /// ```
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let others = match (&self.others, &other.others) {
            (Others::Nobody, _) | (_, Others::Nobody) => Others::Nobody,
            (Others::Anyone, people) | (people, Others::Anyone) => people.clone(),
            (Others::People(one), Others::People(two)) => {
                Others::from_people(one.iter().filter(|id| two.contains(id)).cloned().collect())
            }
        };
        Self { caller: self.caller.min(other.caller), others }
    }

    /// Whether the caller may approve.
    pub fn includes_caller(&self) -> bool {
        self.caller != CallerMay::Never
    }

    /// Whether a rule names the caller: it may then approve by the token that it calls with, too.
    pub fn names_caller(&self) -> bool {
        self.caller == CallerMay::Always
    }

    /// Whether anyone but the caller may approve.
    pub fn includes_others(&self) -> bool {
        self.others != Others::Nobody
    }

    /// The reason why an approval of a call does not count: by a person, if the approver knows who it
    /// is, or by the caller itself.
    ///
    /// ```
    /// use tool_runtime::govern::Approvers;
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
            return (!self.includes_caller()).then(|| text.to_owned());
        }
        let may_approve = match &self.others {
            Others::Nobody => false,
            Others::Anyone => true,
            Others::People(ids) => by.is_some_and(|person| ids.iter().any(|id| id == person)),
        };
        let person = || by.map_or("an unnamed person".to_owned(), |by| format!("`{by}`"));
        (!may_approve).then(|| format!("{} may not approve it", person()))
    }
}

impl Others {
    fn from_people(people: Vec<String>) -> Self {
        if people.is_empty() { Self::Nobody } else { Self::People(people) }
    }
}

/// For people: ``everyone but the caller``, `` `ada`, `grace` or the caller``.
impl fmt::Display for Approvers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.others, self.includes_caller()) {
            (Others::Anyone, true) => f.write_str("everyone"),
            (Others::Anyone, false) => f.write_str("everyone but the caller"),
            (Others::Nobody, true) => f.write_str("the caller"),
            (Others::Nobody, false) => f.write_str("nobody"),
            (Others::People(ids), has_caller) => {
                let ids: Vec<String> =
                    ids.iter().map(|id| format!("`{}`", printable(id))).collect();
                let caller = if has_caller { " or the caller" } else { "" };
                write!(f, "{}{caller}", ids.join(", "))
            }
        }
    }
}
