//! Pools of linked tools, of a given size.

use crate::case::Case;
use tool_runtime::tool::Registration;
use tool_runtime::{ToolPool, ToolPoolBuilder};

mod fillers {
    //! Minimal tools: only the lookup of their names matters.

    use tool_runtime::prelude::*;

    include!(concat!(env!("OUT_DIR"), "/ours.rs"));
}

include!(concat!(env!("OUT_DIR"), "/all.rs"));

/// A pool of all linked tools.
pub fn whole_pool() -> ToolPool {
    let pool = ToolPool::builder().linked().build();
    pool.expect("no two tools have one name")
}

/// A pool of `size` tools, including that of the case.
///
/// # Panics
/// If fewer are linked.
pub fn pool(case: Case, size: usize) -> ToolPool {
    builder(case, size).build().expect("no two tools have one name")
}

/// The builder of [`pool`].
///
/// # Panics
/// If fewer are linked.
pub fn builder(case: Case, size: usize) -> ToolPoolBuilder {
    let tools = inventory::iter::<Registration>.into_iter();
    let mut tools: Vec<_> = tools.map(Registration::tool).collect();
    tools.sort_by_key(|tool| tool.name() != case.name());
    assert!(tools.len() >= size, "only {} tools are linked", tools.len());
    tools.truncate(size);
    tools.into_iter().fold(ToolPool::builder(), |pool, tool| pool.add(tool))
}
