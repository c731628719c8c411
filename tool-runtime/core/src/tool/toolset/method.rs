//! One method of a toolset that is a tool.

use super::Values;
use crate::tool::tool::Tool;
use crate::tool::tool::action::Action;
use crate::tool::tool::definition::ToolDefinition;

/// A method that is a tool, with its type erased.
#[derive(Clone, Copy)]
pub struct Method {
    name: &'static str,
    definition: fn() -> ToolDefinition,
    bind: fn(Values, String) -> Tool,
}

impl Method {
    /// The method of an action.
    pub const fn from_action<A: Action>() -> Self {
        Self { name: A::NAME, definition: A::definition, bind: Tool::from_method::<A> }
    }

    /// The tool's id.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Definition of the tool.
    pub(crate) fn definition(&self) -> ToolDefinition {
        (self.definition)()
    }

    /// The tool over values of the type.
    pub(super) fn bind(&self, values: Values, name: String) -> Tool {
        (self.bind)(values, name)
    }
}
