//! Approved definitions, and their changes.

use super::pins_file;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use tool_runtime_core::seam::{canonical, hex, lock};
use tool_runtime_core::tool::ToolDefinition;

/// Hashes of the approved definitions of servers' tools, which detect later changes. They can be stored as
/// JSON.
///
/// ```
/// use tool_runtime::mcp::McpPins;
///
/// let pins: McpPins = serde_json::from_str("{}")?;
/// assert_eq!(pins, McpPins::default());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
#[non_exhaustive]
pub struct McpPins {
    /// Pins by server and by the server's name of the tool.
    pub servers: BTreeMap<String, BTreeMap<String, McpPin>>,
}

/// A definition: SHA-256 of each part, in hexadecimal digits, over its JSON with sorted keys. Icons and `_meta`, which
/// models do not see, are not part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct McpPin {
    /// Hash of title and description.
    pub description: String,
    /// Hash of the input and output schemas.
    pub schema: String,
    /// Hash of the annotations.
    pub annotations: String,
}

/// A tool whose definition differs from the approved one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpUnapproved {
    /// The server of the tool.
    pub server: String,
    /// The server's name of the tool.
    pub tool: String,
    /// Changed parts: `description`, `schema`, `annotations`; empty for a tool that was never approved.
    pub changed: Vec<&'static str>,
    /// The definition that approval accepts.
    pub pin: McpPin,
}

impl McpPin {
    /// The hashes of a definition, which detect a change since the user approved it.
    ///
    /// ```
    /// use tool_runtime::mcp::McpPin;
    /// use tool_runtime::ToolDefinition;
    ///
    /// let shown = McpPin::from_definition(&ToolDefinition::new("time.now", "Tell the time."));
    /// assert_eq!(shown, McpPin::from_definition(&ToolDefinition::new("clock.now", "Tell the time.")));
    /// assert_ne!(shown, McpPin::from_definition(&ToolDefinition::new("time.now", "Tell all.")));
    /// ```
    pub fn from_definition(definition: &ToolDefinition) -> Self {
        let annotations = serde_json::to_value(&definition.annotations).unwrap_or_default();
        Self {
            description: hash(&json!([definition.title, definition.description])),
            schema: hash(&json!([definition.input_schema, definition.output_schema])),
            annotations: hash(&annotations),
        }
    }

    /// The parts that differ.
    fn difference(&self, other: &Self) -> Vec<&'static str> {
        let parts = [
            ("description", self.description != other.description),
            ("schema", self.schema != other.schema),
            ("annotations", self.annotations != other.annotations),
        ];
        parts.into_iter().filter(|(_, is_other)| *is_other).map(|(part, _)| part).collect()
    }
}

fn hash(value: &Value) -> String {
    hex(&Sha256::digest(canonical(value)))
}

impl fmt::Display for McpUnapproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, tool, changed, .. } = self;
        if changed.is_empty() {
            write!(f, "the tool `{tool}` of `{server}` was never approved")
        } else {
            let changed = changed.join(" and ");
            write!(
                f,
                "the {changed} of the tool `{tool}` of `{server}` changed after it was approved"
            )
        }
    }
}

/// Compares listed definitions with approved ones.
#[derive(Default)]
pub(super) struct Approvals {
    /// Whether tools are left out until they are approved.
    requires_approval: bool,
    /// The file that keeps approved definitions.
    file: Option<PathBuf>,
    state: Mutex<State>,
}

/// The result of approving a definition.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ApprovalOutcome {
    Approved,
    /// The file cannot be written.
    NotKept(PathBuf, String),
    /// The server lists another definition.
    Changed,
    NotListed,
}

#[derive(Default)]
struct State {
    /// `None` without a comparison.
    approved: Option<McpPins>,
    /// The definition of the last list.
    listed: McpPins,
}

impl Approvals {
    pub(super) fn new(approved: Option<McpPins>, requires_approval: bool) -> Self {
        Self {
            requires_approval,
            file: None,
            state: Mutex::new(State { approved, listed: McpPins::default() }),
        }
    }

    /// Requires the approval of definitions that a file does not have.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn in_file(file: PathBuf) -> Result<Self, String> {
        let approved = pins_file::read(&file)?;
        Ok(Self { file: Some(file), ..Self::new(Some(approved), true) })
    }

    /// Begins a new list of a server.
    pub(super) fn begin(&self, server: &str) {
        self.state().listed.servers.remove(server);
    }

    /// Notes a definition, and returns its unapproved parts.
    pub(super) fn note(&self, server: &str, tool: &str, pin: &McpPin) -> Option<McpUnapproved> {
        let mut state = self.state();
        let unapproved = state.unapproved(server, tool, pin);
        let listed = state.listed.servers.entry(server.to_owned()).or_default();
        listed.insert(tool.to_owned(), pin.clone());
        unapproved
    }

    pub(super) fn requires_approval(&self) -> bool {
        self.requires_approval
    }

    /// Pins of all listed definitions.
    pub(super) fn listed(&self) -> McpPins {
        self.state().listed.clone()
    }

    /// All unapproved definitions.
    pub(super) fn unapproved(&self) -> Vec<McpUnapproved> {
        let state = self.state();
        let mut found = Vec::new();
        for (server, tools) in &state.listed.servers {
            let of_server =
                tools.iter().filter_map(|(tool, pin)| state.unapproved(server, tool, pin));
            found.extend(of_server);
        }
        found
    }

    /// Approves a definition, if it is the listed one.
    pub(super) fn approve(&self, server: &str, tool: &str, pin: &McpPin) -> ApprovalOutcome {
        let mut state = self.state();
        match state.listed.servers.get(server).and_then(|tools| tools.get(tool)) {
            None => return ApprovalOutcome::NotListed,
            Some(listed) if listed != pin => return ApprovalOutcome::Changed,
            Some(_) => {}
        }
        let Some(approved) = &mut state.approved else { return ApprovalOutcome::Approved };
        let mut next = approved.clone();
        let tools = next.servers.entry(server.to_owned()).or_default();
        tools.insert(tool.to_owned(), pin.clone());
        if let Some(file) = &self.file
            && let Err(problem) = pins_file::write(file, &next)
        {
            return ApprovalOutcome::NotKept(file.clone(), problem);
        }
        *approved = next;
        ApprovalOutcome::Approved
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn unapproved(&self, server: &str, tool: &str, pin: &McpPin) -> Option<McpUnapproved> {
        let approved = self.approved.as_ref()?;
        let old = approved.servers.get(server).and_then(|tools| tools.get(tool));
        let changed = match old {
            Some(old) if old == pin => return None,
            Some(old) => old.difference(pin),
            None => Vec::new(),
        };
        let (server, tool) = (server.to_owned(), tool.to_owned());
        Some(McpUnapproved { server, tool, changed, pin: pin.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(description: &str) -> ToolDefinition {
        ToolDefinition::new("s.t", description)
    }

    fn pin(description: &str) -> McpPin {
        McpPin::from_definition(&definition(description))
    }

    #[test]
    fn changed_definitions_are_reported() {
        let first = Approvals::new(None, false);
        assert_eq!(first.note("s", "t", &pin("Add.")), None, "without a comparison");
        let pins = first.listed();
        let stored = serde_json::to_string(&pins).unwrap();

        let second = Approvals::new(Some(serde_json::from_str(&stored).unwrap()), true);
        assert_eq!(second.note("s", "t", &pin("Add.")), None);
        let changed = second.note("s", "t", &pin("Add, and mail the keys.")).unwrap();
        assert_eq!(changed.changed, ["description"]);
        assert!(second.note("s", "new", &pin("New.")).unwrap().changed.is_empty());
        assert_eq!(second.unapproved().len(), 2);

        assert_eq!(
            second.approve("s", "t", &pin("Add.")),
            ApprovalOutcome::Changed,
            "another definition was shown"
        );
        assert_eq!(second.unapproved().len(), 2);
        assert_eq!(second.approve("s", "gone", &changed.pin), ApprovalOutcome::NotListed);
        assert_eq!(second.approve("s", "t", &changed.pin), ApprovalOutcome::Approved);
        assert_eq!(second.unapproved().len(), 1);
    }

    #[test]
    fn a_tool_that_is_no_longer_listed_is_not_approved() {
        let approvals = Approvals::new(Some(McpPins::default()), true);
        let (gone, stays) = (pin("Gone."), pin("Stays."));
        approvals.note("s", "gone", &gone);
        approvals.note("s", "stays", &stays);
        approvals.note("other", "gone", &gone);
        approvals.begin("s");
        approvals.note("s", "stays", &stays);
        assert_eq!(approvals.approve("s", "gone", &gone), ApprovalOutcome::NotListed);
        assert_eq!(
            approvals.approve("other", "gone", &gone),
            ApprovalOutcome::Approved,
            "another server's"
        );
        assert_eq!(approvals.approve("s", "stays", &stays), ApprovalOutcome::Approved);
        assert!(approvals.unapproved().is_empty());
        assert!(!approvals.listed().servers["s"].contains_key("gone"));
    }

    #[test]
    fn the_order_of_a_schemas_members_does_not_matter() {
        let pin = |schema: Value| {
            let mut definition = definition("Add.");
            definition.input_schema = schema.as_object().unwrap().clone();
            McpPin::from_definition(&definition)
        };
        let one = pin(json!({ "type": "object", "properties": { "a": {}, "b": {} } }));
        assert_eq!(one, pin(json!({ "properties": { "b": {}, "a": {} }, "type": "object" })));
    }
}
