//! Remote runners: the commands `run` and `remote ..`, and the option `remote` of `main!`.

mod connection;
mod hub_address;
#[cfg(feature = "remote-nats")]
mod keep;
#[cfg(feature = "remote-nats")]
mod nats_config;
mod run;
#[cfg(feature = "remote-hub")]
mod serve;
mod status;

pub(super) use connection::Connection;
#[cfg(feature = "mcp-client")]
pub(super) use connection::{absent_runners, hub_of};

use super::About;
use hub_address::HubAddress;
use tool_runtime_command::PoolCommands as _;
use tool_runtime_core::pool::ToolPoolBuilder;

/// Adds the commands.
pub(super) fn commands(pool: ToolPoolBuilder, about: &About) -> ToolPoolBuilder {
    let program = format!("{} {}", about.name, about.version);
    let pool = pool.command(run::Run { program }).command(status::Status);
    #[cfg(feature = "remote-hub")]
    let pool = pool.command(serve::Serve);
    #[cfg(feature = "remote-nats")]
    let pool = pool.command(keep::Keep).command(nats_config::NatsConfig);
    pool
}
