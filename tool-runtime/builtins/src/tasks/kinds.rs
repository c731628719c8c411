//! Kinds of agents that exist with every spawner: they only read.

use tool_runtime::__seam::listed;
use tool_runtime::agent::{AgentSpawner, SpawnRequest};
use tool_runtime::matching::ToolPattern;
use tool_runtime::pool::Selector;
use tool_runtime::{ToolError, ToolPool};

/// The kind without a name: all tools of the caller.
pub(super) const GENERAL: &str = "general-purpose";
/// Requests to the model.
const MAX_TURNS: usize = 10;
/// Tools that only read, but are for the agent that talks with the user.
const NOT_FOR_READERS: [&str; 6] =
    ["AskUser", "pause_for_human", "EnterPlanMode", "ExitPlanMode", "TaskOutput", "ToolSearch"];

const EXPLORE: &str = "You explore. Find out what you are asked about, with the tools that you have; they only read. \
    Search broadly first, then read what matters. Answer with what you found, and where: paths, lines, names. Say \
    what you did not find.";
const PLAN: &str = "You plan. Read what the task touches, with the tools that you have; they only read. Answer with a \
    plan: the steps in order, the code that changes, how each step is checked, and what could go wrong. Do not carry \
    it out.";

/// The kinds of this module: name, instructions.
const KINDS: [(&str, &str); 2] = [("Explore", EXPLORE), ("Plan", PLAN)];

/// Sets the kind of a request. A kind of the spawner comes before one of this module.
///
/// # Errors
/// The kind is unknown; the text lists those that exist.
pub(super) fn apply(
    request: SpawnRequest,
    name: &str,
    spawner: &dyn AgentSpawner,
    pool: &ToolPool,
) -> Result<SpawnRequest, ToolError> {
    let offered = spawner.kinds();
    if offered.iter().any(|kind| kind.name == name) {
        return Ok(request.kind(name));
    }
    if name == GENERAL {
        return Ok(request);
    }
    let Some((name, system)) = KINDS.iter().find(|(known, _)| *known == name) else {
        let own = [GENERAL].into_iter().chain(KINDS.map(|(name, _)| name));
        let known = listed(own.chain(offered.iter().map(|kind| kind.name.as_str())));
        let text = format!("`{name}` is not a type of agent; `subagent_type` is one of {known}");
        return Err(ToolError::user(text));
    };
    let max_turns = request.max_turns.unwrap_or(MAX_TURNS);
    let request = request.tools(readers(pool)?).max_turns(max_turns);
    // One that is resumed has its name and instructions.
    Ok(match request.resume {
        Some(_) => request,
        None if request.name.is_some() => request.system(*system),
        None => request.system(*system).name(*name),
    })
}

/// The tools of a pool that only read, by hints that are trusted.
fn readers(pool: &ToolPool) -> Result<Vec<ToolPattern>, ToolError> {
    let selector: Selector = "hint:read_only".parse().map_err(ToolError::internal)?;
    let snapshot = pool.snapshot();
    let is_for_readers = |name: &&str| {
        let own = name.rsplit('.').next().unwrap_or(name);
        !NOT_FOR_READERS.contains(&own)
    };
    let names = snapshot.picked(&selector).map(|tool| tool.name()).filter(is_for_readers);
    names.map(|name| name.parse().map_err(ToolError::internal)).collect()
}
