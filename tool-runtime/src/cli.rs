//! The command line of a server binary, which [`main!`](crate::main) writes, and commands added to it.

#[cfg(feature = "cli")]
#[doc(inline)]
pub use tool_runtime_cli::{Cli, ProgramArguments, ProgramOptions, TerminalApprover};
#[doc(inline)]
pub use tool_runtime_command::{
    ArgumentCount, CliCommand, CommandArgument, CommandArguments, CommandForm, CommandOption,
    PoolCommands,
};
