//! Commands whose cargo feature is not built in.

use tool_runtime_command::{CliCommand, CommandForm};

/// A command that says which feature to add.
pub(crate) struct Missing {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) heading: &'static str,
    pub(crate) feature: &'static str,
}

impl CliCommand for Missing {
    fn form(&self) -> CommandForm {
        CommandForm::new(self.name, self.about).heading(self.heading).missing_feature(self.feature)
    }
}
