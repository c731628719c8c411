//! An MCP gateway: the tools of external MCP servers and built-in ones as one server, behind a policy, approvals, a log
//! and authentication. See `README.md`.
//!
//! | Module | Topic |
//! |---|---|
//! | `options` | options of the command line |
//! | `config` | the configuration, and how it is read from a file with all of its mistakes |
//! | `plan` | the parts of a valid configuration: checked, without an effect |
//! | `authentication` | tokens and issuers, which may be replaced |
//! | `approver` | whom questions are put to |
//! | `notify` | tells people of questions |
//! | `assemble` | the pool and the server of a plan |
//! | `live` | the application of a new version to a running gateway |
//! | `commands` | `check` and `init` |

mod approver;
mod assemble;
mod authentication;
mod commands;
mod config;
mod live;
mod notify;
mod options;
mod plan;

use config::Source;
use std::process::ExitCode;
use tool_runtime::approvals::ApprovalCommands;
use tool_runtime::audit::{EventLog, LogCommands};
use tool_runtime::cli::{PoolCommands as _, Program};
use tool_runtime::policy::LivePolicy;
use tool_runtime::pool::PoolExtension as _;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let arguments = match options::options().parse(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let source = Source::new(&arguments);
    let known = source.paths();
    let check = commands::Check(source.clone());
    Program::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .about(env!("CARGO_PKG_DESCRIPTION"))
        .options(arguments)
        .servers()
        .address()
        .hub(known.hub)
        .metrics(known.metrics)
        .commands(move |pool| {
            // The same commands for every configuration, also for one with mistakes.
            let pool = pool.command(check).command(commands::Init);
            let pool = pool
                .install(ApprovalCommands::in_directory(known.inbox, known.trusts_names))
                .install(LogCommands::new(known.log));
            LivePolicy::prepare(EventLog::prepare(pool))
        })
        .run(async move |pool| assemble::assemble(pool, source).await)
}
