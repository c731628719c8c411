use tool_runtime::prelude::*;

struct Clock;

trait Time {
    async fn time(&self, digits: u8) -> i64;
}

#[toolset]
impl Time for Clock {
    /// Tell the time.
    #[tool]
    async fn time(
        &self,
        /// The number of digits.
        _digits: u8,
    ) -> i64 {
        0
    }
}

fn main() {}
