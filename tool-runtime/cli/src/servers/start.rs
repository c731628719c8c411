//! Connects to the servers of a configuration, within time limits.

use super::state;
use crate::about::About;
use std::path::Path;
use std::time::Duration;
use tokio::time::timeout;
use tool_runtime_client::{
    McpManager, McpManagerBuilder, McpManagerError, McpServerStatus, McpState,
};
use tool_runtime_config::{McpConfig, McpServerConfig};

/// Connect timeout of a server whose entry has none.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Time for a failed attempt to determine the reason.
const FAILURE_GRACE: Duration = Duration::from_secs(10);
/// Longer than any command runs.
const NEVER: Duration = Duration::from_secs(86_400);

/// `pins` is the file of approved definitions.
pub(super) fn builder(about: &About, pins: Option<&Path>) -> McpManagerBuilder {
    let builder =
        McpManager::builder().client(&about.name, &about.version).connect_timeout(CONNECT_TIMEOUT);
    match pins {
        Some(file) => builder.pins_file(file),
        None => builder,
    }
}

/// A builder for commands that attempt each connection once: a second attempt would hide the reason of the first
/// failure.
pub(crate) fn once(about: &About, pins: Option<&Path>) -> McpManagerBuilder {
    builder(about, pins).retry(NEVER, NEVER)
}

/// Waits until a connection to every server was attempted.
pub(crate) async fn all(manager: &McpManager, config: &McpConfig) {
    drop(timeout(longest_attempt(config, |_| true), manager.settled()).await);
}

/// Waits until a connection to every required server was attempted.
pub(super) async fn required(manager: &McpManager, config: &McpConfig) {
    let mut changes = manager.statuses();
    let is_settled = |status: &McpServerStatus| {
        status.state != McpState::Connecting || !is_required(config, &status.name)
    };
    let settled = async {
        while !manager.status().iter().all(is_settled) && changes.next().await.is_some() {}
    };
    drop(timeout(longest_attempt(config, |server| server.required), settled).await);
}

/// The longest time that the attempts of some servers take.
fn longest_attempt(config: &McpConfig, filter: impl Fn(&McpServerConfig) -> bool) -> Duration {
    let servers = config.servers.values().filter(|server| server.enabled && filter(server));
    let longest = servers.map(|server| server.connect_timeout.unwrap_or(CONNECT_TIMEOUT)).max();
    longest.map_or(Duration::ZERO, |longest| longest + FAILURE_GRACE)
}

/// The error if required servers are not connected.
pub(super) fn failure(config: &McpConfig, statuses: &[McpServerStatus]) -> Option<McpManagerError> {
    let missing = statuses.iter().filter(|status| is_required(config, &status.name));
    let reasons: Vec<(String, String)> = missing
        .filter_map(|status| Some((status.name.clone(), state::failure_reason(&status.state)?)))
        .collect();
    (!reasons.is_empty()).then_some(McpManagerError::RequiredFailed { reasons })
}

fn is_required(config: &McpConfig, name: &str) -> bool {
    config.servers.get(name).is_some_and(|server| server.required)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::Instant;
    use tool_runtime_core::pool::ToolPool;

    /// A manager of a server that never answers.
    fn silent(pool: &ToolPool) -> McpManager {
        let open = || std::future::pending();
        McpManager::builder().custom("slow", open).start(pool).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn only_required_servers_delay_the_start() {
        let pool = ToolPool::builder().allow_empty().build().unwrap();
        let (manager, began) = (silent(&pool), Instant::now());
        let slow = McpServerConfig::stdio("x");
        required(&manager, &McpConfig::new().with("slow", slow.clone())).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
        required(&manager, &McpConfig::new().with("slow", slow.required(true))).await;
        assert!(began.elapsed() >= CONNECT_TIMEOUT);
        manager.close().await;
    }

    #[test]
    fn the_longest_connection_attempt_is_awaited() {
        let server = || McpServerConfig::stdio("x");
        let long = Duration::from_secs(120);
        let config = McpConfig::new().with("usual", server());
        let all = |config: &McpConfig| longest_attempt(config, |_| true);
        assert!(all(&config) > CONNECT_TIMEOUT + Duration::from_secs(2));
        let config = config.with("slow", server().connect_timeout(long).required(true));
        let config = config.with("off", server().connect_timeout(long * 2).enabled(false));
        assert_eq!(all(&config), long + FAILURE_GRACE);
        assert_eq!(longest_attempt(&config, |server| server.required), long + FAILURE_GRACE);
        assert_eq!(longest_attempt(&config, |_| false), Duration::ZERO);
    }
}
