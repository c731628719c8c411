//! `doctor`: checks the program, its registrations and external servers, and shows problems with their remedies.

#[cfg(feature = "install")]
mod clients;
#[cfg(feature = "mcp-client")]
mod connect;
#[cfg(all(feature = "install", feature = "mcp-client"))]
mod desktop_path;
mod findings;
#[cfg(feature = "remote")]
mod hub;
#[cfg(feature = "mcp-client")]
mod servers;
mod start;
mod tools;

use crate::about::About;
#[cfg(feature = "mcp-client")]
use crate::servers::Files;
pub(crate) use findings::Findings;
pub(crate) use start::examine as examine_start;
use tool_runtime_core::pool::ToolPool;

/// Checks the tools of the program, its registrations, and the hub of remote runners.
pub(crate) fn examine_program(about: &About, pool: &ToolPool) -> Findings {
    let mut findings = Findings::default();
    tools::examine(about, pool, &mut findings);
    #[cfg(feature = "install")]
    clients::examine(&mut findings);
    #[cfg(feature = "remote")]
    hub::examine(pool, &mut findings);
    findings
}

/// Checks external servers, also after an error of another one.
#[cfg(feature = "mcp-client")]
pub(crate) async fn examine_servers(about: &About, files: &Files, findings: &mut Findings) {
    if !files.is_empty() {
        servers::examine(about, files, findings).await;
    }
}
