//! Connecting to the servers of a configuration, and how long that is waited for.

use super::state;
use crate::About;
use std::time::Duration;
use tokio::time::timeout;
use tool_runtime_client::{
    McpManager, McpManagerBuilder, McpManagerError, McpServerStatus, McpState,
};
use tool_runtime_config::{McpConfig, McpServerConfig};

/// Connect timeout of a server whose entry has none.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Time in which a failed try finds out why it failed.
const FAILURE_GRACE: Duration = Duration::from_secs(10);
/// Longer than any command runs.
const NEVER: Duration = Duration::from_secs(86_400);

pub(super) fn builder(about: &About) -> McpManagerBuilder {
    McpManager::builder().client(&about.name, &about.version).connect_timeout(CONNECT_TIMEOUT)
}

/// For commands that try each server once: they report the failure of that try, which a second one would
/// hide while it runs.
pub(super) fn once(about: &About) -> McpManagerBuilder {
    builder(about).retry(NEVER, NEVER)
}

/// Waits until every server was tried, however long that takes.
pub(super) async fn all(manager: &McpManager, config: &McpConfig) {
    drop(timeout(patience(config, |_| true), manager.settled()).await);
}

/// Waits until those servers were tried that are required.
pub(super) async fn required(manager: &McpManager, config: &McpConfig) {
    let patience = patience(config, |server| server.required);
    drop(timeout(patience, required_tried(manager, config)).await);
}

async fn required_tried(manager: &McpManager, config: &McpConfig) {
    let mut changes = manager.statuses();
    let is_tried = |status: &McpServerStatus| {
        status.state != McpState::Connecting || !is_required(config, &status.name)
    };
    while !manager.status().iter().all(is_tried) && changes.next().await.is_some() {}
}

/// How long the tries of some servers go on at most.
fn patience(config: &McpConfig, is_meant: impl Fn(&McpServerConfig) -> bool) -> Duration {
    let servers = config.servers.values().filter(|server| server.enabled && is_meant(server));
    let longest = servers.map(|server| server.connect_timeout.unwrap_or(CONNECT_TIMEOUT)).max();
    longest.map_or(Duration::ZERO, |longest| longest + FAILURE_GRACE)
}

/// What keeps a command from being run: a server is not there that is required.
pub(super) fn failure(config: &McpConfig, statuses: &[McpServerStatus]) -> Option<McpManagerError> {
    let missing = statuses.iter().filter(|status| is_required(config, &status.name));
    let reasons: Vec<(String, String)> = missing
        .filter_map(|status| Some((status.name.clone(), state::fault(&status.state)?)))
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
    use tool_runtime_core::ToolPool;

    /// A manager of a server that never answers.
    fn silent(pool: &ToolPool) -> McpManager {
        let open = || std::future::pending();
        McpManager::builder().custom("slow", open).start(pool).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn only_servers_that_are_required_hold_up_the_start() {
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
    fn the_longest_try_is_waited_for() {
        let server = || McpServerConfig::stdio("x");
        let long = Duration::from_secs(120);
        let config = McpConfig::new().with("usual", server());
        let all = |config: &McpConfig| patience(config, |_| true);
        assert!(all(&config) > CONNECT_TIMEOUT + Duration::from_secs(2));
        let config = config.with("slow", server().connect_timeout(long).required(true));
        let config = config.with("off", server().connect_timeout(long * 2).enabled(false));
        assert_eq!(all(&config), long + FAILURE_GRACE);
        assert_eq!(patience(&config, |server| server.required), long + FAILURE_GRACE);
        assert_eq!(patience(&config, |_| false), Duration::ZERO);
    }
}
