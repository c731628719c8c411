//! Everything that rules read of a call, of a pool or of a test case.

use crate::predicate::FoldedTexts;
use crate::subject::Subject;
use jiff::Timestamp;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use tool_runtime_core::govern::{CallView, Risk};
use tool_runtime_core::seam::EffectiveArguments;
use tool_runtime_core::tool::{Access, SessionId, Source, Tool};
use tool_runtime_core::vocabulary::{Principal, ToolAnnotations};

/// Everything that rules read of a call.
#[derive(Clone)]
pub(crate) struct Facts<'a> {
    pub(crate) tool: &'a str,
    pub(crate) source: Option<&'a Source>,
    pub(crate) tags: &'a [String],
    pub(crate) annotations: Cow<'a, ToolAnnotations>,
    pub(crate) is_trusted: bool,
    /// `None` outside an execution.
    pub(crate) labels: Option<&'a BTreeMap<String, String>>,
    pub(crate) principal: &'a Principal,
    pub(crate) session: Option<&'a SessionId>,
    pub(crate) execution: Option<&'a str>,
    pub(crate) risk: Risk,
    pub(crate) steps: Option<u64>,
    pub(crate) elapsed: Option<Duration>,
    /// `None`: the present time.
    pub(crate) now: Option<Timestamp>,
    pub(crate) arguments: Rc<ArgumentFacts<'a>>,
    /// What the call touches. `None`: the tool does not declare it.
    pub(crate) access: Option<Cow<'a, Access>>,
    /// Whether the tool asks about each file that it reads.
    pub(crate) checks_files: bool,
    /// The command that is judged, if an argument is a line of several.
    pub(crate) command: Option<Rc<CommandOfLine>>,
}

/// A command, and the line that it is of.
pub(crate) struct CommandOfLine {
    pub(crate) line: String,
    pub(crate) command: String,
}

/// The arguments of a call, read by the first rule that is about one.
pub(crate) struct ArgumentFacts<'a> {
    written: Written<'a>,
    pub(crate) folded: FoldedTexts,
}

enum Written<'a> {
    InCall(CallView<'a>),
    InCase { text: &'a str, called: Option<&'a Tool>, effective: OnceCell<Box<EffectiveArguments>> },
}

impl<'a> Facts<'a> {
    pub(crate) fn from_call(call: &CallView<'a>, risk: Risk) -> Self {
        let execution = call.context().execution();
        Self {
            tool: call.name(),
            source: call.source(),
            tags: call.definition().map_or(&[], |definition| &definition.tags),
            annotations: call.annotations(),
            is_trusted: call.is_trusted(),
            labels: execution.map(|execution| execution.labels()),
            principal: call.principal(),
            session: call.session(),
            execution: execution.map(|execution| execution.id()),
            risk,
            steps: execution.map(|execution| execution.steps()),
            elapsed: execution.map(|execution| execution.elapsed()),
            now: None,
            arguments: Rc::new(ArgumentFacts::of_call(call)),
            access: call.access().map(Cow::Borrowed),
            checks_files: call.tool().is_some_and(Tool::has_file_checks),
            command: None,
        }
    }

    /// The same call, judged by one command of a line.
    pub(crate) fn of_command(&self, line: &str, command: &str) -> Self {
        let command = CommandOfLine { line: line.to_owned(), command: command.to_owned() };
        Self { command: Some(Rc::new(command)), ..self.clone() }
    }

    /// Whether the call reads no file about which the policy is stricter.
    pub(crate) fn leaves_out_files(&self) -> bool {
        self.checks_files && self.annotations.is_read_only()
    }

    pub(crate) fn is_about_tool(&self) -> bool {
        matches!(Subject::from_name(self.tool), Subject::Tool(_))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.now.unwrap_or_else(Timestamp::now)
    }
}

impl<'a> ArgumentFacts<'a> {
    fn of_call(call: &CallView<'a>) -> Self {
        Self { written: Written::InCall(*call), folded: FoldedTexts::default() }
    }

    pub(crate) fn of_case(text: &'a str, called: Option<&'a Tool>) -> Self {
        let written = Written::InCase { text, called, effective: OnceCell::new() };
        Self { written, folded: FoldedTexts::default() }
    }

    /// The arguments as the tool gets them.
    pub(crate) fn effective(&self) -> &EffectiveArguments {
        match &self.written {
            Written::InCall(call) => call.effective_arguments(),
            Written::InCase { text, called, effective } => {
                effective.get_or_init(|| Box::new(EffectiveArguments::new(text, *called)))
            }
        }
    }
}
