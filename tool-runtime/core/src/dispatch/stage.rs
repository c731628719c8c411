//! The stages of a governed call, one per file. Each does its part of a [`Step`](crate::govern::Step).

mod acquire;
mod after_hooks;
mod ask;
mod before_hooks;
mod check_output;
mod decide;
mod decode;
mod execute;
mod propose;
mod question_log;
mod replay;
mod reserve;
mod resolve;
mod restrict;
#[cfg(test)]
mod tests;

pub(super) use acquire::acquire;
pub(super) use after_hooks::run_after_hooks;
pub(super) use ask::ask_people;
pub(super) use before_hooks::run_before_hooks;
pub(super) use check_output::check_output;
pub(super) use decide::decide;
pub(super) use decode::decode;
pub(super) use execute::execute;
pub(super) use propose::propose;
pub(super) use replay::replay;
pub(super) use reserve::reserve;
pub(super) use resolve::{closed_pool, resolve};
pub(super) use restrict::{check_rule, check_scopes};

use crate::vocabulary::error::{CallError, ErrorClass};
use crate::vocabulary::printable::printable_lines;

/// The error of a call that a policy, a hook or the lack of a person denies.
fn denied(tool: &str, reason: &str) -> CallError {
    let text = format!("the call to `{tool}` is not allowed");
    CallError::new(ErrorClass::Denied, because(text, reason))
}

/// The error of a call that a person rejects.
fn not_approved(tool: &str, reason: &str) -> CallError {
    let text = format!("the call to `{tool}` was not approved");
    CallError::new(ErrorClass::ApprovalRejected, because(text, reason))
}

/// The error of a call that something could not judge. The detail is for the operator.
fn unchecked(tool: &str, detail: String) -> CallError {
    let text = format!(
        "the call to `{tool}` was refused because a check failed; it was not run, and the failure has been logged"
    );
    CallError::new(ErrorClass::Internal, text).with_detail(detail)
}

/// A text with a reason of a policy, a hook or a person, which may hold anything.
fn because(text: String, reason: &str) -> String {
    match printable_lines(reason.trim()) {
        reason if reason.is_empty() => text,
        reason => format!("{text}: {reason}"),
    }
}
