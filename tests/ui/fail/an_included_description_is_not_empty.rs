use tool_runtime::prelude::*;

#[doc = concat!(" ", "")]
#[tool]
async fn ping() {}

fn main() {}
