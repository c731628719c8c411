//! The pool and the server of a plan.

use crate::BoxError;
use crate::approver::approver;
use crate::authentication::{Authentication, Ways};
use crate::config::{Log, Source};
use crate::live::{Live, Parts, mask};
use crate::notify::Notifier;
use crate::plan::files::INBOX;
use crate::plan::{HttpPlan, Mistakes, Plan, with_servers};
use arc_swap::ArcSwap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tool_runtime::approvals::{FileStore, InboxRoutes};
use tool_runtime::audit::{EventLog, LogError, OnFailure};
use tool_runtime::cli::Assembly;
use tool_runtime::pool::{Source as ToolSource, ToolPoolBuilder};
use tool_runtime::secret::Secrets;
use tool_runtime::shell::ShellMatcher;

/// The parts of the program. Files of the configuration are opened.
pub(crate) async fn assemble(pool: ToolPoolBuilder, source: Source) -> Result<Assembly, BoxError> {
    let mut plan = Plan::load(&source)?;
    let inbox = if source.may_call() { opened_inbox(&mut plan, &source)? } else { None };
    let Plan { config, policy, filter, http, builtins, skills, secrets, warnings, .. } = plan;
    match source.file.as_deref().map(std::path::absolute) {
        Some(Ok(file)) => tracing::info!("the configuration is {}", file.display()),
        _ => tracing::info!("there is no configuration file"),
    }
    warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    let masked = Secrets::new();
    mask(&masked, secrets);
    let mut pool = pool.secrets(masked.clone()).argument_matcher(ShellMatcher).allow_empty();
    if config.tools.repair {
        pool = pool.repair();
    }
    if let Some(limit) = config.tools.timeout {
        pool = pool.timeout(Duration::from_secs(limit));
    }
    if let Some(filter) = filter {
        pool = pool.filter(filter);
    }
    if let Some(policy) = &policy {
        policy.watch(Duration::from_secs(2));
        pool = pool.install(policy.clone());
    }
    if let Some(log) = config.log.as_ref().filter(|_| source.may_call()) {
        pool = pool.install(opened(log)?);
    }
    let notify = config.approvals.notify.as_ref().filter(|_| inbox.is_some());
    let notifier = notify.cloned().map(Notifier::start);
    pool = pool.approver(approver(&config.approvals, inbox.as_ref(), notifier));
    if let Some(skills) = &skills {
        pool = pool.add_from(&ToolSource::Custom, [skills.tool()]);
    }
    let workspace = builtins.workspace().cloned();
    let schedule = match builtins.open(&config.tools)? {
        Some((builtins, schedule)) => {
            pool = pool.install(builtins);
            schedule
        }
        None => None,
    };
    let (http_options, ways, tls) = match http {
        Some(HttpPlan { options, ways, tls }) => (Some(options), ways, tls),
        None => (None, Ways::default(), None),
    };
    let has_authentication = !ways.is_empty();
    let authentication = Authentication::new(ways);
    let mut assembly = Assembly::new(pool);
    if let Some(title) = &config.title {
        assembly = assembly.title(title);
    }
    if let Some(instructions) = &config.instructions {
        assembly = assembly.instructions(instructions);
    }
    if let (Some(http), Some(mut options)) = (&config.http, http_options) {
        if has_authentication {
            options = options.auth(authentication.clone());
        }
        if let Some(store) = inbox.filter(|_| has_authentication && http.inbox.unwrap_or(true)) {
            let routes = InboxRoutes::new(Arc::new(store), authentication.clone());
            let routes = routes.scope("approve").remembers(config.approvals.remember);
            options = options.routes(routes.into_router());
        }
        assembly = assembly.http(Some(http.listen.clone()), options);
    }
    if let Some(runners) = &config.runners {
        assembly = assembly.remote(&runners.hub, runners.trust);
    }
    let live = Live::new(Parts {
        source: source.clone(),
        started: config.clone(),
        taken: Notify::new(),
        policy,
        authentication,
        tls,
        secrets: masked,
        workspace,
        config: ArcSwap::from_pointee(config),
    });
    let (servers, rules) = (live.clone(), live.clone());
    Ok(assembly
        .servers(move |loader| with_servers(loader, &source, &servers.config()))
        .while_serving(move |pool, stop| {
            Box::pin(async move {
                let jobs = async {
                    let Some(schedule) = schedule else { return };
                    if let Err(error) = schedule.run(&pool, stop.clone()).await {
                        tracing::error!("the jobs of the schedule do not run: {error}");
                    }
                };
                tokio::join!(jobs, rules.warn_of_unused(&pool, &stop));
            })
        })
        .reload(live))
}

/// Refuses what this user cannot write. A call from the command line does without the inbox of the service.
fn opened_inbox(plan: &mut Plan, source: &Source) -> Result<Option<FileStore>, BoxError> {
    let (optional, needed): (Vec<_>, Vec<_>) =
        plan.unwritable().into_iter().partition(|file| source.is_call() && file.key == INBOX);
    if !needed.is_empty() {
        return Err(Mistakes::new(needed.into_iter().map(|file| file.text).collect()).into());
    }
    if !optional.is_empty() {
        let warnings =
            optional.into_iter().map(|file| format!("{}; nobody is asked there", file.text));
        plan.warnings.extend(warnings);
        return Ok(None);
    }
    Ok(plan.config.approvals.inbox.as_ref().map(FileStore::open).transpose()?)
}

fn opened(log: &Log) -> Result<EventLog, LogError> {
    let mut builder = EventLog::builder();
    if log.durable {
        builder = builder.durable();
    }
    if log.optional {
        builder = builder.on_failure(OnFailure::Continue);
    }
    if let Some(file) = &log.head_file {
        builder = builder.head_file(file);
    }
    if let Some(days) = log.keep_days {
        builder = builder.keep_for(Duration::from_secs(days.saturating_mul(24 * 60 * 60)));
    }
    // Lines of JSON look up no step of a repeated run.
    match EventLog::is_lines(&log.file) {
        true => builder.record_only().open(&log.file),
        false => builder.open(&log.file),
    }
}
