//! Publishes a server's tools in the pool, under the ids of its entry.

use super::definition::{Imported, import};
use super::expected;
use super::listing::{ListedTool, Listing};
use super::names;
use super::pins::{Approvals, McpPin};
use super::remote_tool::{CallTimeouts, RemoteTool};
use super::schema::{Examiner, on_blocking_thread};
use super::server::Server;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::task::coop::consume_budget;
use tool_runtime_config::McpServerConfig;
use tool_runtime_core::pool::{PoolError, PoolProblem, ToolPool};
use tool_runtime_core::seam::{Claim, Redactor, has_secret, has_secret_key, lock};
use tool_runtime_core::tool::transform::ToolTransform;
use tool_runtime_core::tool::{Source, Tool, ToolDefinition};

/// Publishes the tools of one server.
pub(super) struct Publisher {
    pool: ToolPool,
    source: Source,
    /// Prefix of the ids of its tools.
    prefix: String,
    /// A notice about the prefix.
    notice: Option<String>,
    /// Whether a tool whose id is taken gets a suffix, instead of being left out.
    suffixes: bool,
    timeouts: CallTimeouts,
    /// Whether the server's annotations are trusted.
    is_trusted: bool,
    /// The entry, if there is one.
    entry: Option<McpServerConfig>,
    approvals: Arc<Approvals>,
    state: Mutex<State>,
}

struct State {
    /// The claim of the server's name, released with the server.
    claim: Option<Claim>,
    /// The last published tools, by the server's names.
    known: BTreeMap<String, Tool>,
    /// Reasons why tools of the last list are left out, by id.
    left_out: BTreeMap<String, String>,
    /// Whether pages of the last list are missing.
    is_incomplete: bool,
}

/// The result of publishing a list.
pub(super) struct Published {
    /// Number of usable tools.
    pub(super) tools: usize,
    pub(super) problems: Vec<String>,
}

/// A listed tool.
struct Candidate {
    /// The server's name of the tool.
    name: String,
    /// Its id in the pool, which is the definition's unless a transform changes it.
    id: String,
    definition: Arc<ToolDefinition>,
    /// The changes that its entry makes.
    transform: Option<ToolTransform>,
    pin: McpPin,
    /// Repairs of its schemas, and patterns that are not enforced.
    notes: Vec<String>,
}

impl Candidate {
    /// A listed tool without the secrets of the server's entry. Its name has none.
    fn new(
        prefix: &str,
        mut listed: ListedTool,
        redactor: &Redactor,
        examiner: &mut Examiner,
    ) -> Self {
        let name = listed.name().to_owned();
        let has_secret_argument = listed
            .0
            .pointer("/inputSchema/properties")
            .is_some_and(|it| has_secret_key(redactor, it));
        redactor.value(&mut listed.0);
        let Imported { mut definition, pin, notes } =
            import(names::id(prefix, &name), listed, examiner);
        if has_secret_argument {
            definition
                .add_problem("the name of an argument contains a secret of the server's entry");
        }
        // Some clients reject a whole list for one schema without a type.
        definition.input_schema.entry("type").or_insert_with(|| "object".into());
        let (id, definition) = (definition.name.clone(), Arc::new(definition));
        Self { name, id, definition, transform: None, pin, notes }
    }

    /// Applies the transform of its entry. A tool whose transform is invalid is left out.
    fn transform(&mut self, prefix: &str, transform: &ToolTransform) {
        let mut transform = transform.clone();
        if let Some(before) = transform.prefix.take() {
            let name = transform.name.as_ref().unwrap_or(&self.name);
            transform.name = Some(format!("{before}.{name}"));
        }
        let problems = transform.problems(&self.definition);
        if !problems.is_empty() {
            let definition = Arc::make_mut(&mut self.definition);
            problems
                .iter()
                .for_each(|problem| definition.add_problem(format!("its transform: {problem}")));
            transform.arguments.clear();
        }
        if let Some(name) = &transform.name {
            self.id = names::id(prefix, name);
        }
        self.transform = Some(transform);
    }

    fn set_id(&mut self, id: String) {
        if self.transform.is_none() {
            Arc::make_mut(&mut self.definition).name.clone_from(&id);
        }
        self.id = id;
    }

    fn tool(&self, server: &Arc<Server>, timeouts: &CallTimeouts) -> Tool {
        let tool = RemoteTool::tool(server, &self.name, &self.definition, timeouts);
        match &self.transform {
            Some(transform) => tool.transformed(&transform.clone().name(&*self.id)),
            None => tool,
        }
    }

    /// Whether a published tool equals this one.
    fn is_published_as(&self, tool: &Tool) -> bool {
        let original = tool.made_from().unwrap_or(tool);
        *original.definition() == *self.definition && tool.name() == self.id
    }

    /// Leaves out a tool whose marked arguments cannot be repeated as headers.
    fn check_param_headers(&mut self, has_param_headers: bool) {
        #[cfg(feature = "http")]
        if has_param_headers
            && let Err(problem) = super::param_headers::mappings(&self.definition.input_schema)
        {
            Arc::make_mut(&mut self.definition).add_problem(problem);
        }
        #[cfg(not(feature = "http"))]
        let _ = has_param_headers;
    }

    /// Marks the annotations of an untrusted server.
    fn mark_untrusted(&mut self) {
        Arc::make_mut(&mut self.definition).untrusted_annotations = true;
    }

    /// The id derived from the tool's name, even if a conflict has changed its id.
    fn requested_id(&self, prefix: &str) -> String {
        let renamed = self.transform.as_ref().and_then(|transform| transform.name.as_ref());
        names::id(prefix, renamed.unwrap_or(&self.name))
    }

    /// The problems of its definition.
    fn problems(&self) -> impl Iterator<Item = String> {
        let name = &self.name;
        let reasons = self.definition.problems().iter();
        let left_out =
            reasons.map(move |reason| format!("its tool `{name}` is left out: {reason}"));
        left_out.chain(self.notes.iter().map(move |note| format!("its tool `{name}`: {note}")))
    }
}

/// How the tools of a server are published.
pub(super) struct PublisherOptions {
    pub(super) prefix: String,
    /// A problem of the prefix.
    pub(super) notice: Option<String>,
    /// Whether a name that another tool has gets a suffix.
    pub(super) suffixes: bool,
    pub(super) timeouts: CallTimeouts,
    /// Whether the server's annotations are trusted.
    pub(super) is_trusted: bool,
    pub(super) entry: Option<McpServerConfig>,
    pub(super) approvals: Arc<Approvals>,
}

impl Publisher {
    /// A publisher for a server. `None` if another manager of the pool has a server of this name.
    pub(super) fn new(pool: ToolPool, server: &str, options: PublisherOptions) -> Option<Self> {
        let source = Source::mcp(server);
        let claim = Some(pool.claim(&source)?);
        let state = Mutex::new(State {
            claim,
            known: BTreeMap::new(),
            left_out: BTreeMap::new(),
            is_incomplete: false,
        });
        let PublisherOptions { prefix, notice, suffixes, timeouts, is_trusted, entry, approvals } =
            options;
        Some(Self {
            pool,
            source,
            prefix,
            notice,
            suffixes,
            timeouts,
            is_trusted,
            entry,
            approvals,
            state,
        })
    }

    /// The prefix of its tools' ids.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Replaces the published tools by those of a listing. Unchanged tools stay the same objects. Dropping the future
    /// publishes nothing.
    pub(super) async fn publish(&self, server: &Arc<Server>, listing: Listing) -> Published {
        let Listing { tools, mut problems, has_param_headers, .. } = listing;
        let names: Vec<&str> = tools.iter().map(ListedTool::name).collect();
        problems.extend(self.entry.iter().flat_map(|entry| entry.unmatched_patterns(&names)));
        problems.extend(self.notice.clone());
        let includes = |tool: &str| self.entry.as_ref().is_none_or(|entry| entry.includes(tool));
        let wanted = tools.into_iter().filter(|listed| includes(listed.name()));
        let redactor = &server.redactors().results;
        // A masked name could not be called, and an id shows most of the name.
        let (secret, wanted): (Vec<_>, Vec<_>) =
            wanted.partition(|listed| has_secret(redactor, listed.name()));
        problems.extend(secret.iter().map(|listed| secret_name(&redactor.text(listed.name()))));
        let (prefix, is_trusted) = (self.prefix().to_owned(), self.is_trusted);
        let shared = Arc::clone(server);
        let transforms =
            self.entry.as_ref().map(|entry| entry.transforms.clone()).unwrap_or_default();
        // Compiling schemas takes time.
        let mut candidates = on_blocking_thread(move || {
            let mut examiner = Examiner::default();
            let candidate = |listed| {
                let redactor = &shared.redactors().results;
                let mut candidate = Candidate::new(&prefix, listed, redactor, &mut examiner);
                candidate.check_param_headers(has_param_headers);
                if !is_trusted {
                    candidate.mark_untrusted();
                }
                if let Some(transform) = transforms.get(&candidate.name) {
                    candidate.transform(&prefix, transform);
                }
                candidate
            };
            wanted.into_iter().map(candidate).collect::<Vec<_>>()
        })
        .await;
        problems.extend(candidates.iter().flat_map(Candidate::problems));
        self.approvals.begin(server.name());
        for candidate in &mut candidates {
            problems.extend(self.unapproved(server.name(), candidate));
        }
        // The second attempt has no conflicts: it has suffixed ids, or fewer tools.
        for _ in 0..2 {
            match self.offer(server, &candidates).await {
                Ok(()) => break,
                Err(error) => self.resolve_conflicts(&mut candidates, &error, &mut problems),
            }
        }
        let ids: Vec<&str> =
            candidates.iter().map(|candidate| &*candidate.definition.name).collect();
        problems.extend(expected::differences(&self.pool, self.prefix(), &ids));
        let reason = |candidate: &Candidate| candidate.definition.problems().last().cloned();
        let left_out = candidates.iter().filter_map(|candidate| {
            Some((candidate.requested_id(self.prefix()), reason(candidate)?))
        });
        self.state().left_out = left_out.collect();
        let usable =
            candidates.iter().filter(|candidate| candidate.definition.problems().is_empty());
        Published { tools: usable.count(), problems }
    }

    /// The reason why a listed tool is left out.
    pub(super) fn why_left_out(&self, id: &str) -> Option<String> {
        self.state().left_out.get(id).cloned()
    }

    /// Whether pages of the last list are missing.
    pub(super) fn is_incomplete(&self) -> bool {
        self.state().is_incomplete
    }

    pub(super) fn set_incomplete(&self, is_incomplete: bool) {
        self.state().is_incomplete = is_incomplete;
    }

    /// Removes all tools of the server from the pool.
    pub(super) fn withdraw(&self) {
        self.clear(&mut self.state());
    }

    /// Removes all tools, and publishes no more.
    pub(super) fn retire(&self) {
        let mut state = self.state();
        self.clear(&mut state);
        if let Source::Mcp(server) = &self.source {
            // Removed tools cannot be approved.
            self.approvals.begin(server);
        }
        state.claim = None;
    }

    fn clear(&self, state: &mut State) {
        if state.claim.is_some() {
            state.known.clear();
            state.left_out.clear();
            // Fails only for a closed pool, which has no tools.
            drop(self.pool.set_tools(&self.source, []));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Reports an unapproved definition, and leaves the tool out if the settings require approval.
    fn unapproved(&self, server: &str, candidate: &mut Candidate) -> Option<String> {
        let Candidate { name, definition, pin, .. } = candidate;
        let mut problem = self.approvals.note(server, name, pin)?.to_string();
        if self.approvals.requires_approval() {
            problem.push_str(&format!(
                "; it is held back until it is approved, by `pin {server}.{name}` on the command line or `McpManager::approve` in code"
            ));
            Arc::make_mut(definition).add_problem(problem.clone());
        }
        Some(problem)
    }

    async fn offer(&self, server: &Arc<Server>, candidates: &[Candidate]) -> Result<(), PoolError> {
        let (known, mut tools) = (self.state().known.clone(), BTreeMap::new());
        for candidate in candidates {
            let old = known.get(&candidate.name).filter(|tool| candidate.is_published_as(tool));
            let tool = old.cloned().unwrap_or_else(|| candidate.tool(server, &self.timeouts));
            tools.insert(candidate.name.clone(), tool);
            consume_budget().await;
        }
        let mut state = self.state();
        if state.claim.is_none() {
            return Ok(());
        }
        self.pool.set_tools(&self.source, tools.values().cloned())?;
        state.known = tools;
        Ok(())
    }

    /// Gives tools with taken ids a suffix, or leaves them out.
    fn resolve_conflicts(
        &self,
        candidates: &mut [Candidate],
        error: &PoolError,
        problems: &mut Vec<String>,
    ) {
        let mut taken = BTreeMap::new();
        for problem in error.problems() {
            match problem {
                PoolProblem::Duplicate { name, first, second } => {
                    let source = self.source.to_string();
                    let other = if first.ends_with(&source) { second } else { first };
                    taken.insert(name.clone(), other.clone());
                }
                other => problems.push(other.to_string()),
            }
        }
        let mut seen = BTreeSet::new();
        for candidate in candidates {
            let is_second = !seen.insert(candidate.id.clone());
            let Some(other) = taken.get(&candidate.id) else { continue };
            let is_own = other == "given with it";
            if is_own && !is_second {
                continue;
            }
            let (id, name) = (candidate.id.clone(), candidate.name.clone());
            // The report needs a distinct id, too.
            candidate.set_id(names::distinct(&id, self.prefix(), &name));
            if self.suffixes {
                continue;
            }
            let problem = format!(
                "its tool `{name}` would be `{id}`, which another tool ({other}) is; set a `prefix`, or leave one of them out"
            );
            Arc::make_mut(&mut candidate.definition).add_problem(problem.clone());
            problems.push(problem);
        }
    }
}

fn secret_name(name: &str) -> String {
    format!("its tool `{name}` is left out: its name contains a secret of the server's entry")
}
