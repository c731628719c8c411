//! Completes an argument while a user types it.

use crate::tool::arguments::parameter::Parameter;
use crate::tool::context::ToolContext;
use crate::tool::offering::text_arguments::{TextArguments, TextSchema};
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::sealed::Sealed;

/// Suggested values for an argument of a prompt, or a variable of a resource template.
///
/// ```
/// use tool_runtime::completion::Completion;
///
/// let completion = Completion::from_values(vec!["Ada".into(), "Adam".into()]);
/// assert_eq!((completion.total, completion.has_more), (2, false));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The best values, at most 100.
    pub values: Vec<String>,
    /// The total number of matching values.
    pub total: usize,
    /// Whether there are more than those given.
    pub has_more: bool,
}

impl Completion {
    /// MCP's limit for one answer.
    const MAX_VALUES: usize = 100;

    /// Accepts all matching values, the best first.
    pub fn from_values(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(Self::MAX_VALUES);
        Self { values, total, has_more: total > Self::MAX_VALUES }
    }
}

/// The values of other arguments, for functions that complete one: from
/// `context.get::<CompletionContext>()`.
///
/// ```
/// use tool_runtime::ToolContext;
/// use tool_runtime::completion::CompletionContext;
///
/// fn branches(prefix: String, context: &ToolContext) -> Vec<String> {
///     let given = context.get::<CompletionContext>();
///     let repository = given.and_then(|given| given.arguments.get("repository"));
///     vec![format!("{}/{prefix}main", repository.map_or("any", |name| name))]
/// }
///
/// let given = [("repository".to_owned(), "cargo".to_owned())];
/// let given = CompletionContext::new(given.into());
/// assert_eq!(branches(String::new(), &ToolContext::default().with(given)), ["cargo/main"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompletionContext {
    /// The known values of the other arguments.
    pub arguments: TextArguments,
}

impl CompletionContext {
    /// The values of other arguments.
    pub fn new(arguments: TextArguments) -> Self {
        Self { arguments }
    }
}

/// A function that completes an argument: `fn(prefix: String) -> Vec<String>`, also `async`, also
/// with a second parameter `&ToolContext`.
///
/// A completer receives the typed text and returns matching values, the best first. One that is not
/// `async` must not block.
///
/// ```
/// use tool_runtime::ToolContext;
/// use tool_runtime::completion::Complete;
///
/// fn is_completer<M>(_: impl Complete<M>) {}
///
/// fn names(prefix: String) -> Vec<String> { vec![prefix + "a"] }
/// async fn titles(prefix: String, context: &ToolContext) -> Vec<String> { vec![prefix] }
/// is_completer(names);
/// is_completer(titles);
/// ```
#[diagnostic::on_unimplemented(
    message = "this cannot complete an argument",
    label = "no function from a prefix to values",
    note = "write `fn name(prefix: String) -> Vec<String>`; it may be `async`, and a second parameter may be `context: &ToolContext`"
)]
pub trait Complete<M>: Send + Sync + 'static {
    #[doc(hidden)]
    const SEALED: Sealed;

    #[doc(hidden)]
    fn complete<'a>(&self, prefix: String, context: &'a ToolContext) -> BoxFuture<'a, Vec<String>>;
}

/// A return value of a completer.
pub trait Values: Send {
    /// The values as text.
    fn into_strings(self) -> Vec<String>;
}

impl Values for Vec<String> {
    fn into_strings(self) -> Vec<String> {
        self
    }
}

impl Values for Vec<&'static str> {
    fn into_strings(self) -> Vec<String> {
        self.into_iter().map(str::to_owned).collect()
    }
}

#[diagnostic::do_not_recommend]
impl<F, V> Complete<(V,)> for F
where
    F: Fn(String) -> V + Send + Sync + 'static,
    V: Values,
{
    const SEALED: Sealed = Sealed;

    fn complete<'a>(&self, prefix: String, _: &'a ToolContext) -> BoxFuture<'a, Vec<String>> {
        Box::pin(std::future::ready(self(prefix).into_strings()))
    }
}

#[diagnostic::do_not_recommend]
impl<F, V> Complete<(V, ToolContext)> for F
where
    F: Fn(String, &ToolContext) -> V + Send + Sync + 'static,
    V: Values,
{
    const SEALED: Sealed = Sealed;

    fn complete<'a>(&self, prefix: String, context: &'a ToolContext) -> BoxFuture<'a, Vec<String>> {
        Box::pin(std::future::ready(self(prefix, context).into_strings()))
    }
}

/// Marks functions that are `async`.
pub struct AsyncCompleter<T>(T);

#[diagnostic::do_not_recommend]
impl<F, R> Complete<AsyncCompleter<R>> for F
where
    F: Fn(String) -> R + Send + Sync + 'static,
    R: Future<Output: Values> + Send + 'static,
{
    const SEALED: Sealed = Sealed;

    fn complete<'a>(&self, prefix: String, _: &'a ToolContext) -> BoxFuture<'a, Vec<String>> {
        let values = self(prefix);
        Box::pin(async move { values.await.into_strings() })
    }
}

/// A function whose future borrows the context.
pub trait Borrowing<'a>: Send + Sync + 'static {
    /// Starts the function.
    fn start(
        &self,
        prefix: String,
        context: &'a ToolContext,
    ) -> impl Future<Output: Values> + Send + 'a;
}

#[diagnostic::do_not_recommend]
impl<'a, F, R> Borrowing<'a> for F
where
    F: Fn(String, &'a ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output: Values> + Send + 'a,
{
    fn start(
        &self,
        prefix: String,
        context: &'a ToolContext,
    ) -> impl Future<Output: Values> + Send + 'a {
        self(prefix, context)
    }
}

#[diagnostic::do_not_recommend]
impl<F: for<'a> Borrowing<'a>> Complete<AsyncCompleter<ToolContext>> for F {
    const SEALED: Sealed = Sealed;

    fn complete<'a>(&self, prefix: String, context: &'a ToolContext) -> BoxFuture<'a, Vec<String>> {
        let values = self.start(prefix, context);
        Box::pin(async move { values.await.into_strings() })
    }
}

/// A function that completes an argument.
#[derive(Clone, Copy)]
pub struct ArgumentCompleter {
    argument: &'static str,
    complete: for<'a> fn(String, &'a ToolContext) -> BoxFuture<'a, Vec<String>>,
}

impl ArgumentCompleter {
    /// Completes the argument of this name.
    pub const fn new(
        argument: &'static str,
        complete: for<'a> fn(String, &'a ToolContext) -> BoxFuture<'a, Vec<String>>,
    ) -> Self {
        Self { argument, complete }
    }
}

/// Completers of the arguments of one prompt or one template.
#[derive(Default)]
pub(crate) struct Completers(Vec<(String, Completer)>);

enum Completer {
    Choices(Vec<String>),
    Function(Box<Function>),
}

type Function = dyn for<'a> Fn(String, &'a ToolContext) -> BoxFuture<'a, Vec<String>> + Send + Sync;

impl Completers {
    /// The given functions, and for other arguments the values of their types.
    pub(crate) fn from_schema(
        schema: &TextSchema,
        parameters: &[Parameter],
        written: &'static [ArgumentCompleter],
    ) -> Self {
        let mut completers = Self::default();
        for parameter in parameters {
            let own_completer =
                written.iter().find(|completer| completer.argument == parameter.name);
            let choices = schema.choices(parameter);
            match own_completer {
                Some(own_completer) => completers.insert(parameter.name, own_completer.complete),
                None if choices.is_empty() => {}
                None => {
                    completers.0.push((parameter.name.to_owned(), Completer::Choices(choices)));
                }
            }
        }
        completers
    }

    pub(crate) fn insert(
        &mut self,
        argument: &str,
        function: impl for<'a> Fn(String, &'a ToolContext) -> BoxFuture<'a, Vec<String>>
        + Send
        + Sync
        + 'static,
    ) {
        self.0.push((argument.to_owned(), Completer::Function(Box::new(function))));
    }

    /// The arguments that are completed.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(argument, _)| argument.as_str())
    }

    /// All values for an argument that begin as `prefix` does; values of a function are not
    /// looked through.
    pub(crate) async fn complete(
        &self,
        argument: &str,
        prefix: &str,
        context: &ToolContext,
    ) -> Vec<String> {
        match self.0.iter().find(|(name, _)| name == argument).map(|(_, completer)| completer) {
            None => Vec::new(),
            Some(Completer::Function(function)) => function(prefix.to_owned(), context).await,
            Some(Completer::Choices(choices)) => {
                let begins = |choice: &&String| begins_with(choice, prefix);
                choices.iter().filter(begins).cloned().collect()
            }
        }
    }
}

fn begins_with(choice: &str, prefix: &str) -> bool {
    choice.to_lowercase().starts_with(&prefix.to_lowercase())
}
