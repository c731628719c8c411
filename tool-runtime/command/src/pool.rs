//! The commands that a pool carries.

use crate::command::CliCommand;
use std::sync::Arc;
use tool_runtime_core::pool::{ToolPool, ToolPoolBuilder};

/// Adds commands to a pool, for the command line of its program. The prelude has it.
pub trait PoolCommands: Sized {
    /// Adds a command. A command whose name exists already ends the program with exit code 3.
    #[must_use = "a builder does nothing until it is built"]
    fn command(self, command: impl CliCommand) -> Self;

    /// Adds a command unless one of its name was added before: several extensions may bring the same.
    #[must_use = "a builder does nothing until it is built"]
    fn command_once(self, command: impl CliCommand) -> Self;
}

impl<S> PoolCommands for ToolPoolBuilder<S> {
    fn command(self, command: impl CliCommand) -> Self {
        self.with_extra(Added(Arc::new(command)))
    }

    fn command_once(self, command: impl CliCommand) -> Self {
        let name = command.form().name;
        match self.commands().iter().any(|other| other.form().name == name) {
            true => self,
            false => self.command(command),
        }
    }
}

/// A command that was added.
struct Added(Arc<dyn CliCommand>);

/// Lists the commands of a pool, in the order they were added.
pub trait Commands {
    /// The commands.
    fn commands(&self) -> Vec<Arc<dyn CliCommand>>;
}

impl<S> Commands for ToolPoolBuilder<S> {
    fn commands(&self) -> Vec<Arc<dyn CliCommand>> {
        self.extras::<Added>().map(|added| Arc::clone(&added.0)).collect()
    }
}

impl Commands for ToolPool {
    fn commands(&self) -> Vec<Arc<dyn CliCommand>> {
        self.extras::<Added>().map(|added| Arc::clone(&added.0)).collect()
    }
}
