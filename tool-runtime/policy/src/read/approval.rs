//! Reads the question of a rule: its text, the people who answer it, the time that it waits.

use super::object::{At, Mistakes};
use std::time::Duration;
use tool_runtime_core::govern::{Approvers, Effect};

/// `{message: "Send it?", approvers: [ada, caller], timeout: 10m}`.
#[derive(Default)]
pub(super) struct Approval {
    pub(super) message: Option<String>,
    pub(super) approvers: Approvers,
    pub(super) expiry: Option<Duration>,
}

/// Reads the approval of an outcome.
pub(super) fn approval(at: &At<'_>, effect: Option<Effect>, mistakes: &mut Mistakes) -> Approval {
    let Some(mut object) = at.object(mistakes) else { return Approval::default() };
    let message = object.take("message").and_then(|at| at.text(mistakes));
    let people = object.take("approvers");
    let time = object.take("timeout");
    if let Some(at) = people.as_ref().or(time.as_ref())
        && effect.is_some_and(|effect| effect != Effect::Ask)
    {
        let help = "remove it, or write `decision: ask`";
        mistakes.add(&at.path, "a rule that asks nobody has an approval", help);
    }
    let approvers = people.map(|at| approvers(&at, mistakes)).unwrap_or_default();
    let expiry = time.and_then(|at| at.duration(mistakes));
    object.finish(mistakes);
    Approval { message, approvers, expiry }
}

/// Ids of people. `caller` is the caller itself, `*` every other person.
fn approvers(at: &At<'_>, mistakes: &mut Mistakes) -> Approvers {
    let people = at.strings(mistakes);
    for (at, id) in &people {
        if id != "caller" && id.eq_ignore_ascii_case("caller") {
            let text = format!("`{id}` is taken for the id of a person");
            mistakes.add(&at.path, text, "write `caller` for the caller itself");
        }
    }
    let mut ids: Vec<String> = people.into_iter().map(|(_, id)| id).collect();
    let has_caller = ids.iter().any(|id| id == "caller");
    ids.retain(|id| id != "caller");
    let others = match ids.is_empty() {
        true => return Approvers::caller(),
        false if ids.iter().any(|id| id == "*") => Approvers::others(),
        false => Approvers::people(ids),
    };
    if has_caller { others.or_caller() } else { others }
}
