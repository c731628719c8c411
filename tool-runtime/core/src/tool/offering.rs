//! Common parts of prompts and resources.

mod builder;

pub use builder::OfferingBuilder;

use crate::tool::arguments::{Arguments, DecodeError};
use crate::tool::completion::ArgumentCompleter;
use crate::tool::completion::Completers;
use crate::tool::context::ToolContext;
use crate::tool::input::InputModel;
use crate::tool::parameter::Settings;
use crate::tool::texts::{TextArguments, TextSchema};
use crate::tool::tool::Origin;
use crate::vocabulary::error::{CallError, ErrorClass, ToolError};
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::need::Need;
use crate::vocabulary::sealed::Sealed;
use std::any::TypeId;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

/// A definition and its implementation: a prompt or a resource.
pub(crate) struct Offering<D, R: ?Sized> {
    pub(crate) definition: D,
    pub(crate) terms: OfferingProperties,
    pub(crate) run: Box<R>,
}

impl<D, R: ?Sized> Offering<D, R> {
    /// Sets the location in the source code. Called before it is shared.
    pub(crate) fn at(mut this: Arc<Self>, origin: Origin) -> Arc<Self> {
        if let Some(own) = Arc::get_mut(&mut this) {
            own.terms.origin = Some(origin);
        }
        this
    }

    /// Whether both are the same offering, from any source.
    pub(crate) fn is_same(this: &Arc<Self>, other: &Arc<Self>) -> bool {
        let action = this.terms.action;
        action.is_some() && action == other.terms.action || Arc::ptr_eq(this, other)
    }
}

/// Properties of a prompt or a resource that the pool needs.
#[derive(Default)]
pub(crate) struct OfferingProperties {
    pub(crate) needs: &'static [Need],
    pub(crate) timeout: Option<Duration>,
    pub(crate) completers: Completers,
    pub(crate) action: Option<TypeId>,
    pub(crate) origin: Option<Origin>,
}

/// Reads the arguments of an action.
pub(crate) struct TextInput {
    schema: TextSchema,
    model: InputModel,
}

impl TextInput {
    /// Reads from an action how its arguments are read, and its terms for the pool.
    pub(crate) fn new<A: 'static>(
        name: &str,
        settings: &Settings,
        completers: &'static [ArgumentCompleter],
    ) -> (Self, OfferingProperties) {
        Self::erased(name, settings, completers, TypeId::of::<A>())
    }

    fn erased(
        name: &str,
        settings: &Settings,
        completers: &'static [ArgumentCompleter],
        action: TypeId,
    ) -> (Self, OfferingProperties) {
        let schema = TextSchema::new(settings.parameters);
        let terms = OfferingProperties {
            needs: settings.needs,
            timeout: settings.timeout,
            completers: Completers::from_schema(&schema, settings.parameters, completers),
            action: Some(action),
            origin: None,
        };
        (Self { schema, model: InputModel::of_table(name, settings.parameters) }, terms)
    }

    /// Decodes the arguments and runs the function. Invalid arguments are an error.
    pub(crate) fn run<'a, T: Send + 'a>(
        &self,
        texts: &TextArguments,
        enter: impl FnOnce(Arguments<'_>) -> Result<Running<'a, T>, DecodeError>,
    ) -> Answer<'a, T> {
        match self.start(texts, enter) {
            Ok(running) => Box::pin(async move { running.await.map_err(CallError::from) }),
            Err(rejection) => Box::pin(ready(Err(rejection))),
        }
    }

    fn start<T>(
        &self,
        texts: &TextArguments,
        enter: impl FnOnce(Arguments<'_>) -> Result<T, DecodeError>,
    ) -> Result<T, CallError> {
        let json = self.schema.json(texts);
        let arguments = Arguments::new(&json);
        self.model.check(arguments)?;
        enter(arguments).map_err(|error| self.model.explain(arguments, &error))
    }
}

/// An action that runs.
pub(crate) type Running<'a, T> = BoxFuture<'a, Result<T, ToolError>>;

/// The result of a request.
pub(crate) type Answer<'a, T> = BoxFuture<'a, Result<T, CallError>>;

/// Rejects arguments of a closure, which has no decoder: those that are missing, and those that
/// it does not have.
///
/// # Errors
/// The first problem.
pub(crate) fn check<'a>(
    name: &str,
    arguments: impl Iterator<Item = (&'a str, bool)> + Clone,
    texts: &TextArguments,
) -> Result<(), CallError> {
    let rejected = |what: String| {
        CallError::new(ErrorClass::Input, format!("invalid arguments for `{name}`: {what}"))
    };
    if let Some((missing, _)) =
        arguments.clone().find(|(name, is_required)| *is_required && !texts.contains_key(*name))
    {
        return Err(rejected(format!("missing required argument `{missing}`")));
    }
    match texts.keys().find(|given| !arguments.clone().any(|(name, _)| name == *given)) {
        Some(unknown) => Err(rejected(format!("unknown argument `{unknown}`"))),
        None => Ok(()),
    }
}

/// The closure of a prompt or a resource: `Fn() -> Fut`, `Fn(TextArguments) -> Fut` or
/// `Fn(TextArguments, ToolContext) -> Fut`.
///
/// ```
/// use tool_runtime::Prompt;
/// use tool_runtime::tool::TextHandler;
///
/// fn prompt<M: 'static>(handler: impl TextHandler<M, Output = &'static str>) -> Prompt {
///     Prompt::builder("hello", "Say hello.").handler(handler)
/// }
///
/// assert_eq!(prompt(|| async { "Hello!" }).name(), "hello");
/// ```
#[diagnostic::on_unimplemented(
    message = "this closure cannot be behind a prompt or a resource",
    note = "write `|| async {{ .. }}`, `|arguments: TextArguments| async move {{ .. }}` or `|arguments: TextArguments, context: ToolContext| async move {{ .. }}`"
)]
pub trait TextHandler<M>: Send + Sync + 'static {
    /// Output.
    type Output: Send;

    #[doc(hidden)]
    fn start(
        &self,
        arguments: &TextArguments,
        context: &ToolContext,
        _: Sealed,
    ) -> impl Future<Output = Self::Output> + Send + use<Self, M>;
}

#[diagnostic::do_not_recommend]
impl<F, R> TextHandler<(R,)> for F
where
    F: Fn() -> R + Send + Sync + 'static,
    R: Future<Output: Send> + Send,
{
    type Output = R::Output;

    fn start(
        &self,
        _: &TextArguments,
        _: &ToolContext,
        _: Sealed,
    ) -> impl Future<Output = R::Output> + Send + use<F, R> {
        self()
    }
}

#[diagnostic::do_not_recommend]
impl<F, R> TextHandler<(TextArguments, R)> for F
where
    F: Fn(TextArguments) -> R + Send + Sync + 'static,
    R: Future<Output: Send> + Send,
{
    type Output = R::Output;

    fn start(
        &self,
        arguments: &TextArguments,
        _: &ToolContext,
        _: Sealed,
    ) -> impl Future<Output = R::Output> + Send + use<F, R> {
        self(arguments.clone())
    }
}

#[diagnostic::do_not_recommend]
impl<F, R> TextHandler<(TextArguments, ToolContext, R)> for F
where
    F: Fn(TextArguments, ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output: Send> + Send,
{
    type Output = R::Output;

    fn start(
        &self,
        arguments: &TextArguments,
        context: &ToolContext,
        _: Sealed,
    ) -> impl Future<Output = R::Output> + Send + use<F, R> {
        self(arguments.clone(), context.clone())
    }
}
