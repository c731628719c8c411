//! Prompts and resources in a pool that governs calls: each request is the governed call of a tool that is made for it.

use crate::dispatch::governed::Arrival;
use crate::dispatch::{ending, guard};
use crate::pool::{PooledTool, ToolPool};
use crate::tool::arguments::Arguments;
use crate::tool::concurrency::access::Access;
use crate::tool::context::ToolContext;
use crate::tool::offering::OfferingProperties;
use crate::tool::offering::prompt::PromptMessages;
use crate::tool::results::observation::Observation;
use crate::tool::tool::definition::ToolDefinition;
use crate::tool::tool::source::Source;
use crate::tool::tool::{Executor, Tool};
use crate::vocabulary::annotations::ToolAnnotations;
use crate::vocabulary::content::{ContentBlock, EmbeddedResource, ResourceContents};
use crate::vocabulary::error::{CallError, ErrorClass};
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::sync::lock;
use std::sync::{Arc, Mutex};

/// Limit on the length of a name in a record, in bytes.
const MAX_NAME: usize = 8 * 1024;

/// The name of a prompt or a resource. It is displayed as that of a tool.
#[derive(Clone, Copy)]
pub(super) struct OfferingName<'a> {
    /// [`RESOURCES`](crate::govern::RESOURCES) or [`PROMPTS`](crate::govern::PROMPTS).
    pub(super) kind: &'static str,
    /// The URI of a resource, or the name of a prompt.
    pub(super) name: &'a str,
}

impl std::fmt::Display for OfferingName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.kind, self.name)
    }
}

/// A prompt or a resource, as policies, limits and records see it.
pub(super) struct Requested<'a> {
    pub(super) name: OfferingName<'a>,
    pub(super) description: &'a str,
    pub(super) terms: &'a OfferingProperties,
    /// `None` if it was removed meanwhile.
    pub(super) source: Option<Source>,
    /// The arguments, as JSON text.
    pub(super) arguments: String,
}

/// The result of a prompt or a resource, which a record shows.
pub(super) trait Recorded: Send + 'static {
    fn observation(&self) -> Observation;
}

impl Recorded for PromptMessages {
    fn observation(&self) -> Observation {
        let blocks = self.messages.iter().map(|message| message.content.clone());
        blocks.fold(Observation::default(), Observation::with_content)
    }
}

impl Recorded for Option<Vec<ResourceContents>> {
    fn observation(&self) -> Observation {
        let contents = self.iter().flatten().cloned();
        let blocks = contents.map(|it| ContentBlock::Resource(Box::new(EmbeddedResource::new(it))));
        blocks.fold(Observation::default(), Observation::with_content)
    }
}

/// Runs the work of a prompt or a resource as a governed call. The work gets the arguments, which a person may have
/// changed.
///
/// # Errors
/// Those of the work, and of all stages of a call.
pub(super) async fn run<T, W>(
    pool: &ToolPool,
    requested: Requested<'_>,
    context: &ToolContext,
    work: impl FnOnce(String, ToolContext) -> W + Send + 'static,
) -> Result<T, CallError>
where
    T: Recorded,
    W: Future<Output = Result<T, CallError>> + Send + 'static,
{
    let name = requested.full_name()?;
    let output = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&output);
    let work: Work = Box::new(|arguments, context| {
        Box::pin(async move {
            let result = work(arguments, context).await?;
            let observation = result.observation();
            *lock(&slot) = Some(result);
            Ok(observation)
        })
    });
    let tool = requested.tool(name, work);
    let arguments = &*requested.arguments;
    let source = requested.source.unwrap_or(Source::Custom);
    let found = PooledTool::offering(tool.clone(), source);
    let arrival = Arrival { name: tool.name(), arguments, context, found: Ok(found) };
    guard::catch_and_report(tool.name(), pool.governed(arrival)).await?;
    let result = lock(&output).take();
    result.ok_or_else(|| CallError::new(ErrorClass::Internal, super::internal(tool.name())))
}

/// The error of a request for what the pool does not have, which is recorded.
pub(super) async fn unknown(
    pool: &ToolPool,
    name: OfferingName<'_>,
    arguments: &str,
    context: &ToolContext,
    error: CallError,
) -> CallError {
    if !pool.has_governors() {
        return error;
    }
    let name = name.to_string();
    let again = CallError::new(error.class(), error.message());
    let ended = ending::end_unknown(pool, &name, arguments, context, error).await;
    ended.err().unwrap_or(again)
}

impl Requested<'_> {
    /// # Errors
    /// The name cannot be shown as it is.
    fn full_name(&self) -> Result<String, CallError> {
        let OfferingName { name, .. } = self.name;
        match name.len() > MAX_NAME || name.contains(char::is_control) {
            true => Err(super::nothing_at(name)),
            false => Ok(self.name.to_string()),
        }
    }

    fn tool(&self, name: String, work: Work) -> Tool {
        let hints = ToolAnnotations::default().with_read_only(true).with_open_world(false);
        let definition = ToolDefinition::new(name, self.description).with_annotations(hints);
        let tool = Tool::new(definition, Once(Mutex::new(Some(work))));
        tool.with_timeout(self.terms.timeout)
    }
}

type Work = Box<
    dyn FnOnce(String, ToolContext) -> BoxFuture<'static, Result<Observation, CallError>> + Send,
>;

/// Runs its work at the first call.
struct Once(Mutex<Option<Work>>);

impl Executor for Once {
    fn call<'a>(
        &'a self,
        arguments: Arguments<'a>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        let work = lock(&self.0).take();
        Box::pin(async move {
            let again = || CallError::new(ErrorClass::Internal, "it was read before");
            work.ok_or_else(again)?(arguments.as_str().to_owned(), context.clone()).await
        })
    }

    fn access(&self, _: Arguments<'_>) -> Result<Access, CallError> {
        Ok(Access::none())
    }
}
