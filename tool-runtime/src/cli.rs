//! The command line of a server binary, which [`main!`](crate::main) writes, and commands added to it.
//!
//! | A program | uses |
//! |---|---|
//! | of its linked tools | [`main!`](crate::main) |
//! | with a pool that it has | `Cli`; options by `ProgramOptions` |
//! | whose configuration decides about its pool, and may change while it serves | `Program`, `Assembly`, `Reload` |

#[cfg(feature = "cli")]
#[doc(inline)]
pub use tool_runtime_cli::{
    Assembly, Cli, Program, ProgramArguments, ProgramOptions, Reload, TerminalApprover,
};
#[doc(inline)]
pub use tool_runtime_command::{
    ArgumentCount, CliCommand, CommandArgument, CommandArguments, CommandForm, CommandOption,
    PoolCommands,
};
