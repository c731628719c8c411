use tool_runtime::prelude::*;

trait Clock {}

#[toolset]
impl dyn Clock {
    /// Tell the time.
    #[tool]
    async fn time(&self) -> i64 {
        0
    }
}

fn main() {}
