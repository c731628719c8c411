//! What a running gateway takes from a new version of its configuration.

mod authentication;

pub(crate) use authentication::Authentication;

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

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The parts of a running gateway that may change: external servers, rules, tokens and issuers. Clones share them.
#[derive(Clone)]
pub(crate) struct Live(Arc<Parts>);

struct Parts {
    source: Source,
    /// The newest version that was taken.
    config: ArcSwap<Config>,
    policy: Option<LivePolicy>,
    authentication: Authentication,
    tls: Option<Tls>,
}

impl Live {
    pub(crate) fn new(
        source: Source,
        config: Config,
        policy: Option<LivePolicy>,
        authentication: Authentication,
        tls: Option<Tls>,
    ) -> Self {
        let config = ArcSwap::from_pointee(config);
        Self(Arc::new(Parts { source, config, policy, authentication, tls }))
    }

    pub(crate) fn config(&self) -> Arc<Config> {
        self.0.config.load_full()
    }

    fn apply(&self) -> Result<(), BoxError> {
        let plan = Plan::load(&self.0.source).map_err(|problems| invalid(&problems))?;
        let fixed = fixed(&self.config(), &plan.config);
        if !fixed.is_empty() {
            let keys = fixed.join("`, `");
            tracing::warn!("the new values of `{keys}` count at the next start");
        }
        if let Some(policy) = &self.0.policy {
            policy.reload()?;
        }
        if let Some(tls) = &self.0.tls {
            tls.reload()?;
        }
        if let Some(http) = &plan.config.http {
            self.0.authentication.replace(http);
        }
        plan.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        self.0.config.store(Arc::new(plan.config));
        Ok(())
    }
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
            let has_auth =
                http.tokens.is_some() || http.tokens_file.is_some() || http.jwt.is_some();
            let kept = (http.listen.clone(), http.hosts.clone(), http.origins.clone());
            let kept = (kept, http.tls.clone());
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
