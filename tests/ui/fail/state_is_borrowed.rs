use tool_runtime::prelude::*;
use tool_runtime::Principal;

struct Db;

/// Count.
#[tool]
async fn count(_db: Db) {}

/// Count again.
#[tool]
async fn count_again(
    /// The database.
    _db: Db,
) {
}

/// Name the caller.
#[tool]
async fn who(_principal: Principal) {}

/// Count, perhaps.
#[tool]
async fn count_perhaps(_db: Option<Db>) {}

fn main() {}
