//! The parts of a valid configuration. Making a plan has no effect: `check` makes one, too.

pub(crate) mod files;
mod http;
mod inbox;
mod problems;
mod servers;
mod tools;

pub(crate) use http::{HttpPlan, token_lines, token_secrets, tokens};
pub(crate) use problems::{Mistakes, Problems};
pub(crate) use servers::{absent as absent_servers, with_servers};
pub(crate) use tools::BuiltinTools;

use crate::config::document::Loaded;
use crate::config::{Config, Source};
use files::absolute;
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use tool_runtime::ToolPool;
use tool_runtime::policy::LivePolicy;
use tool_runtime::pool::{Filter, Selector};
use tool_runtime::skills::SkillLibrary;
use tool_runtime_server::seam::bind;

/// The parts of a valid configuration.
pub(crate) struct Plan {
    pub(crate) config: Config,
    pub(crate) policy: Option<LivePolicy>,
    pub(crate) filter: Option<Filter>,
    pub(crate) http: Option<HttpPlan>,
    /// The files of the gateway, which built-in tools do not touch.
    pub(crate) own_files: Vec<PathBuf>,
    pub(crate) builtins: BuiltinTools,
    pub(crate) skills: Option<SkillLibrary>,
    /// External servers without which the gateway does not start.
    required: BTreeSet<String>,
    /// Values to be masked, with their names.
    pub(crate) secrets: Vec<(String, String)>,
    /// What is valid, and perhaps not meant.
    pub(crate) warnings: Vec<String>,
}

impl Plan {
    /// Reads the configuration, and checks all that it names.
    ///
    /// # Errors
    /// All mistakes.
    pub(crate) fn load(source: &Source) -> Result<Self, Mistakes> {
        let Loaded { config, problems, broken, document, mut secrets } =
            source.load().map_err(Mistakes::new)?;
        let mut problems = Problems::new(document.as_ref(), problems);
        let mut warnings = Vec::new();
        let policy = policy(&config, &mut problems);
        let filter = filter(&config, &mut problems);
        let http = config.http.as_ref().map(|http| http::plan(http, &mut problems, &mut warnings));
        let own_files = files::own(source, &config);
        let builtins = BuiltinTools::new(&config.tools, &own_files, &mut problems, &mut warnings);
        let skills = tools::skills(&config.tools, &mut problems);
        for name in &config.secrets {
            match std::env::var(name) {
                Ok(value) => secrets.push((name.clone(), value)),
                Err(_) => problems.add("secrets", format_args!("the variable `{name}` is not set")),
            }
        }
        files::check(&config, &mut problems);
        // They are checked together.
        if !broken.contains("http") && !broken.contains("approvals") {
            inbox::check(&config, policy.as_ref(), &mut problems, &mut warnings);
        }
        let required = servers::check(source, &config, &mut problems, &mut warnings);
        problems.end(&broken, &secrets)?;
        secrets.extend(token_secrets(&config));
        warnings.extend(files::exposed(&config));
        warnings.extend(http::guessable(&config));
        Ok(Self {
            config,
            policy,
            filter,
            http,
            own_files,
            builtins,
            skills,
            required,
            secrets,
            warnings,
        })
    }

    /// What is found once the servers are connected: mistakes, which are required servers that are not connected; and warnings
    /// about others, and about rules and patterns that are about no tool.
    pub(crate) fn compared_with(&self, pool: &ToolPool) -> (Vec<String>, Vec<String>) {
        let rules = self.policy.iter().flat_map(|policy| policy.unused_patterns(pool));
        let report = pool.report();
        let patterns = report.unmatched.iter();
        let patterns = patterns.map(|pattern| format!("the pattern `{pattern}` picks no tool"));
        let absent = absent_servers(pool).into_iter();
        let (required, others): (Vec<_>, Vec<_>) =
            absent.partition(|(name, _)| self.required.contains(name));
        let texts = |servers: Vec<(String, String)>| servers.into_iter().map(|(_, text)| text);
        (texts(required).collect(), patterns.chain(rules).chain(texts(others)).collect())
    }

    /// Tries to listen.
    ///
    /// # Errors
    /// The address is taken, or this user may not listen there.
    pub(crate) async fn try_address(&self) -> io::Result<()> {
        match &self.config.http {
            Some(http) => bind(&http.listen).await.map(drop),
            None => Ok(()),
        }
    }

    /// The files that are written, and that this user cannot write.
    pub(crate) fn unwritable(&self) -> Vec<files::Unwritable> {
        files::unwritable(&self.config)
    }

    /// A line for each part.
    pub(crate) fn summary(&self) -> Vec<String> {
        let Self { config, policy, .. } = self;
        let servers = config.mcp_servers.len();
        let families = config.tools.families.len();
        let mut lines = vec![match &config.http {
            Some(http) => format!("serves over HTTP at {}", http.listen),
            None => "serves on standard input and output".to_owned(),
        }];
        lines.push(format!(
            "external MCP servers: {servers}, and those of {} other files",
            config.mcp_config.len()
        ));
        lines.push(format!("families of built-in tools: {families}"));
        lines.push(match (policy, &config.policy) {
            (Some(_), Some(policy)) => format!("policy: {}", absolute(&policy.file)),
            _ => "policy: none, so that every call is allowed".to_owned(),
        });
        lines.push(match &config.approvals.inbox {
            Some(inbox) => format!("inbox: {}", absolute(inbox)),
            None => "inbox: none".to_owned(),
        });
        lines.push(match &config.log {
            Some(log) => format!("log: {}", absolute(&log.file)),
            None => "log: none".to_owned(),
        });
        lines
    }
}

fn policy(config: &Config, problems: &mut Problems<'_>) -> Option<LivePolicy> {
    match LivePolicy::open(&config.policy.as_ref()?.file) {
        Ok(policy) => Some(policy),
        Err(error) => {
            // They have files and lines of their own.
            error.problems().iter().for_each(|problem| problems.add_other(problem));
            None
        }
    }
}

fn filter(config: &Config, problems: &mut Problems<'_>) -> Option<Filter> {
    let mut selectors = |key: &str, patterns: &[String]| -> Vec<Selector> {
        let each = patterns.iter().enumerate();
        each.filter_map(|(index, text)| {
            problems.accept(&format!("tools.{key}[{index}]"), text.parse())
        })
        .collect()
    };
    let allow = selectors("allow", &config.tools.allow);
    let deny = selectors("deny", &config.tools.deny);
    Filter::from_lists(allow, deny)
}
