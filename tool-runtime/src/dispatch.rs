//! Ways to call tools besides [`ToolPool::call`](crate::ToolPool::call): batches, typed calls, calls from threads and
//! from tower.

#[doc(inline)]
pub use tool_runtime_core::dispatch::{
    Batch, BlockingPool, CallAction, TypedArguments, TypedValue,
};
#[cfg(feature = "tower")]
#[doc(inline)]
pub use tool_runtime_core::{dispatch::CallService, pool::CallRequest};
