//! Pools of a given size, of tools that are linked in.

use crate::case::Case;
use tool_runtime::{Registration, ToolPool, ToolPoolBuilder};

mod fillers {
    //! A filler is as small as possible: only the lookup of its name matters.

    use tool_runtime::prelude::*;

    include!(concat!(env!("OUT_DIR"), "/ours.rs"));
}

/// All tools that are linked in.
pub const ALL: usize = 1000;

/// Everything that is linked in.
pub fn whole_pool() -> ToolPool {
    let pool = ToolPool::builder().linked().build();
    pool.expect("no two tools have one name")
}

/// A pool of `size` tools, that of the case among them.
///
/// # Panics
/// If fewer are linked in.
pub fn pool(case: Case, size: usize) -> ToolPool {
    builder(case, size).build().expect("no two tools have one name")
}

/// The same, not yet built.
///
/// # Panics
/// If fewer are linked in.
pub fn builder(case: Case, size: usize) -> ToolPoolBuilder {
    let tools = inventory::iter::<Registration>.into_iter();
    let mut tools: Vec<_> = tools.map(Registration::tool).collect();
    tools.sort_by_key(|tool| tool.name() != case.name());
    assert!(tools.len() >= size, "only {} tools are linked in", tools.len());
    tools.truncate(size);
    tools.into_iter().fold(ToolPool::builder(), |pool, tool| pool.add(tool))
}
