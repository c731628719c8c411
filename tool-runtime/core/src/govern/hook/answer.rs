//! Return types of a hook's closure.

use super::{After, Before, Running};
use crate::vocabulary::error::ToolError;
use crate::vocabulary::sealed::Sealed;

/// Return type of a hook's closure: `T`, or a `Result<T, E>` with every `E` that is an error
/// or prints. `T` is [`Before`] or [`After`].
///
/// ```
/// use tool_runtime::ToolError;
/// use tool_runtime::hook::{Before, Hook, HookCall};
///
/// let certain = Hook::before("*", |_: HookCall| async { Before::proceed() });
/// let fallible = Hook::before("*", |call: HookCall| async move {
///     let forbidden = std::fs::read_to_string("forbidden.txt")?;
///     let is_forbidden = forbidden.lines().any(|tool| tool == call.name());
///     Ok::<_, ToolError>(if is_forbidden { Before::deny("not today") } else { Before::proceed() })
/// });
/// # let _ = (certain, fallible);
/// ```
#[diagnostic::on_unimplemented(
    message = "a hook cannot give back `{Self}`",
    label = "not `{T}`",
    note = "give back `{T}`, or `Result<{T}, E>` with an `E` that is an error or prints"
)]
pub trait HookAnswer<T> {
    #[doc(hidden)]
    fn into_answer(self, _: Sealed) -> Result<T, ToolError>;
}

impl HookAnswer<Self> for Before {
    fn into_answer(self, _: Sealed) -> Result<Self, ToolError> {
        Ok(self)
    }
}

impl HookAnswer<Self> for After {
    fn into_answer(self, _: Sealed) -> Result<Self, ToolError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T, E: Into<ToolError>> HookAnswer<T> for Result<T, E> {
    fn into_answer(self, _: Sealed) -> Result<T, ToolError> {
        self.map_err(Into::into)
    }
}

/// Type-erases the future of a closure.
pub(super) fn boxed<T, Fut>(future: Fut) -> Running<T>
where
    Fut: Future<Output: HookAnswer<T>> + Send + 'static,
{
    Box::pin(async move { future.await.into_answer(Sealed) })
}
