//! The application of a new version of the configuration to a running gateway.

mod authentication;

pub(crate) use authentication::{Authentication, Ways};

use crate::BoxError;
use crate::assemble::invalid;
use crate::config::{Config, Source};
use crate::document::section;
use crate::plan::{Plan, absent_servers};
use arc_swap::ArcSwap;
use serde_json::Value;
use std::convert::Infallible;
use std::future::pending;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;
use tool_runtime::cli::Reload;
use tool_runtime::http::{BearerTokens, Tls};
use tool_runtime::mcp::McpManager;
use tool_runtime::policy::LivePolicy;
use tool_runtime::secret::Secrets;
use tool_runtime::{BoxFuture, CancellationToken, ToolPool};
use tool_runtime_builtins::Workspace;
use tool_runtime_core::seam::excerpt;

/// The time that external servers have to connect before rules about their tools are judged.
const CONNECT_WAIT: Duration = Duration::from_secs(30);

/// The parts of a running gateway that may change: external servers, rules, tokens and issuers. Clones share them.
#[derive(Clone)]
pub(crate) struct Live(Arc<Parts>);

/// The parts.
pub(crate) struct Parts {
    pub(crate) source: Source,
    /// The version that the gateway started with, and the values of its file.
    pub(crate) started: Config,
    pub(crate) started_values: Value,
    pub(crate) policy: Option<LivePolicy>,
    pub(crate) authentication: Authentication,
    pub(crate) tls: Option<Tls>,
    /// What is masked.
    pub(crate) secrets: Secrets,
    pub(crate) workspace: Option<Workspace>,
    /// The newest version that was taken.
    pub(crate) config: ArcSwap<Config>,
    /// Tells that a version was taken.
    pub(crate) taken: Notify,
}

impl Live {
    pub(crate) fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Logs what of the rules is about no tool: when the external servers are connected, and after each reload.
    pub(crate) async fn warn_of_unused(&self, pool: &ToolPool, stop: &CancellationToken) {
        let look = async {
            loop {
                for manager in McpManager::of_pool(pool) {
                    drop(timeout(CONNECT_WAIT, manager.settled()).await);
                }
                let lacks_tools = !absent_servers(pool).is_empty();
                let lacks_tools = if lacks_tools { "; an MCP server is not connected" } else { "" };
                let unused = self.0.policy.iter().flat_map(|policy| policy.unused_patterns(pool));
                unused.for_each(|text| tracing::warn!("the policy: {text}{lacks_tools}"));
                tokio::select! {
                    () = self.0.taken.notified() => {}
                    () = policy_replaced(self.0.policy.as_ref()) => {}
                }
            }
        };
        let _never: Option<Infallible> = stop.run_until_cancelled(look).await;
    }

    pub(crate) fn config(&self) -> Arc<Config> {
        self.0.config.load_full()
    }

    fn apply(&self) -> Result<(), BoxError> {
        let Parts {
            started, started_values, policy, authentication, tls, secrets, workspace, ..
        } = &*self.0;
        // A rule counts whatever else is wrong. The policy is watched besides, and logs its mistakes.
        if let Some(policy) = policy
            && policy.reload_if_changed().is_ok_and(|is_new| is_new)
        {
            tracing::info!(rules = policy.rule_count(), "the policy was read again");
        }
        let plan = Plan::load(&self.0.source).map_err(|problems| invalid(&problems))?;
        let (old, new) = (self.config(), plan.config);
        let has_authentication =
            |config: &Config| config.http.as_ref().is_some_and(|http| http.has_authentication());
        let keeps_authentication = has_authentication(started) == has_authentication(&new);
        let mut fixed = fixed(started_values, &plan.values, keeps_authentication);
        // Options replace keys, and a default may be written or left out.
        let changed = started.changed_sections(&new);
        fixed.retain(|key| changed.contains(&section(key)));
        if !fixed.is_empty() {
            let keys = fixed.join("`, `");
            tracing::warn!(
                "the values of `{keys}` are other ones than at the start, and count at the next one"
            );
        }
        plan.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        mask(secrets, plan.secrets);
        if let Some(workspace) = workspace {
            workspace.protect(plan.own_files)?;
        }
        // What may fail is first.
        let is_same = |part: fn(&Config) -> Option<&PathBuf>| part(started) == part(&new);
        if let Some(tls) = tls.as_ref().filter(|_| is_same(certificate) && is_same(key)) {
            tls.reload()?;
        }
        if let Some(http) = plan.http.filter(|_| keeps_authentication) {
            let jwt = |config: &Config| config.http.as_ref().and_then(|http| http.jwt.clone());
            let mut ways = http.ways;
            if jwt(&old) == jwt(&new) {
                // It knows the keys of the issuer.
                ways.jwt = authentication.ways().jwt.clone();
            }
            log_tokens(authentication.ways().tokens.as_deref(), ways.tokens.as_deref());
            authentication.replace(ways);
        }
        self.0.config.store(Arc::new(new));
        Ok(())
    }
}

fn certificate(config: &Config) -> Option<&PathBuf> {
    Some(&config.http.as_ref()?.tls.as_ref()?.certificate)
}

fn key(config: &Config) -> Option<&PathBuf> {
    Some(&config.http.as_ref()?.tls.as_ref()?.key)
}

/// Masks values in all that leaves the gateway from now on.
pub(crate) fn mask(secrets: &Secrets, values: Vec<(String, String)>) {
    secrets.hide(values.into_iter().map(|(name, value)| (format!("${{{name}}}"), value)));
}

impl Reload for Live {
    fn files(&self) -> Vec<PathBuf> {
        let config = self.config();
        let http = config.http.iter().flat_map(|http| {
            let tls = http.tls.iter().flat_map(|tls| [&tls.certificate, &tls.key]);
            tls.chain(&http.tokens_file).cloned()
        });
        let files = self.0.source.file.iter().cloned().chain(http);
        files.chain(config.mcp_config.iter().cloned()).collect()
    }

    fn reload(&self) -> BoxFuture<'_, Result<(), BoxError>> {
        let live = self.clone();
        Box::pin(async move { tokio::task::spawn_blocking(move || live.apply()).await? })
    }

    fn reloaded(&self) {
        self.0.taken.notify_one();
    }
}

/// Waits for the next version of a policy.
async fn policy_replaced(policy: Option<&LivePolicy>) {
    match policy {
        Some(policy) => policy.replaced().await,
        None => pending().await,
    }
}

/// Names the callers whose tokens have changed.
fn log_tokens(old: Option<&BearerTokens>, new: Option<&BearerTokens>) {
    let none = BearerTokens::none();
    let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
    for (what, callers) in [("removed", new.lacking(old)), ("added", old.lacking(new))] {
        if !callers.is_empty() {
            let names = Vec::from_iter(callers).join(", ");
            tracing::info!("tokens were {what} of: {}", excerpt(&names));
        }
    }
}

/// The keys whose changes count at once.
const LIVE: [&str; 5] = ["mcpServers", "mcp_config", "http.tokens", "http.tokens_file", "http.jwt"];

/// The keys whose changes count at the next start: all others, and those of authentication if it is added or removed.
fn fixed(old: &Value, new: &Value, keeps_authentication: bool) -> Vec<String> {
    let mut changed = Vec::new();
    note_changes("", old, new, &mut changed);
    let is_live = |key: &str| {
        let live = LIVE.iter().filter(|live| keeps_authentication || !live.starts_with("http."));
        let is_in = |live: &str| key.strip_prefix(live).is_some_and(|it| !it.starts_with('_'));
        live.into_iter().any(|live| is_in(live))
    };
    changed.retain(|key| !is_live(key));
    changed
}

/// Notes the paths of values that differ.
fn note_changes(path: &str, old: &Value, new: &Value, changed: &mut Vec<String>) {
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        if old != new {
            changed.push(path.to_owned());
        }
        return;
    };
    let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
    for key in keys {
        let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let value = |of: &serde_json::Map<String, Value>| of.get(key).cloned().unwrap_or_default();
        note_changes(&inner, &value(before), &value(after), changed);
    }
}
