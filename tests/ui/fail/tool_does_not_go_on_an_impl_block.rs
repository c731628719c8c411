use tool_runtime::prelude::*;

struct Clock;

#[tool]
impl Clock {
    async fn _time(&self) {}
}

fn main() {}
