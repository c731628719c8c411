//! Seam to the formats of model APIs: definitions out, calls in, results out.

mod finish_reason;

pub use finish_reason::FinishReason;

use crate::tool::call::{ToolCall, ToolResult};
use crate::tool::tool::definition::ToolDefinition;
use crate::vocabulary::error::{CallError, ErrorClass};
use crate::vocabulary::usage::Usage;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The format in which a model API takes definitions, sends calls and takes results.
///
/// `tool_runtime::export::Api` implements it for the supported APIs. An export is created by
/// [`Snapshot::export`](crate::pool::Snapshot::export).
pub trait ApiFormat: Send + Sync + 'static {
    /// Identifies the format and its options: a snapshot keeps one export for each.
    fn key(&self) -> String;

    /// Converts definitions. Each tool is exported or left out with a reason; an unsupported tool
    /// does not affect the others.
    fn definitions(&self, tools: &[&ToolDefinition]) -> Exported;

    /// Reads the calls of a model's answer, with the names that the model wrote.
    ///
    /// # Errors
    /// The answer is not one of this API.
    fn calls(&self, answer: &Value) -> Result<Vec<ToolCall>, ImportError>;

    /// The text of an answer. Empty if it only calls tools.
    ///
    /// # Errors
    /// The answer is not one of this API.
    fn text(&self, answer: &Value) -> Result<String, ImportError>;

    /// The reason why the model ended the answer. Default: unknown, complete.
    fn finish_reason(&self, answer: &Value) -> FinishReason {
        let _ = answer;
        FinishReason::Complete
    }

    /// The messages of an answer, as the next request has to repeat them.
    ///
    /// # Errors
    /// The answer is not one of this API.
    fn answer(&self, answer: &Value) -> Result<Vec<Value>, ImportError>;

    /// The messages that carry results in the next request. The names are those that the model wrote.
    fn results(&self, results: &[(&str, &ToolResult)]) -> Vec<Value>;

    /// A message of the user. Default: `role` and `content`, as most APIs have it.
    fn user(&self, text: &str) -> Value {
        json!({ "role": "user", "content": text })
    }

    /// The tokens that an answer cost. Default: unknown, zero.
    fn usage(&self, answer: &Value) -> Usage {
        let _ = answer;
        Usage::default()
    }
}

/// A format that is chosen while the program runs.
impl ApiFormat for Arc<dyn ApiFormat> {
    fn key(&self) -> String {
        (**self).key()
    }

    fn definitions(&self, tools: &[&ToolDefinition]) -> Exported {
        (**self).definitions(tools)
    }

    fn calls(&self, answer: &Value) -> Result<Vec<ToolCall>, ImportError> {
        (**self).calls(answer)
    }

    fn text(&self, answer: &Value) -> Result<String, ImportError> {
        (**self).text(answer)
    }

    fn finish_reason(&self, answer: &Value) -> FinishReason {
        (**self).finish_reason(answer)
    }

    fn answer(&self, answer: &Value) -> Result<Vec<Value>, ImportError> {
        (**self).answer(answer)
    }

    fn results(&self, results: &[(&str, &ToolResult)]) -> Vec<Value> {
        (**self).results(results)
    }

    fn user(&self, text: &str) -> Value {
        (**self).user(text)
    }

    fn usage(&self, answer: &Value) -> Usage {
        (**self).usage(answer)
    }
}

/// Definitions in the format of a model API.
#[derive(Debug, Default)]
pub struct Exported {
    /// The value of the request's `tools`.
    pub tools: Vec<Value>,
    /// The tools in the export, in the order of their definitions.
    pub reports: Vec<ToolExport>,
    /// The tools that cannot be expressed.
    pub left_out: Vec<LeftOut>,
}

/// A tool in an export.
#[derive(Clone)]
pub struct ToolExport {
    /// The id of the tool.
    pub id: String,
    /// Its name in requests and answers.
    pub wire_name: String,
    /// Whether the API enforces the schema.
    pub is_strict: bool,
    /// The reason why the API does not enforce the schema in a strict export.
    pub not_strict: Option<String>,
    /// The changes of its schema for the API.
    pub changes: Vec<SchemaChange>,
    /// The estimated size of the exported definition, in tokens.
    pub tokens: usize,
    /// Turns arguments that follow the exported schema into those of the tool's own schema, if they
    /// differ.
    pub restore: Option<Arc<RestoreArguments>>,
}

/// Turns arguments that follow an exported schema into those of the tool's own schema.
pub type RestoreArguments = dyn Fn(&mut Value) + Send + Sync;

impl fmt::Debug for ToolExport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolExport")
            .field("id", &self.id)
            .field("wire_name", &self.wire_name)
            .field("is_strict", &self.is_strict)
            .field("not_strict", &self.not_strict)
            .field("changes", &self.changes)
            .field("tokens", &self.tokens)
            .finish_non_exhaustive()
    }
}

/// A keyword of a schema that an API does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaChange {
    /// The path in the tool's own schema, a JSON pointer.
    pub at: String,
    /// The keyword.
    pub keyword: String,
    /// The change.
    pub kind: ChangeKind,
}

impl SchemaChange {
    /// A change of a keyword at a path.
    pub fn new(at: impl Into<String>, keyword: impl Into<String>, kind: ChangeKind) -> Self {
        Self { at: at.into(), keyword: keyword.into(), kind }
    }
}

/// The change of a keyword in an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The keyword was left out; the tool still enforces it.
    Dropped,
    /// The keyword was moved into the description; the tool still enforces it.
    Described,
    /// The keyword was replaced by keywords that accept the same or more.
    Rewritten,
}

impl fmt::Display for SchemaChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, keyword, kind } = self;
        let path = if at.is_empty() { "/" } else { at };
        match kind {
            ChangeKind::Dropped => write!(f, "{path}: `{keyword}` was dropped"),
            ChangeKind::Described => write!(f, "{path}: `{keyword}` moved to the description"),
            ChangeKind::Rewritten => write!(f, "{path}: `{keyword}` was rewritten"),
        }
    }
}

/// A tool that is missing in an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The id of the tool.
    pub id: String,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.id, self.reason)
    }
}

/// The error of an answer that is not in the format of the API.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an answer of {api}: {reason}")]
pub struct ImportError {
    api: &'static str,
    reason: String,
}

crate::debug_as_message!(ImportError);

impl ImportError {
    /// An error of an API, with the missing part of the answer.
    pub fn new(api: &'static str, reason: impl Into<String>) -> Self {
        Self { api, reason: reason.into() }
    }
}

/// The tools of a snapshot in the format of a model API: definitions for requests, calls from
/// answers, results for the next request.
///
/// Names and arguments that the API cannot express are mapped, and mapped back exactly.
///
/// Created by [`Snapshot::export`](crate::pool::Snapshot::export), which has an example.
pub struct Export {
    format: Box<dyn ApiFormat>,
    exported: Exported,
    json: Arc<str>,
    by_wire_name: HashMap<String, usize>,
    by_id: HashMap<String, usize>,
}

impl Export {
    /// Converts some definitions, in this order. All tools of a snapshot are converted, and kept,
    /// by [`Snapshot::export`](crate::pool::Snapshot::export).
    pub fn new(format: impl ApiFormat, tools: &[&ToolDefinition]) -> Self {
        let exported = format.definitions(tools);
        let json = serde_json::to_string(&exported.tools).expect("JSON has string keys").into();
        let reports = || exported.reports.iter().enumerate();
        let by_wire_name = reports().map(|(index, tool)| (tool.wire_name.clone(), index)).collect();
        let by_id = reports().map(|(index, tool)| (tool.id.clone(), index)).collect();
        Self { format: Box::new(format), exported, json, by_wire_name, by_id }
    }

    /// The value of the request's `tools`, as JSON values.
    pub fn definitions(&self) -> &[Value] {
        &self.exported.tools
    }

    /// The value of the request's `tools`, as JSON text. The same tools give the same bytes.
    pub fn json(&self) -> &Arc<str> {
        &self.json
    }

    /// The definitions as types of a client library of the API.
    ///
    /// # Errors
    /// The type cannot hold a definition.
    pub fn to_types<T: DeserializeOwned>(&self) -> serde_json::Result<Vec<T>> {
        serde_json::from_str(&self.json)
    }

    /// The exported tools, in the order of the definitions, each with the changes of its schema.
    pub fn tools(&self) -> &[ToolExport] {
        &self.exported.reports
    }

    /// The tools that the API cannot express.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.exported.left_out
    }

    /// The estimated size of all definitions, in tokens.
    pub fn tokens(&self) -> usize {
        self.exported.reports.iter().map(|tool| tool.tokens).sum()
    }

    /// The calls in a model's answer, with the ids of the tools and their own arguments.
    ///
    /// A name that was not exported and arguments that are not JSON stay as the model wrote them:
    /// the pool answers them with an error that the model can correct. The calls of an answer that
    /// was [cut](FinishReason::is_cut) are marked as [cut](ToolCall::with_cut): none of them runs.
    ///
    /// # Errors
    /// The answer is not one of this API.
    pub fn calls(&self, answer: &Value) -> Result<Vec<ToolCall>, ImportError> {
        let (calls, reason) = (self.format.calls(answer)?, self.finish_reason(answer));
        let calls = calls.into_iter().map(|call| self.restore(call));
        Ok(match reason.is_cut() {
            false => calls.collect(),
            true => calls.map(|call| call.with_cut(reason.to_string())).collect(),
        })
    }

    /// The reason why the model ended its answer.
    pub fn finish_reason(&self, answer: &Value) -> FinishReason {
        self.format.finish_reason(answer)
    }

    /// The text of a model's answer. Empty if it only calls tools.
    ///
    /// # Errors
    /// The answer is not one of this API.
    pub fn text(&self, answer: &Value) -> Result<String, ImportError> {
        self.format.text(answer)
    }

    /// The tokens that a model's answer cost; zero where the API does not say.
    pub fn usage(&self, answer: &Value) -> Usage {
        self.format.usage(answer)
    }

    /// The messages that the next request has after those of the last: the model's answer, then
    /// one result for each of its calls, in their order. A call without a result gets an error in
    /// its place, since APIs reject a call that nothing answers. Results of no call of this answer
    /// are last.
    ///
    /// # Errors
    /// The answer is not one of this API.
    pub fn next_messages<'a>(
        &self,
        answer: &Value,
        results: impl IntoIterator<Item = &'a ToolResult>,
    ) -> Result<Vec<Value>, ImportError> {
        let mut messages = self.format.answer(answer)?;
        let mut given: Vec<&ToolResult> = results.into_iter().collect();
        let results: Vec<Result<&ToolResult, Box<ToolResult>>> = self
            .calls(answer)?
            .into_iter()
            .map(|call| take_result(&mut given, &call).ok_or_else(|| Box::new(not_run(call))))
            .collect();
        let results =
            results.iter().map(|it| it.as_ref().map_or_else(|own| &**own, |given| *given));
        messages.extend(self.results(results.chain(given)));
        Ok(messages)
    }

    /// The messages that carry results. Empty without results.
    pub fn results<'a>(&self, results: impl IntoIterator<Item = &'a ToolResult>) -> Vec<Value> {
        let named = |result: &'a ToolResult| (self.wire_name(result.name()), result);
        let named: Vec<_> = results.into_iter().map(named).collect();
        if named.is_empty() { Vec::new() } else { self.format.results(&named) }
    }

    /// The name of a tool in requests; the id itself for a tool that is not exported.
    pub fn wire_name<'a>(&'a self, id: &'a str) -> &'a str {
        self.by_id.get(id).map_or(id, |index| &self.exported.reports[*index].wire_name)
    }

    fn restore(&self, call: ToolCall) -> ToolCall {
        let Some(index) = self.by_wire_name.get(call.name()) else { return call };
        let tool = &self.exported.reports[*index];
        let restored = tool.restore.as_ref().and_then(|restore| {
            let mut arguments = serde_json::from_str(call.arguments()).ok()?;
            restore(&mut arguments);
            Some(arguments.to_string())
        });
        call.restore(&tool.id, restored)
    }
}

/// The result of a call: that of its id, or the next of its name for a call without an id.
fn take_result<'a>(results: &mut Vec<&'a ToolResult>, call: &ToolCall) -> Option<&'a ToolResult> {
    let is_meant = |result: &&ToolResult| {
        result.call_id() == call.call_id()
            && (!call.call_id().is_empty() || result.name() == call.name())
    };
    let index = results.iter().position(is_meant)?;
    Some(results.remove(index))
}

/// The result of a call that was not run.
fn not_run(call: ToolCall) -> ToolResult {
    let error = call.check_complete().err();
    let error =
        error.unwrap_or_else(|| CallError::new(ErrorClass::Cancelled, "the call was not run"));
    ToolResult::new(call, Err(error))
}

impl fmt::Debug for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Export")
            .field("format", &self.format.key())
            .field("tools", &self.exported.reports.len())
            .field("left_out", &self.exported.left_out)
            .finish_non_exhaustive()
    }
}
