//! The tokens that responses of a model cost.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The tokens that one or more responses of a model cost.
///
/// ```
/// use tool_runtime::tool::Usage;
///
/// let mut total = Usage::default();
/// total += Usage { input: 100, output: 20, cached: 80 };
/// total += Usage { input: 130, output: 5, cached: 120 };
/// assert_eq!(total, Usage { input: 230, output: 25, cached: 200 });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the requests, cached ones included.
    pub input: u64,
    /// Tokens of the responses, reasoning included.
    pub output: u64,
    /// Tokens of the requests that the API read from its cache.
    pub cached: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cached += other.cached;
    }
}
