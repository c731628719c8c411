use tool_runtime::prelude::*;

struct Clock;

#[toolset]
impl Clock {
    /// Tell the time.
    #[tool]
    async fn time(&self) {}

    /// Set the time.
    #[tool]
    fn set(&self) {}
}

fn main() {}
