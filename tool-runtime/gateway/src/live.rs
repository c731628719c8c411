//! The application of a new version of the configuration to a running gateway.

mod authentication;

pub(crate) use authentication::{Authentication, Ways};

use crate::BoxError;
use crate::assemble::invalid;
use crate::config::{Config, Source};
use crate::plan::Plan;
use arc_swap::ArcSwap;
use std::path::PathBuf;
use std::sync::Arc;
use tool_runtime::BoxFuture;
use tool_runtime::cli::Reload;
use tool_runtime::http::Tls;
use tool_runtime::policy::LivePolicy;
use tool_runtime::secret::Secrets;
use tool_runtime_builtins::Workspace;

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
}

impl Live {
    pub(crate) fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    pub(crate) fn config(&self) -> Arc<Config> {
        self.0.config.load_full()
    }

    fn apply(&self) -> Result<(), BoxError> {
        let Parts { started, policy, authentication, tls, secrets, workspace, .. } = &*self.0;
        let plan = Plan::load(&self.0.source).map_err(|problems| invalid(&problems))?;
        let (old, new) = (self.config(), plan.config);
        let fixed = fixed(started, &new);
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
        if let Some(policy) = policy.as_ref().filter(|_| started.policy == new.policy) {
            policy.reload()?;
        }
        let has_authentication =
            |config: &Config| config.http.as_ref().is_some_and(|http| http.has_authentication());
        if let Some(http) =
            plan.http.filter(|_| has_authentication(started) == has_authentication(&new))
        {
            let jwt = |config: &Config| config.http.as_ref().and_then(|http| http.jwt.clone());
            let mut ways = http.ways;
            if jwt(&old) == jwt(&new) {
                // It knows the keys of the issuer.
                ways.jwt = authentication.ways().jwt.clone();
            }
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
}

/// The keys whose changes count at the next start.
fn fixed(old: &Config, new: &Config) -> Vec<&'static str> {
    let tools = |config: &Config| format!("{:?}", config.tools);
    let address = |config: &Config| {
        config.http.as_ref().map(|http| {
            let has_auth = http.has_authentication();
            let kept = (http.listen.clone(), http.hosts.clone(), http.origins.clone());
            let kept = (kept, http.tls.clone(), http.inbox, http.metrics);
            (kept, http.insecure_no_auth, http.sessions, http.limits, has_auth)
        })
    };
    let changes = [
        ("title", old.title != new.title),
        ("instructions", old.instructions != new.instructions),
        ("http", address(old) != address(new)),
        ("policy.file", old.policy != new.policy),
        ("approvals", old.approvals != new.approvals),
        ("log", old.log != new.log),
        ("tools", tools(old) != tools(new)),
        ("runners", old.runners != new.runners),
        ("secrets", old.secrets != new.secrets),
    ];
    changes.into_iter().filter(|(_, is_changed)| *is_changed).map(|(key, _)| key).collect()
}
