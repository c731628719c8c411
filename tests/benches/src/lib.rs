//! Shared by the benches and their tests: the calls under test, written three times (as
//! tools, by hand, with rmcp's macros), and the measurement.

pub mod allocations;
pub mod case;
pub mod clock;
pub mod floor;
pub mod linked;
pub mod measure;
pub mod rmcp_server;
pub mod table;
pub mod tools;

pub use case::Case;

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs a future that is ready at the first poll, without the cost of a runtime.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}
