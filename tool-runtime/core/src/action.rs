//! A tool's typed input and its execution: what `#[tool]` generates from a function.

use crate::access::Access;
use crate::arguments::{Arguments, DecodeError};
use crate::context::ToolContext;
use crate::definition::ToolDefinition;
use crate::error::ToolError;
use crate::future::BoxFuture;
use crate::observation::Observation;
use crate::output::ObserveRef;
use crate::parameter::Settings;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// A tool's typed input and its execution.
///
/// `#[tool] async fn add(a: i64) -> i64` generates `struct AddAction { a: i64 }` and this
/// implementation. Write it by hand when there is no function to annotate:
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::{Arguments, DecodeError};
///
/// /// The arguments of `greet`.
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Greet {
///     /// Whom to greet.
///     name: String,
/// }
///
/// impl Action for Greet {
///     const NAME: &'static str = "greet";
///     type Output = String;
///
///     fn definition() -> ToolDefinition {
///         ToolDefinition::new(Self::NAME, "Greet somebody.").with_input::<Self>()
///     }
///
///     fn decode(arguments: Arguments<'_>) -> Result<Self, DecodeError> {
///         arguments.parse()
///     }
///
///     async fn run(self, _: &ToolContext) -> String {
///         format!("Hello, {}!", self.name)
///     }
///
///     fn observe(output: String) -> Result<Observation, ToolError> {
///         output.into_observation()
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = ToolPool::builder().tool::<Greet>().build()?;
/// let result = pool.call(ToolCall::new("greet", r#"{"name":"Ada"}"#)).await;
/// assert_eq!(result.observation().to_text(), "Hello, Ada!");
/// # Ok::<(), tool_runtime::PoolError>(())
/// # }).unwrap();
/// ```
pub trait Action: Sized + Send + 'static {
    /// The tool's id.
    const NAME: &'static str;

    /// Return type.
    type Output;

    /// Resources that a call touches, where that is declared: calls without conflict may then run
    /// together, and calls that do wait for each other. Default: `None`, nothing is declared.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// # use tool_runtime::Access;
    /// /// Read a file.
    /// #[tool(read_only, reads("file:{path}"))]
    /// async fn read(
    ///     /// The file's path.
    ///     path: String,
    /// ) -> std::io::Result<String> {
    ///     std::fs::read_to_string(path)
    /// }
    ///
    /// let access = ReadAction::ACCESS.unwrap()(&ReadAction { path: "/tmp/../a".into() });
    /// assert_eq!(access, Access::none().read("file:/a"));
    /// ```
    const ACCESS: Option<fn(&Self) -> Access> = None;

    /// The definition of the tool, for models and clients.
    fn definition() -> ToolDefinition;

    /// Decodes the arguments in one pass.
    ///
    /// # Errors
    /// The first mismatch. The definition's schema is then walked, so that the
    /// model receives all issues.
    fn decode(arguments: Arguments<'_>) -> Result<Self, DecodeError>;

    /// Does the work. Dropping the future cancels it.
    fn run(self, context: &ToolContext) -> impl Future<Output = Self::Output> + Send;

    /// Converts the output of `run` to the observation for models and clients.
    ///
    /// # Errors
    /// The tool's own error.
    fn observe(output: Self::Output) -> Result<Observation, ToolError>;

    /// The text that shows a call to the user. Default: its name and arguments.
    fn visualize(&self) -> Option<String> {
        None
    }

    /// Whether the values satisfy the constraints that the schema states; decoding checks
    /// them too. Default: they do.
    ///
    /// # Errors
    /// The first constraint that is broken.
    fn check(&self) -> Result<(), DecodeError> {
        Ok(())
    }

    /// The arguments as a JSON object, where all of their types are `Serialize`.
    #[doc(hidden)]
    fn to_json(&self) -> Option<String> {
        None
    }

    /// The conversion of an output that is still needed, where its type allows one.
    #[doc(hidden)]
    fn observe_ref() -> Option<ObserveRef<Self::Output>> {
        None
    }

    #[doc(hidden)]
    fn settings() -> Settings {
        Settings::default()
    }
}

/// Runs a plain function on the blocking pool. Called by the code generated for a plain `fn`.
///
/// # Panics
/// If the function panics, or without a tokio runtime.
pub fn blocking<T, F>(
    context: &ToolContext,
    function: F,
) -> impl Future<Output = T> + Send + use<T, F>
where
    T: Sendable + 'static,
    F: FnOnce(&ToolContext) -> T + Send + 'static,
{
    // At every end of the call the future is dropped, which the function can query.
    let ended = match context.cancellation() {
        Some(token) => token.child_token(),
        None => CancellationToken::new(),
    };
    let context = context.clone().with_cancellation(ended.clone());
    let ended = ended.drop_guard();
    // The function runs on after a cancelled call and keeps the resources it holds until then.
    let guards = context.guards();
    let (sender, receiver) = oneshot::channel();
    let thread = thread_for(&context);
    let run = Box::new(move || {
        let _guards = guards;
        let outcome = catch_unwind(AssertUnwindSafe(|| function(&context)));
        // The receiver has been dropped if the call was cancelled.
        drop(sender.send(outcome));
    });
    async move {
        let _ended = ended;
        spawn_blocking(thread, run).await;
        match receiver.await {
            Ok(Ok(output)) => output,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => panic!("the runtime shut down before the function ran"),
        }
    }
}

/// A permit for a thread. A server reserves some threads for other calls.
type Thread = Option<BoxFuture<'static, Box<dyn Send>>>;

#[cfg(feature = "isolation")]
fn thread_for(context: &ToolContext) -> Thread {
    let isolation = context.isolation()?.clone();
    Some(Box::pin(async move { Box::new(isolation.thread_for_plain().await) as Box<dyn Send> }))
}

#[cfg(not(feature = "isolation"))]
fn thread_for(_: &ToolContext) -> Thread {
    None
}

/// The closure is boxed so that tokio's task is compiled once and not per tool.
async fn spawn_blocking(thread: Thread, work: Box<dyn FnOnce() + Send>) {
    let thread = match thread {
        Some(thread) => Some(thread.await),
        None => None,
    };
    drop(tokio::task::spawn_blocking(move || {
        let _thread = thread;
        work();
    }));
}

/// A return value that a plain function can send back from the blocking pool.
#[diagnostic::on_unimplemented(
    message = "a plain `fn` runs on a thread of its own, and `{Self}` cannot be sent back from there",
    label = "it returns a `{Self}`, which is not `Send`",
    note = "return a type that is `Send`, as in `Box<dyn Error + Send + Sync>`, or write the option `inline` to stay on the runtime's thread"
)]
pub trait Sendable: Send {}

#[diagnostic::do_not_recommend]
impl<T: Send> Sendable for T {}
