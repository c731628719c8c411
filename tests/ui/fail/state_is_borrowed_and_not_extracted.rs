use std::sync::Arc;
use tool_runtime::prelude::*;

struct State<T>(T);

struct Json<T>(T);

struct Db;

struct Point;

trait Clock {}

/// Count.
#[tool]
async fn count(State(_db): State<Db>, State(_shared): State<Arc<Db>>) {}

/// Tell the time.
#[tool]
async fn time(State(_clock): State<Arc<dyn Clock + Send + Sync>>) {}

/// Go.
#[tool]
async fn go(Json(_to): Json<Point>) {}

fn main() {}
