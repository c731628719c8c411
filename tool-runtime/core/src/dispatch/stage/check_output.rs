//! The output: checked against its schema, with the repairs of the call in its metadata.

use crate::govern::hook::HookCall;
use crate::pool::ToolPool;
use crate::tool::arguments::repair;
use crate::tool::results::observation::Observation;
use crate::tool::results::output_check::OutputModel;
use crate::vocabulary::error::CallError;

/// # Errors
/// The structured value does not match the output schema.
pub(in crate::dispatch) fn check_output(
    pool: &ToolPool,
    call: &HookCall,
    observation: Observation,
) -> Result<Observation, CallError> {
    let tool = call.tool();
    if pool.governance().checks_outputs || tool.checks_output() {
        let model = OutputModel::new(tool.definition());
        model.map_or(Ok(()), |model| model.check(&observation))?;
    }
    Ok(match call.repairs() {
        [] => observation,
        repairs => repair::note(observation, repairs),
    })
}
