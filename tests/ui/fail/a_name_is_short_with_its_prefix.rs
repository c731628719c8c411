use tool_runtime::prelude::*;

struct Clock;

#[toolset(prefix = "the_clock_on_the_wall_of_the_kitchen_of_the_house_at_the_end_of_the_street_in_the_city")]
impl Clock {
    /// Tell the time.
    #[tool]
    async fn the_time_of_the_day_in_the_zone_where_the_clock_hangs(&self) -> i64 {
        0
    }

    /// Tell the time.
    #[tool(name = "the_time")]
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
