use tool_runtime::prelude::*;

struct Clock;

#[toolset]
impl Clock {
    #[tool(readonly, timeout = "soon", name = "the time")]
    async fn time(
        #[arg(default)] &self,
        _zone: &str,
        /// The number of digits.
        #[arg(range = 9..=1)]
        _digits: u8,
        #[serde(default)] _undescribed: bool,
        #[arg(secret)] _context: &ToolContext,
    ) -> impl Sized {
    }

    /// Tell the date.
    #[tool(inline, read_only, destructive)]
    #[arg(default)]
    async fn date<T>(&self) {}

    /// Do both.
    #[tool]
    #[tool(read_only)]
    unsafe fn both(&self) {}
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
