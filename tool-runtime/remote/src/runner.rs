//! A runner: it serves the tools of its pool to the callers of a queue.

mod announce;
mod job;
mod news;
mod peer;
mod running;

use crate::backoff::{Backoff, persist};
use crate::board::{Board, BoardError, Claim, Topic};
use crate::listener::{Heard, Listener};
use crate::message::{self, Control, Presence};
use crate::names::{CallerName, Queue, RunnerId};
use crate::roster::Roster;
use announce::Announcer;
pub use news::RunnerNews;
use running::{RunningJobs, Stop};
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::seam::program_name;
use tool_runtime_core::vocabulary::{CancellationToken, Principal};

/// The time for calls that run when the runner is told to stop.
const DRAIN: Duration = Duration::from_secs(10);

/// The time for the last claim when the runner is told to stop.
const LAST_CLAIM: Duration = Duration::from_secs(2);

/// The last runner with a version of its tools takes calls of this version when it is told to stop. It ends when no call has
/// come for this time although a slot was free.
const HANDOVER: Duration = Duration::from_secs(3);

/// The most time for which it takes them.
const MAX_HANDOVER: Duration = Duration::from_secs(15);

/// The time for calls that were stopped to write their outcomes.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Decides as whom a call of a caller runs. See [`Runner::principals`].
type Principals = dyn Fn(&CallerName, Principal) -> Option<Principal> + Send + Sync;

/// Serves the tools of a pool to the callers of a queue.
///
/// It announces its tools, and the changes of its pool; claims as many calls as it has free slots; and writes their outcomes.
/// The pool governs the calls like all others: its policies, approvals, limits and log apply, besides those of the caller.
///
/// ```no_run
/// use tool_runtime_core::pool::ToolPool;
/// use tool_runtime_core::vocabulary::CancellationToken;
/// use tool_runtime_remote::{Engine, MemoryStore, Runner};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// # let pool = ToolPool::builder().build()?;
/// let board = Engine::new(MemoryStore::default()).board("runner".parse()?);
/// let runner = Runner::new(board).queue("search".parse()?).slots(8).label("region", "eu");
/// runner.serve_until(&pool, &CancellationToken::new()).await?;
/// # Ok(())
/// # }
/// ```
pub struct Runner {
    board: Arc<dyn Board>,
    queue: Option<Queue>,
    slots: usize,
    labels: BTreeMap<String, String>,
    program: String,
    principals: Option<Arc<Principals>>,
    report: Arc<news::Report>,
}

impl Runner {
    /// A runner of a board.
    pub fn new(board: impl Board) -> Self {
        Self::from_board(Arc::new(board))
    }

    pub(crate) fn from_board(board: Arc<dyn Board>) -> Self {
        Self {
            board,
            queue: None,
            slots: 16,
            labels: BTreeMap::new(),
            program: String::new(),
            principals: None,
            report: Arc::new(news::log),
        }
    }

    /// Sets the queue. Replicas of one program share a queue; a tool id belongs to one queue. Default: the name of the program.
    #[must_use]
    pub fn queue(mut self, queue: Queue) -> Self {
        self.queue = Some(queue);
        self
    }

    /// Sets the number of calls that run at the same time, at least 1. Default: 16.
    #[must_use]
    pub fn slots(mut self, slots: usize) -> Self {
        self.slots = slots.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Sets a label, by which callers select runners. Default: none.
    #[must_use]
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(name.into(), value.into());
        self
    }

    /// Sets what operators see as the program, such as `fleet 1.4.0`. Default: its name.
    #[must_use]
    pub fn program(mut self, program: impl Into<String>) -> Self {
        self.program = program.into();
        self
    }

    /// Decides as whom calls run: from the caller, as the board authenticated it, and the principal that it asserts. `None`
    /// denies the call. The scopes of tools are enforced in any case. Default: the asserted principal.
    ///
    /// ```
    /// # use tool_runtime_core::vocabulary::Principal;
    /// # use tool_runtime_remote::{Engine, MemoryStore, Runner};
    /// # let board = Engine::new(MemoryStore::default()).board("runner".parse()?);
    /// let runner = Runner::new(board).principals(|caller, asserted| match caller.as_str() {
    ///     "gateway" => Some(asserted),
    ///     _ => Some(Principal::new(caller.as_str())),
    /// });
    /// # drop(runner);
    /// # Ok::<(), tool_runtime_remote::NameError>(())
    /// ```
    #[must_use]
    pub fn principals(
        mut self,
        map: impl Fn(&CallerName, Principal) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        self.principals = Some(Arc::new(map));
        self
    }

    /// Sets what is told when the board has accepted the runner, and when the connection is lost and back. Default: the log.
    #[must_use]
    pub fn on_news(mut self, report: impl Fn(&RunnerNews) + Send + Sync + 'static) -> Self {
        self.report = Arc::new(report);
        self
    }

    /// The queue that the runner serves.
    pub fn queue_name(&self) -> Queue {
        self.queue.clone().unwrap_or_else(|| Queue::of_program(&program_name()))
    }

    /// Serves until the token is cancelled or the pool is closed. Then it claims no more, and calls that run have ten seconds;
    /// after that, those that are safe to retry go back to the queue, and the outcome of others is `indeterminate`.
    ///
    /// Dropping the future stops everything at once, like the end of the process.
    ///
    /// # Errors
    /// The board refuses the runner: its credentials do not allow the queue. Or the runner had to end before the outcomes of
    /// its calls were reported.
    pub async fn serve_until(
        self,
        pool: &ToolPool,
        token: &CancellationToken,
    ) -> Result<(), BoardError> {
        let shared = Arc::new(Inner::new(self, pool.clone()));
        let mut tasks = JoinSet::new();
        let begin = async {
            // Before the first claim, so that an order about it is heard.
            let control = shared.listen(&Topic::Control(shared.queue.clone())).await?;
            let presence = shared.listen(&Topic::Presence(shared.queue.clone())).await?;
            let roll = shared.listen(&Topic::Roll).await?;
            tasks.spawn(Arc::clone(&shared).obey(control));
            tasks.spawn(Arc::clone(&shared).hear_others(presence));
            Ok((Announcer::begin(Arc::clone(&shared)).await?, roll))
        };
        let Some(begun) = token.run_until_cancelled(begin).await else { return Ok(()) };
        let (announcer, roll) = begun?;
        shared.announce(announce::Beat::Here).await;
        shared.report_accepted();
        tasks.spawn(Arc::clone(&shared).follow_connection());
        let announcing = tasks.spawn(announcer.announce(roll));
        let mut jobs = JoinSet::new();
        let served = shared.claim_until_end(&mut jobs, token).await;
        shared.leave();
        let drained = shared.drain(jobs).await;
        announcing.abort();
        shared.announce(announce::Beat::Gone).await;
        served.and(drained)
    }
}

/// The state that the tasks of a runner share.
struct Inner {
    board: Arc<dyn Board>,
    pool: ToolPool,
    id: RunnerId,
    queue: Queue,
    labels: BTreeMap<String, String>,
    program: String,
    principals: Option<Arc<Principals>>,
    report: Arc<news::Report>,
    /// The board is out of reach, which is reported.
    is_cut_off: AtomicBool,
    slots: usize,
    permits: Arc<Semaphore>,
    /// The other runners of the queue.
    roster: Roster,
    running: RunningJobs,
    catalogue: announce::Current,
    leaves: AtomicBool,
    /// It claims no more jobs.
    stops: CancellationToken,
    /// The runner announces itself before the next beat.
    announce_now: Notify,
    /// Notified by each job for a tool that this runner has.
    job_came: Notify,
}

impl Inner {
    fn new(runner: Runner, pool: ToolPool) -> Self {
        let queue = runner.queue_name();
        let Runner { board, slots, labels, program, principals, report, .. } = runner;
        Self {
            board,
            pool,
            id: RunnerId::new(&queue),
            queue,
            labels,
            program: if program.is_empty() { program_name() } else { program },
            principals,
            report,
            is_cut_off: AtomicBool::new(false),
            slots,
            permits: Arc::new(Semaphore::new(slots)),
            roster: Roster::default(),
            running: RunningJobs::default(),
            catalogue: announce::Current::default(),
            leaves: AtomicBool::new(false),
            stops: CancellationToken::new(),
            announce_now: Notify::new(),
            job_came: Notify::new(),
        }
    }

    async fn listen(&self, topic: &Topic) -> Result<Listener, BoardError> {
        persist("the runner cannot listen", || self.board.listen(topic)).await
    }

    /// Whether the other runners of the queue have other tools than this one.
    fn is_last_of_its_version(&self) -> bool {
        let own = self.catalogue.digest();
        let others = self.roster.all().into_iter().map(|seen| seen.presence);
        let others = others.filter(|other| other.runner != self.id && !other.leaves && !other.gone);
        let mut digests = others.map(|other| other.catalogue.sha256).peekable();
        digests.peek().is_some() && digests.all(|digest| own.as_ref() != Some(&digest))
    }

    /// Claims jobs until the runner is told to stop. Jobs that are on their way to it then are its own, too: they would wait
    /// for the end of their claims otherwise.
    async fn claim_until_end(
        self: &Arc<Self>,
        jobs: &mut JoinSet<()>,
        token: &CancellationToken,
    ) -> Result<(), BoardError> {
        let mut claiming = pin!(self.claim_jobs(jobs));
        tokio::select! {
            biased;
            claimed = &mut claiming => return claimed,
            () = token.cancelled() => {}
            () = self.pool.closing().cancelled() => {}
        }
        self.leave();
        if self.is_last_of_its_version() {
            // Callers change to another version at once. What they submitted before has no runner but this one.
            tokio::select! {
                biased;
                claimed = &mut claiming => return claimed,
                _ = timeout(MAX_HANDOVER, self.without_calls_for(HANDOVER)) => {}
                () = self.pool.closing().cancelled() => {}
            }
        }
        self.stops.cancel();
        let ended = async {
            if self.board.end_claims(&self.queue).await {
                drop(claiming.await);
            }
        };
        // A hub that does not answer gives no jobs either.
        drop(timeout(LAST_CLAIM, ended).await);
        Ok(())
    }

    /// Waits until no call for the tools of this runner has come for some time, and a slot is free for one.
    async fn without_calls_for(&self, time: Duration) {
        let is_full = || self.running.count() >= self.slots;
        while timeout(time, self.job_came.notified()).await.is_ok() || is_full() {}
    }

    /// Claims jobs into free slots, until the runner stops.
    async fn claim_jobs(self: &Arc<Self>, jobs: &mut JoinSet<()>) -> Result<(), BoardError> {
        let mut backoff = Backoff::default();
        loop {
            let permit = self.permits.clone().acquire_owned();
            let Some(permit) = self.stops.run_until_cancelled(permit).await else { return Ok(()) };
            let permit = permit.expect("the semaphore is never closed");
            while jobs.try_join_next().is_some() {}
            let free = self.permits.available_permits() + 1;
            match self.board.claim(&self.queue, free).await {
                Ok(claims) => {
                    backoff = Backoff::default();
                    self.attend_all(claims, permit, jobs);
                }
                Err(error) if error.is_transient() => {
                    // The listeners notice a lost connection meanwhile.
                    backoff.wait().await;
                    if !self.is_cut_off.load(Ordering::Relaxed) {
                        backoff.log("the runner cannot claim calls", &error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn attend_all(
        self: &Arc<Self>,
        claims: Vec<Box<dyn Claim>>,
        first: OwnedSemaphorePermit,
        jobs: &mut JoinSet<()>,
    ) {
        let mut first = Some(first);
        for claim in claims {
            // Only this task takes permits, so as many are free as were claimed for.
            let permit = first.take().or_else(|| self.permits.clone().try_acquire_owned().ok());
            let shared = Arc::clone(self);
            jobs.spawn(async move {
                job::attend(&shared, claim).await;
                drop(permit);
            });
        }
    }

    fn leave(&self) {
        self.leaves.store(true, Ordering::Relaxed);
        self.announce_now.notify_one();
    }

    /// Waits for the calls that run, then stops them.
    ///
    /// # Errors
    /// Calls did not stop, or the board is away, so nobody knows how they end.
    async fn drain(&self, mut jobs: JoinSet<()>) -> Result<(), BoardError> {
        let mut ended = async || while jobs.join_next().await.is_some() {};
        if timeout(DRAIN, ended()).await.is_ok() {
            return Ok(());
        }
        self.running.stop_all(Stop::Shutdown);
        if timeout(LAST_WORDS, ended()).await.is_ok() {
            return Ok(());
        }
        let text = format!(
            "the runner ends before it could report the outcomes of {} of its calls",
            jobs.len()
        );
        Err(BoardError::Disconnected(text))
    }

    /// Passes on what callers say about running calls.
    async fn obey(self: Arc<Self>, mut control: Listener) {
        while let Some(heard) = control.next().await {
            match heard {
                Heard::Message(bytes) => match message::read::<Control>("an order", &bytes) {
                    Ok(control) => self.running.pass_on(control),
                    Err(problem) => tracing::warn!(runner = %self.id, "{problem}"),
                },
                Heard::Gap => self.running.look_all(),
                Heard::Record(_) => {}
            }
        }
    }

    async fn hear_others(self: Arc<Self>, mut presence: Listener) {
        while let Some(heard) = presence.next().await {
            match heard {
                Heard::Message(bytes) => {
                    match Presence::read(&bytes).and_then(|presence| self.roster.hear(presence)) {
                        Ok(_) => {}
                        Err(problem) => tracing::warn!(runner = %self.id, "{problem}"),
                    }
                }
                Heard::Gap => self.roster.missed(),
                Heard::Record(_) => {}
            }
        }
    }
}
