use tool_runtime::prelude::*;

struct Clock;

#[toolset]
impl Clock {
    /// Tell the time.
    #[tool]
    async fn the_time(&self) -> i64 {
        0
    }

    /// Tell the exact time.
    #[tool]
    async fn the__time(&self) -> i64 {
        0
    }

    /// Tell the date.
    #[tool(action = ClockTheTimeAction)]
    async fn date(&self) -> i64 {
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
