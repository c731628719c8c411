//! Typed calls of tools whose code is elsewhere: of external servers.

use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass};
use crate::observation::Observation;
use crate::pool::ToolPool;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::convert::identity;

/// The arguments of an external tool as a type, written by `external_tools!`.
///
/// A call passes all stages, as one by JSON does: hooks, limits, and the schema of the live server, which
/// may be newer than the type.
pub trait ExternalAction: Serialize + Send + Sized {
    /// The tool's id in the pool.
    const NAME: &'static str;

    /// The type of its structured result, or [`Observation`] if the tool declares none.
    type Output;

    #[doc(hidden)]
    fn output(observation: Observation) -> Result<Self::Output, CallError>;

    /// Calls the tool through a pool.
    ///
    /// # Errors
    /// Those of a call by JSON; the error result of the tool; a structured result that is not of the
    /// type.
    fn call(self, pool: &ToolPool) -> impl Future<Output = Result<Self::Output, CallError>> + Send {
        async move {
            Self::output(called(Self::NAME, to_json(&self), pool, pool.shared_context()).await?)
        }
    }

    /// The same in a context. A tool that calls another one passes its own.
    ///
    /// # Errors
    /// As [`Self::call`].
    fn call_with(
        self,
        pool: &ToolPool,
        context: &ToolContext,
    ) -> impl Future<Output = Result<Self::Output, CallError>> + Send {
        async move {
            let nested = context.check_nesting();
            nested.map_err(|too_deep| CallError::new(ErrorClass::Denied, too_deep))?;
            let context = pool.hosting(Cow::Borrowed(context));
            Self::output(called(Self::NAME, to_json(&self), pool, &context).await?)
        }
    }
}

fn to_json(action: &impl Serialize) -> Result<String, CallError> {
    let json = serde_json::to_string(action);
    json.map_err(|error| {
        CallError::new(ErrorClass::Input, format!("the arguments are not JSON: {error}"))
    })
}

/// The result of a call that did not fail.
async fn called(
    name: &str,
    json: Result<String, CallError>,
    pool: &ToolPool,
    context: &ToolContext,
) -> Result<Observation, CallError> {
    let observation = pool.dispatch(pool.find(name), name, &json?, context, identity).await?;
    match observation.is_error() {
        true => Err(CallError::new(ErrorClass::Tool, observation.to_text())),
        false => Ok(observation),
    }
}

/// The structured result of a call as a type.
///
/// # Errors
/// The result has none, or one that is not of the type.
#[doc(hidden)]
pub fn structured_output<T: DeserializeOwned>(
    name: &str,
    observation: Observation,
) -> Result<T, CallError> {
    let failed =
        |what: &str| CallError::new(ErrorClass::Tool, format!("the result of `{name}` {what}"));
    let json = observation.structured_json().ok_or_else(|| failed("has no structured value"))?;
    serde_json::from_str(json)
        .map_err(|error| failed("is not of the expected type").with_detail(error.to_string()))
}
