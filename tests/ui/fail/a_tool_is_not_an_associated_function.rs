use tool_runtime::prelude::*;

struct Clock;

impl Clock {
    /// Tell the time.
    #[tool]
    async fn time() -> i64 {
        0
    }
}

fn main() {}
