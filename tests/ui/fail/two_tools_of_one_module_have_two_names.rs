use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go() {}

/// Walk.
#[tool(name = "go")]
async fn walk() {}

/// Ride.
#[tool(name = "by.train")]
async fn ride() {}

/// Fly.
#[tool(name = "by.train")]
async fn fly() {}

fn main() {}
