use tool_runtime::prelude::*;

struct Clock;

#[toolset(register = false)]
impl Clock {
    /// Tell the time.
    #[tool(read_only)]
    async fn now(&self) -> &'static str {
        "noon"
    }
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

async fn pool() -> Result<ToolPool, tool_runtime::pool::PoolError> {
    Ok(ToolPool::builder().toolset::<Clock>(()).build()?)
}

fn main() {
    drop(pool());
}
