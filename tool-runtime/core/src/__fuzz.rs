//! Items for the fuzz targets. Not a public interface.

use crate::action::Action;
use crate::arguments::Arguments;
use crate::definition::ToolDefinition;
use crate::input::InputModel;
use crate::issue::Issue;

/// The schema that an action's arguments are checked against.
pub struct Walker(InputModel);

impl Walker {
    /// The schema of an action that `#[tool]` generated.
    pub fn of<A: Action>() -> Self {
        Self(InputModel::new(&A::definition(), &A::settings()))
    }

    /// The schema of a definition.
    pub fn of_definition(definition: &ToolDefinition) -> Self {
        Self(InputModel::walked(definition))
    }

    /// The issues of arguments; `None` if they are not JSON.
    pub fn issues(&self, arguments: Arguments<'_>) -> Option<Vec<Issue>> {
        self.0.issues(arguments).ok()
    }
}
