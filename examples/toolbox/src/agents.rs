//! The models of sub-agents.

use crate::BoxError;
use std::sync::Arc;
use tool_runtime::cli::ProgramArguments;
use tool_runtime::policy::Permissions;
use tool_runtime_agent::{Model, ScriptedModel, SubAgents};

/// The spawner of sub-agents, if a model is configured. `permissions` are those of the pool, if it has some.
pub(crate) fn agents(
    arguments: &ProgramArguments,
    permissions: Option<Permissions>,
) -> Result<Option<Arc<SubAgents>>, BoxError> {
    let model: Arc<dyn Model> = match (arguments.value("model"), arguments.value("model-script")) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => return Err("give either `--model` or `--model-script`".into()),
        (Some(name), None) => named(name, arguments.value("model-url"))?,
        (None, Some(file)) => {
            let model = ScriptedModel::from_file(file);
            Arc::new(model.map_err(|error| format!("the model in `{file}`: {error}"))?)
        }
    };
    let agents = SubAgents::new(model);
    Ok(Some(Arc::new(match permissions {
        Some(permissions) => agents.permissions(permissions),
        None => agents,
    })))
}

#[cfg(feature = "genai")]
fn named(name: &str, url: Option<&str>) -> Result<Arc<dyn Model>, BoxError> {
    use tool_runtime_genai::GenaiModel;
    use tool_runtime_genai::genai::ServiceTarget;
    use tool_runtime_genai::genai::resolver::Endpoint;

    let Some(url) = url.map(str::to_owned) else { return Ok(Arc::new(GenaiModel::new(name)?)) };
    let target = move |mut target: ServiceTarget| {
        target.endpoint = Endpoint::from_owned(url.clone());
        Ok(target)
    };
    let client = GenaiModel::client_builder()?.with_service_target_resolver_fn(target).build()?;
    Ok(Arc::new(GenaiModel::with_client(client, name)?))
}

#[cfg(not(feature = "genai"))]
fn named(_: &str, _: Option<&str>) -> Result<Arc<dyn Model>, BoxError> {
    Err("this build has no models of APIs; build it with `--features genai`".into())
}
