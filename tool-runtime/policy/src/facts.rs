//! Everything that rules read of a call, of a pool or of a test case.

use crate::effective::{self, Doubts};
use crate::predicate::FoldedTexts;
use crate::read::unique_members;
use jiff::Timestamp;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use tool_runtime_core::{CallView, Principal, Risk, SessionId, Source, Tool, ToolAnnotations};

/// Everything that rules read of a call.
#[derive(Clone)]
pub(crate) struct Facts<'a> {
    pub(crate) tool: &'a str,
    pub(crate) source: Option<&'a Source>,
    pub(crate) tags: &'a [String],
    pub(crate) annotations: Cow<'a, ToolAnnotations>,
    pub(crate) is_trusted: bool,
    /// `None` outside of an execution.
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
    /// The command that is judged, if an argument is a line of several.
    pub(crate) command: Option<Rc<CommandOfLine>>,
}

/// A command, and the line that it is of.
pub(crate) struct CommandOfLine {
    pub(crate) line: String,
    pub(crate) command: String,
}

/// The arguments of a call, parsed by the first rule that reads them.
pub(crate) struct ArgumentFacts<'a> {
    text: &'a str,
    /// The tool, for the aliases of its arguments.
    called: Option<&'a Tool>,
    /// `None`: not an object, or one with duplicate keys.
    parsed: OnceCell<Option<Parsed<'a>>>,
    pub(crate) folded: FoldedTexts,
}

/// The arguments as the tool gets them.
struct Parsed<'a> {
    members: Vec<(Cow<'a, str>, Value)>,
    doubts: Doubts,
}

/// The value of an argument.
pub(crate) enum Argument<'a> {
    Given(&'a Value),
    Absent,
    /// Given twice, by two names, or the arguments are not an object with unique keys.
    Uncertain,
    /// Absent under the names that the schema lists, and another name was given.
    Doubtful,
}

impl<'a> Facts<'a> {
    pub(crate) fn of(call: &CallView<'a>, risk: Risk) -> Self {
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
            arguments: Rc::new(ArgumentFacts::new(call.arguments(), call.tool())),
            command: None,
        }
    }

    /// The same call, judged by one command of a line.
    pub(crate) fn of_command(&self, line: &str, command: &str) -> Self {
        let command = CommandOfLine { line: line.to_owned(), command: command.to_owned() };
        Self { command: Some(Rc::new(command)), ..self.clone() }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.now.unwrap_or_else(Timestamp::now)
    }
}

impl<'a> ArgumentFacts<'a> {
    pub(crate) fn new(text: &'a str, called: Option<&'a Tool>) -> Self {
        Self { text, called, parsed: OnceCell::new(), folded: FoldedTexts::default() }
    }

    fn parsed(&self) -> Option<&Parsed<'a>> {
        let text = if self.text.trim().is_empty() { "{}" } else { self.text };
        let parse = || {
            let mut members = unique_members(text)?;
            let doubts = self.called.map(|tool| effective::fill(&mut members, tool));
            Some(Parsed { members, doubts: doubts.unwrap_or_default() })
        };
        self.parsed.get_or_init(parse).as_ref()
    }

    /// Whether a part of an argument may have the value of another name.
    pub(crate) fn is_doubtful(&self, part: &Value) -> bool {
        self.parsed().is_some_and(|parsed| parsed.doubts.has(part))
    }

    /// An argument by its advertised name, also if it is given by an alias.
    pub(crate) fn get(&self, name: &str) -> Argument<'_> {
        let Some(Parsed { members, doubts }) = self.parsed() else { return Argument::Uncertain };
        let is_it = |given: &str| {
            given == name || self.called.is_some_and(|tool| tool.argument_name(given) == name)
        };
        let given = members.iter().filter(|(given, _)| is_it(given));
        let mut values = given.map(|(_, value)| value);
        match (values.next(), values.next()) {
            (None, None) if doubts.is_in_arguments() => Argument::Doubtful,
            (None | Some(Value::Null), None) => Argument::Absent,
            (Some(value), None) => Argument::Given(value),
            (_, Some(_)) => Argument::Uncertain,
        }
    }
}
