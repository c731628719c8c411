//! Calls that a policy is tried on: in tests next to the rules, and by `policy explain`.

use crate::facts::{ArgumentFacts, Facts};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use tool_runtime_core::govern::{Effect, Risk};
use tool_runtime_core::pool::{ToolPool, ToolReport, ToolStatus};
use tool_runtime_core::seam::{PROMPTS, RESOURCES};
use tool_runtime_core::tool::{Access, Source, Tool, ToolDefinition};
use tool_runtime_core::vocabulary::{Principal, ToolAnnotations};

/// A call that a policy is tried on, without a tool that runs.
///
/// ```
/// use tool_runtime::policy::SampleCall;
/// use tool_runtime::Principal;
///
/// let call = SampleCall::new("fs.read")
///     .arguments(serde_json::json!({ "path": "/etc/passwd" }))
///     .principal(Principal::new("ada"));
/// # let _ = call;
/// ```
#[derive(Clone, Debug)]
pub struct SampleCall {
    pub(crate) tool: String,
    pub(crate) source: Option<Source>,
    pub(crate) tags: Option<Vec<String>>,
    pub(crate) annotations: ToolAnnotations,
    pub(crate) is_trusted: Option<bool>,
    pub(crate) labels: Option<BTreeMap<String, String>>,
    pub(crate) principal: Principal,
    pub(crate) risk: Risk,
    pub(crate) steps: Option<u64>,
    pub(crate) elapsed: Option<Duration>,
    pub(crate) at: Option<Timestamp>,
    pub(crate) arguments: String,
    /// What the call touches. `None`: as its tool declares.
    pub(crate) touched: Option<Access>,
    /// The tool, if it is known.
    pub(crate) called: Option<Tool>,
}

impl SampleCall {
    /// A call of a tool without arguments, by an anonymous caller.
    pub fn new(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            source: None,
            tags: None,
            annotations: ToolAnnotations::default(),
            is_trusted: None,
            labels: None,
            principal: Principal::anonymous(),
            risk: Risk::Unknown,
            steps: None,
            elapsed: None,
            at: None,
            arguments: "{}".to_owned(),
            touched: None,
            called: None,
        }
    }

    /// A resource that is read.
    pub fn resource(uri: &str) -> Self {
        let call = Self::new(format!("{RESOURCES}{uri}")).arguments(json!({ "uri": uri }));
        call.of_offering()
    }

    /// A prompt that is got, without arguments.
    pub fn prompt(name: &str) -> Self {
        Self::new(format!("{PROMPTS}{name}")).of_offering()
    }

    fn of_offering(mut self) -> Self {
        self.annotations = self.annotations.with_read_only(true).with_open_world(false);
        self.touched = Some(Access::none());
        self
    }

    /// Sets the arguments. Default: none.
    #[must_use]
    pub fn arguments(self, arguments: impl Into<Value>) -> Self {
        self.arguments_text(arguments.into().to_string())
    }

    /// Sets the arguments as a model writes them, valid or not.
    #[must_use]
    pub fn arguments_text(mut self, arguments: impl Into<String>) -> Self {
        self.arguments = arguments.into();
        self
    }

    /// Adds files that the call reads. Default: those that the tool declares, if it is known.
    #[must_use]
    pub fn reads<S: AsRef<str>>(mut self, files: impl IntoIterator<Item = S>) -> Self {
        let access = self.touched.take().unwrap_or_else(Access::none);
        let keys = files.into_iter().map(|file| format!("file:{}", file.as_ref()));
        self.touched = Some(keys.fold(access, Access::read));
        self
    }

    /// Adds files that the call writes. Default: those that the tool declares, if it is known.
    #[must_use]
    pub fn writes<S: AsRef<str>>(mut self, files: impl IntoIterator<Item = S>) -> Self {
        let access = self.touched.take().unwrap_or_else(Access::none);
        let keys = files.into_iter().map(|file| format!("file:{}", file.as_ref()));
        self.touched = Some(keys.fold(access, Access::write));
        self
    }

    /// Sets the caller. Default: an anonymous one.
    #[must_use]
    pub fn principal(mut self, principal: Principal) -> Self {
        self.principal = principal;
        self
    }

    /// Sets the source of the tool. Default: not known.
    #[must_use]
    pub fn source(mut self, source: Source) -> Self {
        self.source = Some(source);
        self
    }

    /// Sets the tags of the tool. Default: none.
    #[must_use]
    pub fn tags<S: Into<String>>(mut self, tags: impl IntoIterator<Item = S>) -> Self {
        self.tags = Some(tags.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the hints of the tool. Default: those of MCP, which are the dangerous ones.
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = annotations;
        self
    }

    /// Sets a label of the execution.
    #[must_use]
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.get_or_insert_default().insert(name.into(), value.into());
        self
    }

    /// Sets the risk. Default: unknown.
    #[must_use]
    pub fn risk(mut self, risk: Risk) -> Self {
        self.risk = risk;
        self
    }

    /// Sets the number of calls that ran before. Default: not known.
    #[must_use]
    pub fn steps(mut self, steps: u64) -> Self {
        self.steps = Some(steps);
        self
    }

    /// Sets the time that the execution runs. Default: not known.
    #[must_use]
    pub fn elapsed(mut self, elapsed: Duration) -> Self {
        self.elapsed = Some(elapsed);
        self
    }

    /// Takes id, source, tags, hints, the aliases of arguments and the files that it touches from the tool of that id or
    /// wire name in a pool, if there is one. What the call states itself stays.
    #[must_use]
    pub fn in_pool(mut self, pool: &ToolPool) -> Self {
        let snapshot = pool.snapshot();
        let is_it =
            |tool: &&Tool| tool.name() == self.tool || tool.definition().wire_name() == self.tool;
        self.called = snapshot.tools().iter().find(is_it).cloned();
        if let Some(tool) = self.called.clone() {
            self.tool = tool.name().to_owned();
            self = self.of_tool(tool.definition());
        }
        let report = pool.report();
        let is_it =
            |tool: &&ToolReport| tool.name == self.tool && tool.status == ToolStatus::Visible;
        if let Some(tool) = report.tools.iter().find(is_it) {
            self.source.get_or_insert_with(|| tool.source.clone());
        }
        self
    }

    fn of_tool(mut self, definition: &ToolDefinition) -> Self {
        self.tags.get_or_insert_with(|| definition.tags.clone());
        let (own, of_tool) = (&mut self.annotations, &definition.annotations);
        own.read_only_hint = own.read_only_hint.or(of_tool.read_only_hint);
        own.destructive_hint = own.destructive_hint.or(of_tool.destructive_hint);
        own.idempotent_hint = own.idempotent_hint.or(of_tool.idempotent_hint);
        own.open_world_hint = own.open_world_hint.or(of_tool.open_world_hint);
        self.is_trusted.get_or_insert(!definition.untrusted_annotations);
        self
    }

    /// What the call is, for the results of tests.
    pub(crate) fn title(&self) -> String {
        let mut title = self.tool.clone();
        if self.arguments != "{}" || self.touched.is_none() {
            title = format!("{title} {}", self.arguments);
        }
        for key in self.touched.iter().flat_map(Access::reads) {
            title.push_str(&format!(", reads {key}"));
        }
        for key in self.touched.iter().flat_map(Access::writes) {
            title.push_str(&format!(", writes {key}"));
        }
        title
    }

    fn access(&self) -> Option<Cow<'_, Access>> {
        match &self.touched {
            Some(access) => Some(Cow::Borrowed(access)),
            None => self.called.as_ref()?.access_of(&self.arguments).map(Cow::Owned),
        }
    }

    pub(crate) fn facts(&self) -> Facts<'_> {
        let is_trusted = self.is_trusted.unwrap_or(true);
        let annotations = match is_trusted {
            true => Cow::Borrowed(&self.annotations),
            false => Cow::Owned(ToolAnnotations::default()),
        };
        Facts {
            tool: &self.tool,
            source: self.source.as_ref(),
            tags: self.tags.as_deref().unwrap_or_default(),
            annotations,
            is_trusted,
            labels: self.labels.as_ref(),
            principal: &self.principal,
            session: None,
            execution: None,
            risk: self.risk,
            steps: self.steps,
            elapsed: self.elapsed,
            now: self.at,
            arguments: Rc::new(ArgumentFacts::of_case(&self.arguments, self.called.as_ref())),
            access: self.access(),
            checks_files: self.called.as_ref().is_some_and(Tool::has_file_checks),
            command: None,
        }
    }
}

/// A test next to the rules: a call, and the decision that it expects.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) call: SampleCall,
    pub(crate) effect: Effect,
    /// The rule that must decide, if the test says so.
    pub(crate) rule: Option<String>,
}
