use tool_runtime::prelude::*;

struct Clock;

struct Zone;

#[toolset]
impl Clock {
    /// Tell the time.
    #[tool]
    async fn time(
        &self,
        /// The time zone.
        _zone: Zone,
    ) -> Self {
        Self
    }

    /// Wait for a while.
    #[tool]
    async fn wait(&self) {
        let here = std::rc::Rc::new(1);
        std::future::ready(()).await;
        drop(here);
    }
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
