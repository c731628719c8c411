//! Items for the fuzz targets. Not a public interface.

use crate::tool::arguments::Arguments;
use crate::tool::arguments::input::InputModel;
use crate::tool::tool::action::Action;
use crate::tool::tool::definition::ToolDefinition;
use crate::vocabulary::error::Issue;

/// The schema that an action's arguments are checked against.
pub struct Walker(InputModel);

impl Walker {
    /// The schema of an action that `#[tool]` generated.
    pub fn for_action<A: Action>() -> Self {
        Self(InputModel::new(&A::definition(), &A::settings()))
    }

    /// The schema of a definition.
    pub fn of_definition(definition: &ToolDefinition) -> Self {
        Self(InputModel::from_schema(definition))
    }

    /// The issues of arguments; `None` if they are not JSON.
    pub fn issues(&self, arguments: Arguments<'_>) -> Option<Vec<Issue>> {
        self.0.issues(arguments).ok()
    }
}
