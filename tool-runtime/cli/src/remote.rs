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

pub(super) use connection::{Connection, absent_runners, hub_of};
pub(super) use status::Status;

use super::about::About;
#[cfg(not(all(feature = "remote-hub", feature = "remote-nats")))]
use crate::missing::Missing;
use hub_address::HubAddress;
use tool_runtime_command::PoolCommands as _;
#[cfg(not(all(feature = "remote-hub", feature = "remote-nats")))]
use tool_runtime_command::seam::SERVERS;
use tool_runtime_core::pool::ToolPoolBuilder;

/// Adds the commands of a program that is a runner, and those of one that calls the runners of a hub.
pub(super) fn commands(
    pool: ToolPoolBuilder,
    about: &About,
    is_runner: bool,
    hub: Option<&String>,
) -> ToolPoolBuilder {
    let status = status::Status { hub: hub.cloned() };
    let pool = if is_runner || hub.is_some() { pool.command(status) } else { pool };
    if !is_runner {
        return pool;
    }
    let program = format!("{} {}", about.name, about.version);
    pool.command(run::Run { program }).command(SERVE).command(KEEP).command(NATS_CONFIG)
}

#[cfg(feature = "remote-hub")]
const SERVE: serve::Serve = serve::Serve;
#[cfg(not(feature = "remote-hub"))]
const SERVE: Missing = Missing {
    name: "remote serve",
    about: "Serve the hub that callers and runners connect to",
    heading: SERVERS,
    feature: "remote-hub",
};

#[cfg(feature = "remote-nats")]
const KEEP: keep::Keep = keep::Keep;
#[cfg(not(feature = "remote-nats"))]
const KEEP: Missing = Missing {
    name: "remote keep",
    about: "Create the streams on a NATS server",
    heading: SERVERS,
    feature: "remote-nats",
};

#[cfg(feature = "remote-nats")]
const NATS_CONFIG: nats_config::NatsConfig = nats_config::NatsConfig;
#[cfg(not(feature = "remote-nats"))]
const NATS_CONFIG: Missing = Missing {
    name: "remote nats-config",
    about: "Write the configuration of a NATS server",
    heading: SERVERS,
    feature: "remote-nats",
};
