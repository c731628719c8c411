//! Publishes the tools of the queues in the pool.

use super::Settings;
use super::link::Link;
use super::tool::RemoteTool;
use crate::board::{Board, BoardError, Topic};
use crate::catalogue::{Announced, Catalogue, MAX_CATALOGUE};
use crate::message::{self, Roll};
use crate::names::{Queue, RunnerId};
use crate::payload::{BlobRef, Digest};
use crate::roster::Seen;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tool_runtime_core::pool::{PoolError, PoolProblem, ToolPool, ToolStatus};
use tool_runtime_core::seam::{Claim, lock};
use tool_runtime_core::tool::{Source, Tool, ToolDefinition};

/// The time limit of reading a catalogue.
const FETCH: Duration = Duration::from_secs(10);

/// The time for which runners are remembered, for messages.
const REMEMBERED: Duration = Duration::from_secs(600);

/// The time until a catalogue that could not be read is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// The most lists of tools that are read for a queue. A rolling update has two.
const MAX_VERSIONS: usize = 8;

/// The most tools of a runner.
const MAX_TOOLS: usize = 4096;

/// The most problems of messages that are kept.
const MAX_PROBLEMS: usize = 16;

/// Publishes the tools of queues.
pub(super) struct Publisher {
    pool: ToolPool,
    pub(super) settings: Settings,
    pub(super) link: Weak<Link>,
    pub(super) state: Mutex<State>,
    catalogues: Mutex<HashMap<Digest, Arc<Catalogue>>>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) queues: BTreeMap<Queue, Published>,
    /// The tools of queues that were withdrawn, by ids, and when a runner served them last.
    pub(super) withdrawn: BTreeMap<String, (Queue, Instant)>,
    /// The reason why the board is out of reach.
    pub(super) outage: Option<BoardError>,
    /// What is wrong with the board, as far as it knows.
    pub(super) board_problem: Option<String>,
    /// The last problems of messages.
    problems: VecDeque<String>,
    /// The catalogues that cannot be read: why, and when that was tried.
    unread: HashMap<Digest, (String, Instant)>,
    /// The runners that the pool is up to date with, and their catalogues.
    known: Vec<(RunnerId, Digest)>,
    is_over: bool,
}

/// The published tools of a queue.
pub(super) struct Published {
    /// The exclusive right to them.
    _claim: Claim,
    /// By ids.
    pub(super) tools: BTreeMap<String, Offered>,
    /// The time at which a runner served last.
    served: Instant,
    /// The problems of its runners.
    problems: Vec<String>,
}

/// A tool as it was published.
pub(super) struct Offered {
    announced: Announced,
    /// The reason to leave it out, because of another queue.
    problem: Option<String>,
    /// The reason to leave it out, because of another source of the pool.
    conflict: Option<String>,
    tool: Tool,
}

impl Offered {
    /// The reason to leave it out.
    pub(super) fn left_out(&self) -> Option<&String> {
        self.problem.as_ref().or(self.conflict.as_ref())
    }
}

/// A decision about the tools of a queue.
enum Plan {
    /// These ids stay for a while without a runner.
    Keep(Vec<String>),
    Withdraw,
    /// The tools by ids, and what is wrong with the runners.
    Publish(BTreeMap<String, Announced>, Vec<String>),
}

/// The queue that gets each id: the one that has it keeps it as long as it has the tool, or else the first one by name. So
/// no later runner takes over what is in use.
fn owners(
    plans: &BTreeMap<Queue, Plan>,
    holders: &HashMap<String, Queue>,
) -> HashMap<String, Queue> {
    let mut owners = HashMap::new();
    for (queue, plan) in plans {
        let ids: Vec<&String> = match plan {
            Plan::Keep(ids) => ids.iter().collect(),
            Plan::Withdraw => Vec::new(),
            Plan::Publish(announced, _) => announced.keys().collect(),
        };
        for id in ids {
            if holders.get(id) == Some(queue) {
                owners.insert(id.clone(), queue.clone());
            } else {
                owners.entry(id.clone()).or_insert_with(|| queue.clone());
            }
        }
    }
    owners
}

/// The tools of a queue, and why some are left out.
fn wanted(
    queue: &Queue,
    announced: BTreeMap<String, Announced>,
    owners: &HashMap<String, Queue>,
) -> Wanted {
    let with_problem = |(id, announced): (String, Announced)| {
        let other = owners.get(&id).filter(|owner| *owner != queue);
        let problem = other.map(|other| {
            format!("queue `{other}` has a tool of this name; select the runners by labels, or set prefixes")
        });
        (id, (announced, problem))
    };
    announced.into_iter().map(with_problem).collect()
}

impl State {
    /// Keeps the last problems, and logs each of them once.
    fn note_problem(&mut self, problem: String) {
        if self.problems.contains(&problem) {
            return;
        }
        tracing::warn!("{problem}");
        if self.problems.len() >= MAX_PROBLEMS {
            self.problems.pop_front();
        }
        self.problems.push_back(problem);
    }

    /// Notes that a catalogue cannot be read, which is logged once.
    fn cannot_read(&mut self, digest: Digest, problem: String) {
        let before = self.unread.insert(digest, (problem.clone(), Instant::now()));
        if before.is_none_or(|(before, _)| before != problem) {
            tracing::warn!("{problem}");
        }
    }

    /// Whether something changed since the pool was brought up to date, or a queue without runners waits for its end.
    fn is_due(
        &mut self,
        serving: &BTreeMap<Queue, Vec<Seen>>,
        catalogues: &HashMap<Digest, Arc<Catalogue>>,
    ) -> bool {
        let has_catalogue = |(_, digest): &(RunnerId, Digest)| catalogues.contains_key(digest);
        let known: Vec<(RunnerId, Digest)> = serving
            .values()
            .flatten()
            .map(|seen| (seen.presence.runner.clone(), seen.presence.catalogue.sha256.clone()))
            .filter(has_catalogue)
            .collect();
        let is_new = known != self.known;
        self.known = known;
        for (queue, published) in &mut self.queues {
            if serving.contains_key(queue) {
                published.served = Instant::now();
            }
        }
        let has_conflict = |published: &Published| {
            published.tools.values().any(|offered| offered.conflict.is_some())
        };
        is_new
            || self.queues.keys().any(|queue| !serving.contains_key(queue))
            || self.queues.values().any(has_conflict)
    }

    /// The queues that have an id now.
    fn holders(&self) -> HashMap<String, Queue> {
        let of_queue = |(queue, published): (&Queue, &Published)| {
            let is_there = |(_, offered): &(&String, &Offered)| offered.left_out().is_none();
            let ids = published.tools.iter().filter(is_there);
            ids.map(|(id, _)| (id.clone(), queue.clone())).collect::<Vec<_>>()
        };
        self.queues.iter().flat_map(of_queue).collect()
    }
}

/// The tools that a queue should have, by ids.
type Wanted = BTreeMap<String, (Announced, Option<String>)>;

impl Publisher {
    pub(super) fn new(pool: ToolPool, settings: Settings, link: Weak<Link>) -> Self {
        let (state, catalogues) = (Mutex::default(), Mutex::default());
        Self { pool, settings, link, state, catalogues }
    }

    /// Brings the pool up to date. Returns whether the tools of a runner are published.
    pub(super) async fn refresh(&self, link: &Link) -> bool {
        link.roster.forget(REMEMBERED);
        let serving = self.serving(link);
        self.fetch(link, &serving).await;
        let mut state = lock(&self.state);
        if state.is_over {
            return false;
        }
        if !state.is_due(&serving, &lock(&self.catalogues)) {
            return !state.queues.is_empty();
        }
        let mut queues: BTreeSet<Queue> = serving.keys().cloned().collect();
        queues.extend(state.queues.keys().cloned());
        let mut plans = BTreeMap::new();
        for queue in queues {
            let runners = serving.get(&queue).map(Vec::as_slice).unwrap_or_default();
            plans.insert(queue.clone(), self.plan(&state, &queue, runners));
        }
        let owners = owners(&plans, &state.holders());
        for (queue, _) in plans.iter().filter(|(_, plan)| matches!(plan, Plan::Withdraw)) {
            self.withdraw(&mut state, queue);
        }
        for (queue, plan) in plans {
            if let Plan::Publish(announced, problems) = plan {
                let wanted = wanted(&queue, announced, &owners);
                self.publish(&mut state, &queue, wanted, problems);
            }
        }
        !state.queues.is_empty()
    }

    /// The runners that serve, by queues.
    fn serving(&self, link: &Link) -> BTreeMap<Queue, Vec<Seen>> {
        let has_labels = |seen: &Seen| {
            let labels = &seen.presence.labels;
            self.settings.labels.iter().all(|(name, value)| labels.get(name) == Some(value))
        };
        let mut serving: BTreeMap<Queue, Vec<Seen>> = BTreeMap::new();
        for seen in link.roster.all().into_iter().filter(|seen| seen.serves() && has_labels(seen)) {
            serving.entry(seen.presence.queue.clone()).or_default().push(seen);
        }
        serving
    }

    /// Reads the catalogues that are not known, and forgets those that no runner has.
    async fn fetch(&self, link: &Link, serving: &BTreeMap<Queue, Vec<Seen>>) {
        let mut blobs = HashMap::new();
        for (queue, runners) in serving {
            let mut versions = announced(runners);
            if versions.len() > MAX_VERSIONS {
                lock(&self.state).note_problem(format!(
                    "the runners of queue `{queue}` announce more than {MAX_VERSIONS} different lists of tools; those of the most runners count"
                ));
            }
            versions.truncate(MAX_VERSIONS);
            blobs.extend(versions.into_iter().map(|blob| (blob.sha256.clone(), blob)));
        }
        lock(&self.catalogues).retain(|digest, _| blobs.contains_key(digest));
        lock(&self.state).unread.retain(|digest, _| blobs.contains_key(digest));
        for (digest, blob) in blobs {
            let was_tried = |state: &State| {
                state.unread.get(&digest).is_some_and(|(_, at)| at.elapsed() < AGAIN)
            };
            if lock(&self.catalogues).contains_key(&digest) || was_tried(&lock(&self.state)) {
                continue;
            }
            match read(&*link.board, &blob).await {
                Ok(catalogue) => {
                    lock(&self.catalogues).insert(digest.clone(), Arc::new(catalogue));
                    lock(&self.state).unread.remove(&digest);
                }
                Err(problem) => lock(&self.state).cannot_read(digest, problem),
            }
        }
    }

    /// Decides about a queue.
    fn plan(&self, state: &State, queue: &Queue, runners: &[Seen]) -> Plan {
        let catalogues: Vec<Arc<Catalogue>> = {
            let known = lock(&self.catalogues);
            let of = |seen: &Seen| known.get(&seen.presence.catalogue.sha256).cloned();
            runners.iter().filter_map(of).collect()
        };
        if catalogues.is_empty() {
            return self.linger(state, queue, runners.is_empty());
        }
        let (announced, problems) = elect(&catalogues);
        let by_id = |announced: Announced| (self.id(&announced.definition.name), announced);
        Plan::Publish(announced.into_iter().map(by_id).collect(), problems)
    }

    /// Keeps the tools of a queue without runners for a while.
    fn linger(&self, state: &State, queue: &Queue, is_deserted: bool) -> Plan {
        let Some(published) = state.queues.get(queue) else { return Plan::Keep(Vec::new()) };
        if is_deserted && published.served.elapsed() >= self.settings.linger {
            return Plan::Withdraw;
        }
        let is_there = |(_, offered): &(&String, &Offered)| offered.left_out().is_none();
        let ids = published.tools.iter().filter(is_there);
        Plan::Keep(ids.map(|(id, _)| id.clone()).collect())
    }

    fn publish(&self, state: &mut State, queue: &Queue, wanted: Wanted, problems: Vec<String>) {
        let source = Source::runner(queue.as_str());
        if !state.queues.contains_key(queue) {
            let Some(claim) = self.pool.claim(&source) else {
                let text =
                    format!("another connection of this pool has the tools of queue `{queue}`");
                state.note_problem(text);
                return;
            };
            let (tools, served) = (BTreeMap::new(), Instant::now());
            let published = Published { _claim: claim, tools, served, problems: Vec::new() };
            state.queues.insert(queue.clone(), published);
        }
        let Some(published) = state.queues.get_mut(queue) else { return };
        (published.served, published.problems) = (Instant::now(), problems);
        if published.is(&wanted) {
            return;
        }
        state.withdrawn.retain(|_, (of, _)| of != queue);
        let mut offered = self.offered(queue, wanted, &mut published.tools);
        // The second attempt has no conflicts: it has fewer tools.
        for _ in 0..2 {
            let tools = offered.values().map(|offered| offered.tool.clone());
            match self.pool.set_tools(&source, tools) {
                Ok(_) => break,
                Err(error) => self.leave_out(queue, &mut offered, &error, published),
            }
        }
        published.tools = offered;
    }

    /// The tools to publish. Unchanged ones stay the same objects.
    fn offered(
        &self,
        queue: &Queue,
        wanted: Wanted,
        before: &mut BTreeMap<String, Offered>,
    ) -> BTreeMap<String, Offered> {
        let mut offered = BTreeMap::new();
        for (id, (announced, problem)) in wanted {
            let known = before.remove(&id).filter(|old| old.is(&announced, problem.as_deref()));
            let made = match known {
                Some(known) => known,
                None => match self.offer(queue, &id, announced, problem, None) {
                    Some(made) => made,
                    None => continue,
                },
            };
            offered.insert(id, made);
        }
        offered
    }

    fn offer(
        &self,
        queue: &Queue,
        id: &str,
        announced: Announced,
        problem: Option<String>,
        conflict: Option<String>,
    ) -> Option<Offered> {
        let link = self.link.upgrade()?;
        let mut definition = self.definition(id, &announced);
        for reason in problem.iter().chain(&conflict) {
            definition.add_problem(reason.clone());
        }
        let tool = RemoteTool::tool(&link, queue, &announced, definition);
        Some(Offered { announced, problem, conflict, tool })
    }

    fn definition(&self, id: &str, announced: &Announced) -> ToolDefinition {
        let mut definition = announced.full_definition();
        id.clone_into(&mut definition.name);
        definition.untrusted_annotations |= !self.settings.is_trusted;
        definition.input_schema.entry("type").or_insert_with(|| "object".into());
        definition
    }

    /// Leaves out the tools whose ids are taken.
    fn leave_out(
        &self,
        queue: &Queue,
        offered: &mut BTreeMap<String, Offered>,
        error: &PoolError,
        published: &mut Published,
    ) {
        for problem in error.problems() {
            let PoolProblem::Duplicate { name, first, second } = problem else {
                published.problems.push(problem.to_string());
                continue;
            };
            let source = Source::runner(queue.as_str()).to_string();
            let other = if first.ends_with(&source) { second } else { first };
            let reason = format!("another tool ({other}) has this name; set a prefix");
            if let Some(old) = offered.remove(name)
                && let Some(new) = self.offer(queue, name, old.announced, old.problem, Some(reason))
            {
                offered.insert(name.clone(), new);
            }
        }
    }

    fn id(&self, name: &str) -> String {
        match &*self.settings.prefix {
            "" => name.to_owned(),
            prefix => format!("{prefix}.{name}"),
        }
    }

    fn withdraw(&self, state: &mut State, queue: &Queue) {
        if let Some(published) = state.queues.remove(queue) {
            let served = published.served;
            let ids = published.tools.into_keys();
            state.withdrawn.extend(ids.map(|id| (id, (queue.clone(), served))));
            // Fails only for a closed pool, which has no tools.
            drop(self.pool.set_tools(&Source::runner(queue.as_str()), []));
        }
    }

    /// Takes all tools out of the pool, and publishes no more.
    pub(super) fn withdraw_all(&self) {
        let mut state = lock(&self.state);
        state.is_over = true;
        let queues: Vec<Queue> = state.queues.keys().cloned().collect();
        queues.iter().for_each(|queue| self.withdraw(&mut state, queue));
    }

    pub(super) fn note_problem(&self, problem: String) {
        lock(&self.state).note_problem(problem);
    }

    /// Problems that belong to no queue.
    pub(super) fn problems(&self) -> Vec<String> {
        let state = lock(&self.state);
        let unread = state.unread.values().map(|(problem, _)| problem);
        state.problems.iter().chain(unread).cloned().collect()
    }

    /// The ids of a queue's usable tools, and what is wrong with the others.
    pub(super) fn of_queue(&self, queue: &Queue) -> (Vec<String>, Vec<String>) {
        let problems = lock(&self.state).queues.get(queue).map(|it| it.problems.clone());
        let (mut tools, mut problems) = (Vec::new(), problems.unwrap_or_default());
        let source = Source::runner(queue.as_str());
        for tool in self.pool.report().tools.into_iter().filter(|tool| tool.source == source) {
            match tool.status {
                ToolStatus::Quarantined { reason } => {
                    problems.push(format!("its tool `{}` is left out: {reason}", tool.name));
                }
                ToolStatus::Visible => tools.push(tool.name),
                _ => {}
            }
        }
        (tools, problems)
    }

    /// The queues whose tools are published.
    pub(super) fn queues(&self) -> Vec<Queue> {
        lock(&self.state).queues.keys().cloned().collect()
    }
}

impl Published {
    /// Whether these tools are published already.
    fn is(&self, wanted: &Wanted) -> bool {
        let is_same = |(id, offered): (&String, &Offered)| {
            let wanted = wanted.get(id);
            wanted.is_some_and(|(announced, problem)| offered.is(announced, problem.as_deref()))
        };
        self.tools.len() == wanted.len() && self.tools.iter().all(is_same)
    }
}

impl Offered {
    /// Whether it is this one, without a conflict, which may have ended.
    fn is(&self, announced: &Announced, problem: Option<&str>) -> bool {
        self.conflict.is_none()
            && self.announced == *announced
            && self.problem.as_deref() == problem
    }
}

/// The lists of tools that the runners of a queue announce, that of the most runners first.
fn announced(runners: &[Seen]) -> Vec<BlobRef> {
    let mut votes: BTreeMap<&Digest, (usize, &BlobRef)> = BTreeMap::new();
    for Seen { presence, .. } in runners {
        votes.entry(&presence.catalogue.sha256).or_insert((0, &presence.catalogue)).0 += 1;
    }
    let mut versions: Vec<(usize, &BlobRef)> = votes.into_values().collect();
    versions.sort_by_key(|(votes, _)| Reverse(*votes));
    versions.into_iter().map(|(_, blob)| blob.clone()).collect()
}

/// Elects the contract that the most runners have of each tool, and the smaller digest of equally many. The others are
/// problems.
fn elect(catalogues: &[Arc<Catalogue>]) -> (Vec<Announced>, Vec<String>) {
    let mut votes: BTreeMap<&str, BTreeMap<&Digest, (usize, &Announced)>> = BTreeMap::new();
    for announced in catalogues.iter().flat_map(|catalogue| &catalogue.tools) {
        let contracts = votes.entry(&announced.definition.name).or_default();
        contracts.entry(&announced.contract).or_insert((0, announced)).0 += 1;
    }
    let (mut elected, mut problems) = (Vec::new(), Vec::new());
    for (name, contracts) in votes {
        if contracts.len() > 1 {
            problems.push(format!(
                "its runners have {} versions of `{name}`; that of the most runners counts",
                contracts.len()
            ));
        }
        // The first of the largest: digests are sorted.
        let most = contracts.values().map(|(count, _)| *count).max();
        let winner = contracts.values().find(|(count, _)| Some(*count) == most);
        elected.extend(winner.map(|(_, announced)| (*announced).clone()));
    }
    (elected, problems)
}

/// Reads a catalogue.
async fn read(board: &dyn Board, blob: &BlobRef) -> Result<Catalogue, String> {
    if blob.size > MAX_CATALOGUE {
        return Err(format!(
            "a runner announces a list of tools with {} bytes; at most {MAX_CATALOGUE} are read",
            blob.size
        ));
    }
    let bytes = match timeout(FETCH, board.get(blob)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(BoardError::NoBlob(_))) => {
            let roll = message::write(&Roll::new(Some(blob.sha256.clone())));
            drop(board.send(&Topic::Roll, roll).await);
            return Err("a runner's list of tools is gone; it is asked for it again".to_owned());
        }
        Ok(Err(error)) => return Err(format!("a runner's list of tools cannot be read: {error}")),
        Err(_) => return Err("a runner's list of tools did not arrive in time".to_owned()),
    };
    let catalogue: Catalogue = message::read("a runner's list of tools", &bytes)?;
    match catalogue.tools.len() {
        0..=MAX_TOOLS => Ok(catalogue),
        count => Err(format!("a runner announces {count} tools; at most {MAX_TOOLS} are read")),
    }
}
