use tool_runtime::prelude::*;

struct Clock;

#[toolset]
impl Clock {
    /// Tell the time.
    #[tool]
    async fn time(&self) -> i64 {
        0
    }

    /// Tell the exact time.
    #[tool(name = "time")]
    async fn exact_time(&self) -> i64 {
        0
    }

    /// Tell the time again.
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
