use tool_runtime::prelude::*;

struct Clock;

#[toolset(readonly, name = "clock", prefix, tags("time"), tags("clock"), title = "Clock")]
impl Clock {
    /// Tell the time.
    #[tool]
    async fn time(&self) -> i64 {
        0
    }
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
