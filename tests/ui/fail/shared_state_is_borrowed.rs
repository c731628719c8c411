use tool_runtime::prelude::*;
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock};

struct Db;

trait Store {}

/// Count.
#[tool]
async fn count(
    _db: Arc<Db>,
    /// A counter.
    _counter: Arc<Mutex<i64>>,
    /// A lock.
    _lock: RwLock<Vec<String>>,
    /// A list.
    _list: Rc<Vec<i64>>,
    _store: Arc<dyn Store + Send + Sync>,
    _context: Arc<ToolContext>,
) {
}

fn main() {}
