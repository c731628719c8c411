//! The MCP servers of skills.
//!
//! A server runs once for a pool, however many active skills of the library have the same entry. It
//! is closed with the last of them.

use crate::error::SkillError;
use crate::loader::SkillLoader;
use crate::read::SERVERS;
use crate::skill::Skill;
use serde_json::{Value, json};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Weak};
use tokio::sync::Mutex;
use tool_runtime_client::{McpManager, McpManagerBuilder};
use tool_runtime_config::{McpConfig, McpConfigProblem, McpServerConfig};
use tool_runtime_core::pool::ToolPool;

/// The servers of a skill.
#[derive(Debug, Default)]
pub(crate) struct Servers(pub(crate) McpConfig);

impl Servers {
    pub(crate) fn is_empty(&self) -> bool {
        self.enabled().next().is_none()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.enabled().map(|(name, _)| name.clone()).collect()
    }

    fn enabled(&self) -> impl Iterator<Item = (&String, &McpServerConfig)> {
        self.0.servers.iter().filter(|(_, config)| config.enabled)
    }
}

/// A finding about an entry.
pub(crate) struct Finding {
    /// The path of the key.
    pub(crate) key: String,
    pub(crate) text: String,
    pub(crate) is_warning: bool,
}

/// Reads the value of `mcpServers`.
pub(crate) fn read(value: &Value, folder: &Path) -> (Servers, Vec<Finding>) {
    let folder = folder.display().to_string();
    let loader = McpConfig::loader()
        .variables([("SKILL_ROOT", &*folder), ("CLAUDE_SKILL_DIR", &*folder)])
        .environment()
        .value(json!({ SERVERS: value }));
    match loader.load() {
        Ok(config) => {
            let warnings = config.warnings().iter().map(|warning| finding(warning, true)).collect();
            (Servers(config), warnings)
        }
        Err(error) => {
            let problems = error.problems.iter().map(|problem| finding(problem, false)).collect();
            (Servers::default(), problems)
        }
    }
}

fn finding(problem: &McpConfigProblem, is_warning: bool) -> Finding {
    Finding { key: problem.key.clone(), text: problem.to_string(), is_warning }
}

/// A running server, which runs as long as an active skill uses it.
pub(crate) struct Lease {
    name: String,
    config: McpServerConfig,
    pool: ToolPool,
    manager: McpManager,
}

impl Lease {
    fn is_for(&self, name: &str, config: &McpServerConfig, pool: &ToolPool) -> bool {
        self.name == name && self.config == *config && self.pool.is_of_same_pool(pool)
    }
}

/// The running servers of a library.
pub(crate) struct SharedServers {
    manager: Arc<dyn Fn() -> McpManagerBuilder + Send + Sync>,
    /// Locked while servers are started and closed, so that a server that is being closed is not
    /// started at the same time.
    running: Mutex<Vec<Weak<Lease>>>,
}

impl SharedServers {
    pub(crate) fn new(settings: &SkillLoader) -> Self {
        Self { manager: Arc::clone(&settings.manager), running: Mutex::default() }
    }

    /// Starts the servers of a skill, unless they run.
    ///
    /// # Errors
    /// One of them cannot be started. Those that were started for this skill are closed.
    pub(crate) async fn start(
        &self,
        skill: &Skill,
        pool: &ToolPool,
    ) -> Result<Vec<Arc<Lease>>, SkillError> {
        let mut leases = Vec::new();
        if skill.servers.is_empty() {
            return Ok(leases);
        }
        let mut running = self.running.lock().await;
        running.retain(|lease| lease.strong_count() > 0);
        for (name, config) in skill.servers.enabled() {
            let mut known = running.iter().filter_map(Weak::upgrade);
            let lease = match known.find(|lease| lease.is_for(name, config, pool)) {
                Some(lease) => lease,
                None => {
                    let lease = Arc::new(self.connect(skill, name, config, pool).await?);
                    running.push(Arc::downgrade(&lease));
                    lease
                }
            };
            leases.push(lease);
        }
        Ok(leases)
    }

    async fn connect(
        &self,
        skill: &Skill,
        name: &str,
        config: &McpServerConfig,
        pool: &ToolPool,
    ) -> Result<Lease, SkillError> {
        // The manager must not keep the handle that the skill ends with.
        let pool = pool.unrestricted();
        // The model must not use a skill whose tools are missing.
        let builder = (self.manager)().server(name, config.clone().required(true));
        let manager = builder.connect(&pool).await.map_err(|error| SkillError::Server {
            skill: skill.name.clone(),
            reason: error.to_string(),
        })?;
        Ok(Lease { name: name.to_owned(), config: config.clone(), pool, manager })
    }

    /// Closes the servers that no other skill uses, and waits for their end.
    pub(crate) async fn release(&self, leases: Vec<Arc<Lease>>) {
        if leases.is_empty() {
            return;
        }
        let _running = self.running.lock().await;
        for lease in leases {
            if let Some(lease) = Arc::into_inner(lease) {
                lease.manager.close().await;
            }
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lease").field(&self.name).finish()
    }
}
