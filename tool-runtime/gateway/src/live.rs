//! The application of a new version of the configuration to a running gateway.

use crate::BoxError;
use crate::authentication::{Authentication, Ways};
use crate::config::{Config, Http, Source};
use crate::plan::{Plan, absent_servers, token_lines, token_secrets, tokens};
use arc_swap::ArcSwap;
use serde_json::Value;
use std::collections::BTreeSet;
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
    /// The version that the gateway started with.
    pub(crate) started: Config,
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

    /// Logs what of the rules is about no tool: when the external servers are connected, and after each reload what is new.
    pub(crate) async fn warn_of_unused(&self, pool: &ToolPool, stop: &CancellationToken) {
        let look = async {
            let mut known = BTreeSet::new();
            loop {
                for manager in McpManager::of_pool(pool) {
                    drop(timeout(CONNECT_WAIT, manager.settled()).await);
                }
                let lacks_tools = !absent_servers(pool).is_empty();
                let lacks_tools = if lacks_tools { "; an MCP server is not connected" } else { "" };
                let unused = self.0.policy.iter().flat_map(|policy| policy.unused_patterns(pool));
                let unused = unused.map(|text| format!("the policy: {text}{lacks_tools}"));
                let unused = BTreeSet::from_iter(unused);
                unused.difference(&known).for_each(|text| tracing::warn!("{text}"));
                known = unused;
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
        // Rules and tokens count whatever else is wrong: to deny or to remove one may be urgent.
        if let Some(policy) = &self.0.policy {
            // It logs what became of it.
            let _ = policy.reload_if_changed();
        }
        let plan = Plan::load(&self.0.source).map_err(BoxError::from);
        plan.and_then(|plan| self.take(plan)).inspect_err(|_| self.read_tokens())
    }

    fn take(&self, plan: Plan) -> Result<(), BoxError> {
        let Parts { started, authentication, tls, secrets, workspace, .. } = &*self.0;
        let (old, new) = (self.config(), plan.config);
        let keeps_authentication = has_authentication(started) == has_authentication(&new);
        warn_of_fixed(&started.values(), &new.values(), keeps_authentication);
        plan.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        mask(secrets, plan.secrets);
        if let Some(workspace) = workspace {
            workspace.protect(plan.own_files)?;
        }
        // What may fail is first.
        let files = |config: &Config| config.http.as_ref().and_then(|http| http.tls.clone());
        if let Some(tls) = tls.as_ref().filter(|_| files(started) == files(&new)) {
            tls.reload()?;
        }
        if let Some(http) = plan.http.filter(|_| keeps_authentication) {
            let jwt = |config: &Config| config.http.as_ref().and_then(|http| http.jwt.clone());
            let mut ways = http.ways;
            if jwt(&old) == jwt(&new) {
                // It knows the keys of the issuer.
                ways.jwt = authentication.ways().jwt.clone();
            }
            self.replace(ways);
        }
        self.0.config.store(Arc::new(new));
        Ok(())
    }

    /// Reads the tokens of the version that was taken last.
    fn read_tokens(&self) {
        let ways = self.0.authentication.ways();
        let config = self.config();
        // Authentication is added at a start only.
        let http = config.http.as_ref().filter(|_| !ways.is_empty());
        match http.map(tokens) {
            Some(Ok(Some(tokens))) => {
                mask(&self.0.secrets, token_secrets(&config));
                self.replace(Ways { tokens: Some(Arc::new(tokens)), jwt: ways.jwt.clone() });
            }
            Some(Err(mistakes)) => {
                for (key, mistake) in mistakes {
                    tracing::warn!("new tokens do not count: `{key}`: {mistake}");
                }
                // A file that is missing is no list of nobody.
                if let (Some(tokens), Some(lines)) = (&ways.tokens, http.and_then(token_lines)) {
                    let tokens = Some(Arc::new(tokens.also_in(&lines)));
                    self.replace(Ways { tokens, jwt: ways.jwt.clone() });
                }
            }
            _ => {}
        }
    }

    /// Replaces the ways to authenticate, and names the callers whose tokens have changed.
    fn replace(&self, ways: Ways) {
        let (old, new) = (self.0.authentication.ways(), Arc::new(ways));
        self.0.authentication.replace(Arc::clone(&new));
        let none = BearerTokens::none();
        let before = old.tokens.as_deref().unwrap_or(&none);
        let after = new.tokens.as_deref().unwrap_or(&none);
        let changes = [
            ("tokens were removed of", after.lacking(before)),
            ("tokens were added of", before.lacking(after)),
            ("tokens have other names or scopes of", before.differing(after)),
        ];
        for (what, callers) in changes.into_iter().filter(|(_, callers)| !callers.is_empty()) {
            let names = Vec::from_iter(callers).join(", ");
            tracing::info!("{what}: {}", excerpt(&names));
        }
    }
}

fn has_authentication(config: &Config) -> bool {
    config.http.as_ref().is_some_and(Http::has_authentication)
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

/// The keys whose changes count at once.
const LIVE: [&str; 5] = ["mcpServers", "mcp_config", "http.tokens", "http.tokens_file", "http.jwt"];

/// Names the keys whose changes count at the next start: all others, and those of authentication if it is added or removed.
fn warn_of_fixed(old: &Value, new: &Value, keeps_authentication: bool) {
    let mut changed = Vec::new();
    note_changes("", old, new, &mut changed);
    let is_live = |key: &str| {
        let live = LIVE.iter().filter(|live| keeps_authentication || !live.starts_with("http."));
        let is_in = |live: &str| key.strip_prefix(live).is_some_and(|it| !it.starts_with('_'));
        live.into_iter().any(|live| is_in(live))
    };
    changed.retain(|key| !is_live(key));
    if !changed.is_empty() {
        let keys = changed.join("`, `");
        tracing::warn!(
            "the values of `{keys}` are other ones than at the start, and count at the next one"
        );
    }
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
