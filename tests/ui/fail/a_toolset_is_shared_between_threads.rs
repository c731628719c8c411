use tool_runtime::prelude::*;

struct Clock(std::cell::Cell<i64>);

#[toolset]
impl Clock {
    /// Tell the time.
    #[tool]
    async fn time(&self) -> i64 {
        self.0.get()
    }
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(std::cell::Cell::new(0)))
    }
}

fn main() {}
