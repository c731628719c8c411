//! Runs the calls of a transformed tool on the original.

use super::rewrite::Mapping;
use crate::schema::check::check;
use crate::tool::arguments::input::InputModel;
use crate::tool::arguments::{Arguments, RawMembers};
use crate::tool::concurrency::access::Access;
use crate::tool::context::ToolContext;
use crate::tool::results::observation::Observation;
use crate::tool::tool::definition::ToolDefinition;
use crate::tool::tool::{Executor, Tool};
use crate::vocabulary::error::Issue;
use crate::vocabulary::error::{CallError, ErrorClass};
use crate::vocabulary::future::BoxFuture;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

pub(super) struct TransformedExecutor {
    original: Tool,
    definition: Arc<ToolDefinition>,
    mapping: Mapping,
    /// Created when a call is described or rejected.
    input: OnceLock<InputModel>,
}

impl TransformedExecutor {
    pub(super) fn new(original: &Tool, definition: &Arc<ToolDefinition>, mapping: Mapping) -> Self {
        let (original, definition) = (original.clone(), Arc::clone(definition));
        Self { original, definition, mapping, input: OnceLock::new() }
    }

    fn input(&self) -> &InputModel {
        self.input.get_or_init(|| InputModel::from_schema(&self.definition))
    }

    /// The arguments for the original.
    ///
    /// # Errors
    /// Arguments that the transform rejects. The original tool checks everything else.
    fn rewrite<'a>(&self, arguments: Arguments<'a>) -> Result<Cow<'a, str>, CallError> {
        let text = arguments.as_str();
        if self.mapping.is_empty() {
            return Ok(Cow::Borrowed(text));
        }
        let Some(members) = RawMembers::from_text(text) else {
            let malformed = self.input().check(arguments).err();
            return Err(
                malformed.unwrap_or_else(|| self.rejection("the arguments are not valid JSON"))
            );
        };
        if let Some(narrowed) = &self.mapping.narrowed {
            let advertised = self.mapping.advertised_arguments(&members);
            let issues = check(narrowed, &advertised);
            if !issues.is_empty() {
                return Err(self.explain(&advertised, issues));
            }
        }
        self.mapping.rewrite(&members).map(Cow::Owned).map_err(|withheld| {
            let text = format!("unknown argument `{withheld}`");
            let issue = Issue::new(withheld, "additionalProperties", text);
            self.explain(&self.mapping.advertised_arguments(&members), vec![issue])
        })
    }

    /// The error with every mistake: those of the whole schema if it finds any, or else `issues`.
    #[cold]
    fn explain(&self, advertised: &Value, issues: Vec<Issue>) -> CallError {
        let all_issues = self.input().issues_of(advertised);
        self.input().rejection(if all_issues.is_empty() { issues } else { all_issues })
    }

    fn rejection(&self, what: &str) -> CallError {
        let text = format!("invalid arguments for `{}`: {what}", self.definition.name);
        CallError::new(ErrorClass::Input, text)
    }

    /// An error of the original, with the tool's name and the names of its arguments replaced by
    /// the new ones.
    #[cold]
    fn rename_in_error(&self, error: CallError, arguments: Arguments<'_>) -> CallError {
        if error.class() != ErrorClass::Input {
            return error;
        }
        if !error.issues().is_empty()
            && let Some(members) = RawMembers::from_text(arguments.as_str())
        {
            let issues = self.input().issues_of(&self.mapping.advertised_arguments(&members));
            if !issues.is_empty() {
                return self.input().rejection(issues);
            }
        }
        let issues = error.issues().iter().map(|issue| self.rename_in_issue(issue)).collect();
        let message = self.rename_in_text(error.message());
        error.with_message(message).with_issues(issues)
    }

    fn rename_in_issue(&self, issue: &Issue) -> Issue {
        issue.reworded(self.rename_in_path(issue.path()), self.rename_in_text(issue.message()))
    }

    /// A path whose first step is renamed.
    fn rename_in_path(&self, path: &str) -> String {
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let (head, rest) = path.split_at(end);
        format!("{}{rest}", self.mapping.advertised_name(head))
    }

    /// A text whose names within backticks are renamed.
    fn rename_in_text(&self, text: &str) -> String {
        let renamed = |(index, part): (usize, &str)| match index % 2 {
            1 if part == self.original.name() => self.definition.name.clone(),
            1 => self.rename_in_path(part),
            _ => part.to_owned(),
        };
        text.split('`').enumerate().map(renamed).collect::<Vec<_>>().join("`")
    }
}

impl Executor for TransformedExecutor {
    fn call<'a>(
        &'a self,
        arguments: Arguments<'a>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move {
            let text = self.rewrite(arguments)?;
            let outcome = self.original.run(None, &text, context).await;
            outcome.map_err(|error| self.rename_in_error(error, arguments))
        })
    }

    fn access(&self, arguments: Arguments<'_>) -> Result<Access, CallError> {
        let decoded = self.original.decode(&self.rewrite(arguments)?);
        decoded.map(|call| call.access).map_err(|error| self.rename_in_error(error, arguments))
    }

    fn interrupt(&self, context: &ToolContext) {
        self.original.interrupt(context);
    }

    fn is_usable(&self) -> Result<(), String> {
        self.original.unusable_reason().map_or(Ok(()), |reason| Err(reason.to_owned()))
    }
}
