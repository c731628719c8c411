use tool_runtime::prelude::*;

struct Clock;

impl Clock {
    async fn _time(&self) {}
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
