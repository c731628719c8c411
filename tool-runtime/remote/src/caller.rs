//! A caller: the tools of runners, in a pool.

mod absence;
mod attend;
mod link;
mod publish;
mod questions;
mod settle;
mod status;
mod tool;

pub use link::Nobody;
pub use status::{QueueStatus, RemoteStatus, RunnerStatus};

use crate::backoff::Backoff;
use crate::board::{Board, BoardError, Topic};
use crate::listener::{Heard, Listener};
use crate::message::{self, Presence, Roll};
use link::Link;
use publish::Publisher;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::vocabulary::CancellationToken;

/// The time between two looks at which runners have lapsed.
const LOOK: Duration = Duration::from_secs(1);

/// The longest time between two runners that answer the same roll call: each does so within 200 ms, and networks differ.
const TOGETHER: Duration = Duration::from_millis(400);

/// The time that [`Remote::close`] waits for calls that were given up.
const CLOSING: Duration = Duration::from_secs(2);

/// Settings of a [`Remote`].
pub struct RemoteBuilder {
    board: Arc<dyn Board>,
    settings: Settings,
    nobody: Nobody,
    in_flight: usize,
    start_timeout: Duration,
}

/// The settings by which tools of runners become tools of the pool.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    prefix: String,
    labels: BTreeMap<String, String>,
    is_trusted: bool,
    linger: Duration,
}

/// The tools of runners, in a pool.
///
/// They are listed, called, governed and exported like all others; their source is `runner:QUEUE`. A tool is there while one
/// runner of its queue announces it, and for a while after the last one is gone, so that a restart goes unnoticed.
///
/// Clones share one connection. When the last is dropped, the tools leave the pool; [`Self::close`] also waits for calls that
/// were given up. Closing the pool ends it as well. It needs a tokio runtime with a time driver, and keeps the pool alive.
///
/// ```
/// use tool_runtime_core::pool::ToolPool;
/// use tool_runtime_core::tool::{Tool, ToolCall};
/// use tool_runtime_core::vocabulary::CancellationToken;
/// use tool_runtime_remote::{Engine, MemoryStore, Remote, Runner};
///
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// let engine = Engine::new(MemoryStore::default());
///
/// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
/// let served = ToolPool::builder().add(ping).build()?;
/// let runner = Runner::new(engine.board("runner".parse()?)).queue("web".parse()?);
/// let token = CancellationToken::new();
/// let end = token.clone();
/// let running = tokio::spawn(async move { runner.serve_until(&served, &end).await });
///
/// let pool = ToolPool::builder().build()?;
/// let remote = Remote::builder(engine.board("pool1".parse()?)).connect(&pool).await?;
/// let result = pool.call(ToolCall::new("ping", "{}")).await;
/// assert_eq!(result.observation().to_text(), "pong");
/// remote.close().await;
/// token.cancel();
/// running.await??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "the tools leave the pool when it is dropped"]
pub struct Remote(Arc<Inner>);

struct Inner {
    link: Arc<Link>,
    publisher: Arc<Publisher>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.link.end.cancel();
        self.publisher.withdraw_all();
    }
}

impl RemoteBuilder {
    /// Sets a prefix of all ids: with `fleet`, the tool `search` is `fleet.search`. Default: none.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.prefix = prefix.into();
        self
    }

    /// Takes only the tools of runners with all these labels. Default: of all runners.
    #[must_use]
    pub fn labels<N: Into<String>, V: Into<String>>(
        mut self,
        labels: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let labels = labels.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.settings.labels = labels.collect();
        self
    }

    /// Trusts the hints of the runners, such as `read_only`. Default: false, as for MCP servers: decisions assume the worst.
    #[must_use]
    pub fn trust(mut self, is_trusted: bool) -> Self {
        self.settings.is_trusted = is_trusted;
        self
    }

    /// Sets what happens to calls while no runner of the queue is there. Default: [`Nobody::Wait`].
    #[must_use]
    pub fn nobody(mut self, nobody: Nobody) -> Self {
        self.nobody = nobody;
        self
    }

    /// Sets how long tools stay listed after the last runner of their queue is gone. Default: 60 seconds.
    #[must_use]
    pub fn linger(mut self, linger: Duration) -> Self {
        self.settings.linger = linger;
        self
    }

    /// Sets the number of calls that are in flight; more wait. At least 1. Default: 256.
    #[must_use]
    pub fn in_flight(mut self, calls: usize) -> Self {
        self.in_flight = calls.clamp(1, tokio::sync::Semaphore::MAX_PERMITS);
        self
    }

    /// Sets the time to wait for the first runner. Default: 5 seconds.
    #[must_use]
    pub fn start_timeout(mut self, limit: Duration) -> Self {
        self.start_timeout = limit;
        self
    }

    /// Adds the tools of the runners to a pool, and follows their changes. Waits for the runners that are there, for a
    /// limited time; without one, the report of the pool says so.
    ///
    /// # Errors
    /// The board refuses the caller.
    pub async fn connect(self, pool: &ToolPool) -> Result<Remote, BoardError> {
        let end = pool.closing().child_token();
        let link = Link::new(self.board, self.nobody, self.in_flight, end.clone());
        let link = Arc::new(link);
        let publisher =
            Arc::new(Publisher::new(pool.clone(), self.settings, Arc::downgrade(&link)));
        let shared = Arc::new(Inner { link: Arc::clone(&link), publisher });
        let absence: Weak<Inner> = Arc::downgrade(&shared);
        pool.ask_of_absence(absence);
        let (published, count) = watch::channel(0);
        let watch = Watch { link, publisher: Arc::clone(&shared.publisher), end, published };
        let heard = timeout(self.start_timeout, watch.listen()).await;
        drop(tokio::spawn(watch.run(heard.ok().transpose()?)));
        drop(timeout(self.start_timeout, settled(count)).await);
        Ok(Remote(shared))
    }
}

/// Waits until the tools of a runner are published, and no others follow at once.
async fn settled(mut published: watch::Receiver<u64>) {
    // Fails when the connection has ended.
    if published.wait_for(|count| *count > 0).await.is_ok() {
        while let Ok(Ok(())) = timeout(TOGETHER, published.changed()).await {}
    }
}

impl Remote {
    /// Settings for a board.
    pub fn builder(board: impl Board) -> RemoteBuilder {
        Self::builder_of(Arc::new(board))
    }

    pub(crate) fn builder_of(board: Arc<dyn Board>) -> RemoteBuilder {
        RemoteBuilder {
            board,
            settings: Settings {
                prefix: String::new(),
                labels: BTreeMap::new(),
                is_trusted: false,
                linger: Duration::from_secs(60),
            },
            nobody: Nobody::Wait,
            in_flight: 256,
            start_timeout: Duration::from_secs(5),
        }
    }

    /// The address of the board, without credentials.
    pub fn address(&self) -> String {
        self.0.link.board.address()
    }

    /// The queues, their runners, and what is wrong with them.
    pub async fn status(&self) -> RemoteStatus {
        status::collect(&self.0.link, &self.0.publisher).await
    }

    /// Takes the tools out of the pool, and waits up to two seconds until calls that were given up are stopped.
    pub async fn close(self) {
        let link = Arc::clone(&self.0.link);
        link.end.cancel();
        self.0.publisher.withdraw_all();
        link.settling.close();
        drop(timeout(CLOSING, link.settling.wait()).await);
    }
}

/// Follows the presence of runners.
struct Watch {
    link: Arc<Link>,
    publisher: Arc<Publisher>,
    end: CancellationToken,
    /// Counts how often the tools of a runner were published.
    published: watch::Sender<u64>,
}

impl Watch {
    async fn run(self, presences: Option<Listener>) {
        let end = self.end.clone();
        end.run_until_cancelled(self.follow(presences)).await;
        self.publisher.withdraw_all();
    }

    async fn follow(&self, presences: Option<Listener>) {
        let mut presences = match presences {
            Some(presences) => presences,
            None => match self.listen().await {
                Ok(presences) => presences,
                Err(error) => return self.publisher.note_outage(Some(error)),
            },
        };
        let mut outage = None;
        self.publisher.note_outage(outage.clone());
        self.call_roll().await;
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_news = tokio::select! {
                biased;
                _ = look.tick() => true,
                changed = self.link.board.next_outage(&outage) => {
                    outage = changed;
                    self.publisher.note_outage(outage.clone());
                    false
                }
                heard = presences.next() => match heard {
                    Some(heard) => self.hear(heard).await,
                    None => return,
                },
            };
            if is_news && self.publisher.refresh(&self.link).await {
                self.published.send_modify(|count| *count += 1);
            }
        }
    }

    /// Listens to runners, as soon as the board is there.
    async fn listen(&self) -> Result<Listener, BoardError> {
        let mut backoff = Backoff::default();
        loop {
            match self.link.board.listen(&Topic::AllPresence).await {
                Err(error) if error.is_transient() => {
                    self.publisher.note_outage(Some(error));
                    backoff.wait().await;
                }
                listener => return listener,
            }
        }
    }

    /// Returns whether what is heard changes something.
    async fn hear(&self, heard: Heard) -> bool {
        match heard {
            Heard::Message(bytes) => {
                match Presence::read(&bytes).and_then(|presence| self.note(presence)) {
                    Ok(is_news) => is_news,
                    Err(problem) => {
                        self.publisher.note_problem(problem);
                        false
                    }
                }
            }
            Heard::Gap => {
                self.link.roster.missed();
                self.call_roll().await;
                false
            }
            Heard::Record(_) => false,
        }
    }

    /// Returns whether a presence changes something.
    fn note(&self, presence: Presence) -> Result<bool, String> {
        let before = self.link.roster.hear(presence.clone())?;
        Ok(before.is_none_or(|before| before.presence.differs(&presence)))
    }

    /// Asks who is there, and what is wrong with the board if nobody answers.
    async fn call_roll(&self) {
        let roll = message::write(&Roll::new(None));
        // A lost roll call costs one beat.
        drop(self.link.board.send(&Topic::Roll, roll).await);
        let (publisher, link) = (Arc::clone(&self.publisher), Arc::clone(&self.link));
        let ask = async move {
            sleep(TOGETHER).await;
            if link.roster.all().is_empty() {
                publisher.ask_board(&link).await;
            }
        };
        let end = self.end.clone();
        tokio::spawn(async move { end.run_until_cancelled(ask).await });
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("board", &self.0.link.board.address())
            .finish_non_exhaustive()
    }
}
