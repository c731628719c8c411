//! The turn of a call in its batch.

use super::ToolContext;
use crate::vocabulary::sync::lock;
use std::any::Any;
use std::sync::{Arc, Mutex};

type Turn = Mutex<Option<Arc<dyn Any + Send + Sync>>>;

/// The turn of a call in its batch.
#[derive(Clone)]
pub(super) struct BatchTurn {
    turn: Arc<Turn>,
    /// The number of times that the context is passed on when it reaches the call.
    passed_on: u16,
}

/// Ends the turn of a call when it is dropped, if the call has not.
pub(crate) struct TurnGuard(Arc<Turn>);

impl Drop for TurnGuard {
    fn drop(&mut self) {
        drop(lock(&self.0).take());
    }
}

impl ToolContext {
    /// Lets the call end its turn in a batch before it is answered, by [`Self::end_turn`].
    pub(crate) fn with_turn(mut self, guard: Arc<dyn Any + Send + Sync>) -> (Self, TurnGuard) {
        let turn = Arc::new(Mutex::new(Some(guard)));
        let passed_on = self.0.times_passed_on.saturating_add(1);
        self.parts().turn = Some(BatchTurn { turn: Arc::clone(&turn), passed_on });
        (self, TurnGuard(turn))
    }

    /// Ends the turn of the call in its batch: its tool has ended, and others may run while its end is
    /// recorded. Does nothing for a call that a tool makes with the context of this one.
    pub(crate) fn end_turn(&self) {
        let own = self.0.turn.as_ref();
        if let Some(own) = own.filter(|own| own.passed_on == self.0.times_passed_on) {
            drop(lock(&own.turn).take());
        }
    }
}
