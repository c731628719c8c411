use tool_runtime::prelude::*;

struct Größe;

#[toolset]
impl Größe {
    /// Tell the size.
    #[tool]
    async fn tell(&self) -> i64 {
        0
    }
}

impl Toolset for Größe {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
