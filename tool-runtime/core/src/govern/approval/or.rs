//! Several approvers, the next where one cannot ask.

use super::{Approval, ApprovalRequest, Approver, Approvers};
use crate::vocabulary::future::BoxFuture;

/// Asks a second approver where the first could not ask anybody, see [`AskCaller::or`].
///
/// [`AskCaller::or`]: super::AskCaller::or
#[derive(Clone, Debug)]
pub struct Or<A, B> {
    first: A,
    second: B,
}

impl<A, B> Or<A, B> {
    pub(crate) fn new(first: A, second: B) -> Self {
        Self { first, second }
    }

    /// Asks another approver where this one could not ask anybody.
    pub fn or<C: Approver>(self, next: C) -> Or<Self, C> {
        Or::new(self, next)
    }
}

impl<A: Approver, B: Approver> Approver for Or<A, B> {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            match request.answer_of(&self.first).await {
                Approval::Unasked { .. } => request.answer_of(&self.second).await,
                answer => answer,
            }
        })
    }

    fn reaches(&self, approvers: &Approvers) -> bool {
        self.first.reaches(approvers) || self.second.reaches(approvers)
    }

    fn keeps_time(&self) -> bool {
        true
    }
}
