//! Parameters that a pool adds to its tools: what a model says about a call, besides its arguments.

use super::risk::Risk;
use crate::tool::arguments::repair::{Repair, RepairKind, fold_name, repair_json};
use crate::tool::arguments::{Arguments, RawMembers, push_member};
use crate::tool::tool::Tool;
use crate::tool::tool::definition::ToolDefinition;
use crate::vocabulary::error::{CallError, ErrorClass};
use serde_json::{Map, Value, json};

const SECURITY_RISK: &str = "security_risk";
const SUMMARY: &str = "summary";

const NOT_A_RISK: &str = "`security_risk` must be one of `LOW`, `MEDIUM`, `HIGH`, `UNKNOWN`";

/// Parameters that a pool adds to its tools, see
/// [`ToolPoolBuilder::meta_parameters`](crate::pool::ToolPoolBuilder::meta_parameters).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetaParameters {
    security_risk: bool,
    summary: bool,
}

impl MetaParameters {
    /// All of them.
    pub fn all() -> Self {
        Self { security_risk: true, summary: true }
    }

    /// `security_risk`: the model's own judgement, see [`Risk`]. Tools that only read do not get it.
    pub fn security_risk() -> Self {
        Self { security_risk: true, ..Self::default() }
    }

    /// `summary`: the purpose of the call, in a few words.
    pub fn summary() -> Self {
        Self { summary: true, ..Self::default() }
    }

    /// These, and the risk.
    pub(crate) fn with_risk(self) -> Self {
        Self { security_risk: true, ..self }
    }

    /// Those that a tool gets: it keeps its own parameters of these names.
    fn for_tool(self, tool: &Tool) -> Self {
        let definition = tool.definition();
        let has = |name| has_own(tool, name);
        let is_read_only = definition.effective_annotations().is_read_only();
        Self {
            security_risk: self.security_risk && !is_read_only && !has(SECURITY_RISK),
            summary: self.summary && !has(SUMMARY),
        }
    }

    /// The parameter that a name means. With repair, it may be written in another style.
    fn named(self, name: &str, is_repairing: bool) -> Option<&'static str> {
        let parameters = [(self.security_risk, SECURITY_RISK), (self.summary, SUMMARY)];
        let is = |own: &str| name == own || is_repairing && fold_name(name) == fold_name(own);
        parameters.into_iter().find(|(is_added, own)| *is_added && is(own)).map(|(_, own)| own)
    }
}

/// The meta parameters of a call, separated from its other arguments.
#[derive(Debug, Default)]
pub(crate) struct MetaArguments {
    /// The other arguments.
    pub(crate) rest: String,
    pub(crate) risk: Risk,
    pub(crate) summary: Option<String>,
    pub(crate) repairs: Vec<Repair>,
    /// An invalid value, for which the call is rejected.
    pub(crate) error: Option<CallError>,
}

impl MetaParameters {
    /// The definition of a tool with the parameters in front. `None` if the tool gets none.
    pub(crate) fn extended(&self, tool: &Tool) -> Option<ToolDefinition> {
        let added = self.for_tool(tool);
        let mut properties = Map::new();
        if added.security_risk {
            properties.insert(SECURITY_RISK.to_owned(), risk_schema());
        }
        if added.summary {
            properties.insert(SUMMARY.to_owned(), summary_schema());
        }
        if properties.is_empty() {
            return None;
        }
        let mut definition = tool.definition().clone();
        let schema = &mut definition.input_schema;
        if let Some(Value::Object(arguments)) = schema.get_mut("properties") {
            properties.append(arguments);
        }
        schema.insert("properties".to_owned(), properties.into());
        Some(definition)
    }

    /// Extracts the parameters from the arguments of a call. `None` if the call has none of them. A tool that the pool
    /// does not have is taken for one without parameters of these names.
    pub(crate) fn extract(
        &self,
        tool: Option<&Tool>,
        arguments: &str,
        is_repairing: bool,
    ) -> Option<MetaArguments> {
        let own = tool.map_or(*self, |tool| self.for_tool(tool));
        let text = Arguments::new(arguments).as_str();
        if own == Self::default() {
            return None;
        }
        if let Some(members) = RawMembers::from_text(text) {
            return own.split(members, is_repairing);
        }
        // Text that is nearly JSON hides the parameters from what repairs it later.
        if !is_repairing {
            return None;
        }
        let (text, mut repairs) = repair_json(text)?;
        let mut meta = own.split(RawMembers::from_text(&text)?, true)?;
        repairs.append(&mut meta.repairs);
        Some(MetaArguments { repairs, ..meta })
    }

    /// Splits off the parameters; the other members stay as they were written. `None` if the call has
    /// none of the parameters.
    fn split(self, members: RawMembers<'_>, is_repairing: bool) -> Option<MetaArguments> {
        let (mut meta, mut is_changed) = (MetaArguments::default(), false);
        meta.rest.push('{');
        for (name, value) in members.0 {
            let Some(own) = self.named(&name, is_repairing) else {
                push_member(&mut meta.rest, &name, value.get());
                continue;
            };
            is_changed = true;
            if name != own {
                let (at, kind) = (own.to_owned(), RepairKind::ArgumentName);
                meta.repairs.push(Repair { at, kind });
            }
            meta.set(own, serde_json::from_str(value.get()).unwrap_or_default());
        }
        meta.rest.push('}');
        is_changed.then_some(meta)
    }
}

impl MetaArguments {
    /// Sets a parameter. `null` leaves it unset.
    fn set(&mut self, name: &str, value: Value) {
        match (name, value) {
            (_, Value::Null) => {}
            (SUMMARY, Value::String(summary)) => {
                self.summary = Some(summary).filter(|summary| !summary.trim().is_empty());
            }
            (SUMMARY, _) => self.reject("`summary` must be a string"),
            (_, value) => match value.as_str().and_then(risk) {
                Some(risk) => self.risk = risk,
                None => self.reject(NOT_A_RISK),
            },
        }
    }

    fn reject(&mut self, text: &str) {
        self.error = Some(CallError::new(ErrorClass::Input, text));
    }
}

/// A risk by its name, in any case.
fn risk(name: &str) -> Option<Risk> {
    let risks = [Risk::Low, Risk::Medium, Risk::High, Risk::Unknown];
    risks.into_iter().find(|risk| risk.as_str().eq_ignore_ascii_case(name.trim()))
}

fn risk_schema() -> Value {
    json!({
        "type": "string",
        "enum": ["LOW", "MEDIUM", "HIGH", "UNKNOWN"],
        "description": "The risk of this call. LOW: reads, or is undone easily. MEDIUM: changes something within the task. HIGH: changes something outside the task, cannot be undone, or sends data elsewhere. UNKNOWN: not judged.",
    })
}

fn summary_schema() -> Value {
    json!({
        "type": "string",
        "description": "The purpose of this call in about ten words, for the person who reads along.",
    })
}

/// Whether a tool has a parameter of that name: an argument, an alias, or a property of a part of its
/// schema.
fn has_own(tool: &Tool, name: &str) -> bool {
    tool.argument_name(name) != name || declares(&tool.definition().input_schema, name)
}

fn declares(schema: &Map<String, Value>, name: &str) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    let parts =
        ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array());
    properties.is_some_and(|properties| properties.contains_key(name))
        || parts.flatten().filter_map(Value::as_object).any(|part| declares(part, name))
}
