//! Builds tools from closures.

use super::Tool;
use super::handler::{AccessOf, Handler, HandlerExecutor, TypedInput};
use crate::schema;
use crate::tool::concurrency::access::Access;
use crate::tool::results::observation::IntoObservation as _;
use crate::tool::tool::definition::{TaskSupport, ToolDefinition};
use crate::vocabulary::annotations::RetryMode;
use crate::vocabulary::content::Icon;
use crate::vocabulary::matching::{MatchAs, MatchedArgument};
use serde_json::{Map, Value};
use std::fmt;
use std::time::Duration;

/// Builds a tool from a closure.
///
/// ```
/// use tool_runtime::prelude::*;
/// use serde_json::{Map, Value, json};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Greet {
///     /// Name of the person.
///     name: String,
/// }
///
/// // Typed input, structured result.
/// let greet = Tool::builder("greet", "Greet a person.")
///     .read_only(true)
///     .handler(|greet: Greet| async move { Json(json!({ "text": format!("Hello, {}!", greet.name) })) });
///
/// // No input.
/// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
///
/// // Raw JSON with an explicit schema, and the context.
/// let raw = Tool::builder("raw", "Take anything.")
///     .input_schema(json!({ "type": "object" }))
///     .handler(|arguments: Map<String, Value>, _: ToolContext| async move { arguments.len() });
///
/// assert_eq!(greet.definition().argument("name").unwrap()["type"], "string");
/// # let _ = (ping, raw);
/// ```
pub struct ToolBuilder {
    definition: ToolDefinition,
    input_schema: Option<Value>,
    timeout: Option<Duration>,
    access: Option<Box<AccessOf>>,
    matched: Option<MatchedArgument>,
}

impl ToolBuilder {
    pub(super) fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            definition: ToolDefinition::new(name, description),
            input_schema: None,
            timeout: None,
            access: None,
            matched: None,
        }
    }

    /// Sets the title for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// Sets the hint that the tool changes nothing.
    #[must_use]
    pub fn read_only(mut self, hint: bool) -> Self {
        self.definition.annotations.read_only_hint = Some(hint);
        self
    }

    /// Sets the hint that the tool may destroy something.
    #[must_use]
    pub fn destructive(mut self, hint: bool) -> Self {
        self.definition.annotations.destructive_hint = Some(hint);
        self
    }

    /// Sets the hint that a repeated call changes nothing more.
    #[must_use]
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.definition.annotations.idempotent_hint = Some(hint);
        self
    }

    /// Sets whether a call may run again if its outcome is unknown. Default: as the hints say, so that
    /// a tool that is read-only or idempotent is safe to retry.
    #[must_use]
    pub fn retry_mode(mut self, mode: RetryMode) -> Self {
        self.definition.retry_mode = Some(mode);
        self
    }

    /// Sets the hint that the tool reaches the open world.
    #[must_use]
    pub fn open_world(mut self, hint: bool) -> Self {
        self.definition.annotations.open_world_hint = Some(hint);
        self
    }

    /// Adds tags, for filters.
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.definition.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// Adds scopes that a caller needs, see [`Principal::may_use`](crate::vocabulary::Principal::may_use).
    #[must_use]
    pub fn scopes<T: Into<String>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
        self.definition.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Adds an icon, for display.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.definition.icons.push(icon);
        self
    }

    /// Declares that calls report progress, see [`ToolContext::progress`](crate::tool::ToolContext::progress).
    #[must_use]
    pub fn reports_progress(mut self) -> Self {
        self.definition.reports_progress = true;
        self
    }

    /// Sets whether calls may run as MCP tasks. Default: [`TaskSupport::None`].
    #[must_use]
    pub fn task(mut self, support: TaskSupport) -> Self {
        self.definition.task = support;
        self
    }

    /// Sets MCP metadata.
    #[must_use]
    pub fn meta(mut self, meta: Map<String, Value>) -> Self {
        self.definition.meta = meta;
        self
    }

    /// Sets the input schema, instead of the one generated from the input type.
    #[must_use]
    pub fn input_schema(mut self, schema: impl Into<Value>) -> Self {
        self.input_schema = Some(schema.into());
        self
    }

    /// Sets the tool's own time limit. Default: the pool's.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Declares which resources a call reads and writes, from its valid arguments. Calls of a batch that do
    /// not conflict run concurrently. Default: undeclared.
    ///
    /// ```
    /// use tool_runtime::{Access, Tool};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Read {
    ///     /// The file's path.
    ///     path: String,
    /// }
    ///
    /// let read = Tool::builder("read", "Read a file.")
    ///     .access(|read| Access::none().read(format!("file:{}", read["path"].as_str().unwrap_or_default())))
    ///     .handler(|read: Read| async move { std::fs::read_to_string(read.path) });
    /// # let _ = read;
    /// ```
    #[must_use]
    pub fn access(
        mut self,
        access: impl Fn(&Map<String, Value>) -> Access + Send + Sync + 'static,
    ) -> Self {
        self.access = Some(Box::new(access));
        self
    }

    /// Sets the argument that patterns of declarations are about, as `#[arg(match_as = "shell")]` does: for
    /// `Bash(git *)`, the command. Default: none, and then a pattern allows nothing.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::matching::MatchAs;
    /// use tool_runtime::pool::DeclaredTools;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Read {
    ///     /// The file's path.
    ///     path: String,
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let read = Tool::builder("Read", "Read a file.")
    ///     .match_as("path", MatchAs::Path)
    ///     .handler(|read: Read| async move { read.path });
    /// let pool = ToolPool::builder().add(read).build()?;
    /// let _docs = pool.restrict_declared(&DeclaredTools::allow("Read(docs/**)"));
    /// let call = |arguments| pool.call(ToolCall::new("Read", arguments));
    /// assert!(!call(r#"{"path": "docs/a.md"}"#).await.is_error());
    /// assert!(call(r#"{"path": "key"}"#).await.is_error());
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn match_as(mut self, argument: impl Into<String>, kind: MatchAs) -> Self {
        self.matched = Some(MatchedArgument::new(argument, kind));
        self
    }

    /// Sets the handler and builds the tool.
    ///
    /// The closure takes no parameters, or the arguments, or the arguments and a [`ToolContext`], and
    /// returns a future of anything that is [`IntoObservation`]; a struct goes into
    /// [`Json`].
    ///
    /// [`ToolContext`]: crate::tool::ToolContext
    /// [`IntoObservation`]: crate::tool::IntoObservation
    /// [`Json`]: crate::tool::Json
    pub fn handler<H: Handler<M>, M: 'static>(mut self, handler: H) -> Tool {
        let own = H::INPUT.map(TypedInput::schema);
        if let (Some(Value::Object(given)), Some(Value::Object(own))) = (&self.input_schema, &own) {
            let problems = schema::incompatibilities(given, own, |name| name);
            self.definition.problems.extend(problems);
        }
        if let Some(input) = self.input_schema.or(own) {
            self.definition = self.definition.with_input_schema(input);
        }
        let problem = schema::own_problem(&self.definition.input_schema);
        self.definition.problems.extend(problem);
        self.definition.set_output(H::Output::output_schema);
        let declares_access = self.access.is_some();
        let executor = HandlerExecutor::new(handler, &self.definition, self.access);
        Tool::from_handler(self.definition, executor, declares_access)
            .with_timeout(self.timeout)
            .with_matched(self.matched)
    }
}

impl fmt::Debug for ToolBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolBuilder").field("definition", &self.definition).finish_non_exhaustive()
    }
}
