//! The driver: it keeps the processes alive, kills and stops them at random moments and lets them crash at each named point.

mod part;

use crate::Failure;
use crate::check::{self, Evidence};
use crate::files;
use crate::network::{self, CALLERS, DRIVER, QUEUE};
use fastrand::Rng;
use part::{Kind, Part};
use std::collections::HashSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tool_runtime_remote::{Board as _, Depth, LEASE};

/// The number of runners.
const RUNNERS: usize = 3;

/// One process is killed for this many calls, beside those that crash.
const CALLS_PER_KILL: usize = 25;

/// One process is stopped for this many calls.
const CALLS_PER_STOP: usize = 50;

/// The pause between two kills or stops, and that before a process is replaced, in milliseconds.
const KILL: std::ops::Range<u64> = 200..1000;
const RESTART: std::ops::Range<u64> = 20..500;

/// The pause between two looks at the processes.
const TICK: Duration = Duration::from_millis(20);

/// Guards against hanging: a run takes a minute or two.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// Ports below those that systems give to clients: no connection takes the port of a hub that restarts.
const PORTS: std::ops::Range<u16> = 15_000..30_000;

/// Drives a run, and checks it. The folder of a failed run is kept.
#[expect(clippy::print_stdout, reason = "the result is the output of the program")]
pub(crate) async fn run(calls: usize, seed: u64) -> Result<(), Failure> {
    let folder = tempfile::Builder::new().prefix("remote-kill-").tempdir()?;
    let places = Places { folder: folder.path().to_owned(), port: free_port()? };
    println!("{calls} calls, seed {seed}");
    let start = Instant::now();
    let mut drive = Drive::start(&places, calls, seed)?;
    let driven = timeout(LIMIT, drive.run(&places)).await;
    let driven = driven.unwrap_or_else(|_| Err("it did not end in time".into()));
    let checked = match driven {
        Ok(()) => check::run(&drive.evidence(&places)?),
        Err(error) => Err(error),
    };
    match checked {
        Ok(summary) => {
            let (kills, stops) = (drive.kills, calls / CALLS_PER_STOP - drive.stops.len());
            println!("{summary}, {kills} killed, {stops} stopped, {:.0?}", start.elapsed());
            Ok(())
        }
        Err(error) => Err(format!("{error}\nthe files are in {}", folder.keep().display()).into()),
    }
}

/// Where the parts meet.
struct Places {
    folder: PathBuf,
    port: u16,
}

impl Places {
    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn outcomes(&self, caller: &str) -> String {
        self.file(&format!("{caller}.jsonl"))
    }
}

/// A port that nobody uses at present.
fn free_port() -> Result<u16, Failure> {
    let mut random = Rng::with_seed(process::id().into());
    let mut ports = std::iter::repeat_with(|| random.u16(PORTS)).take(100);
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.find(is_free).ok_or_else(|| "no port is free".into())
}

struct Drive {
    parts: Vec<Part>,
    /// The points at which no process of their kind crashed yet, and none is about to.
    points: Vec<(Kind, &'static str)>,
    random: Rng,
    /// The number of processes that were killed, and that are to be.
    kills: usize,
    most_kills: usize,
    kill_at: Instant,
    /// The stops to come.
    stops: Vec<(Kind, u64)>,
    stop_at: Instant,
    /// The processes that did not end in order.
    dead: HashSet<u32>,
    /// The processes that were stopped for longer than a lease.
    lapsed: HashSet<u32>,
    calls: usize,
}

impl Drive {
    fn start(places: &Places, calls: usize, seed: u64) -> Result<Self, Failure> {
        let (url, port) = (places.url(), places.port.to_string());
        let effects = places.file("effects.jsonl");
        let part = |kind, arguments: &[&str]| Part::new(kind, arguments);
        let mut parts = vec![part(Kind::Hub, &["hub", &places.file("hub.db"), &port])];
        for _ in 0..RUNNERS {
            parts.push(part(Kind::Runner, &["runner", &url, &effects]));
        }
        let each = (calls / CALLERS.len()).to_string();
        for name in CALLERS {
            let arguments = ["caller", &url, &places.outcomes(name), name, &each];
            parts.push(part(Kind::Caller, &arguments));
        }
        let mut random = Rng::with_seed(seed);
        let stops = stops(calls / CALLS_PER_STOP, &mut random);
        let mut drive = Self {
            parts,
            points: part::POINTS.to_vec(),
            random,
            kills: 0,
            most_kills: calls / CALLS_PER_KILL,
            kill_at: Instant::now(),
            stops,
            stop_at: Instant::now(),
            dead: HashSet::new(),
            lapsed: HashSet::new(),
            calls,
        };
        (0..drive.parts.len()).try_for_each(|index| drive.spawn(index))?;
        Ok(drive)
    }

    /// Starts the process of a part, with the next point of its kind.
    fn spawn(&mut self, index: usize) -> Result<(), Failure> {
        let part = &mut self.parts[index];
        let point = self.points.iter().position(|(kind, _)| *kind == part.kind);
        let point = point.map(|position| self.points.remove(position).1);
        part.spawn(point)
    }

    /// Kills and replaces processes until all calls are answered; then lets everything end.
    async fn run(&mut self, places: &Places) -> Result<(), Failure> {
        while !self.is_over() {
            self.replace()?;
            self.kill();
            self.stop()?;
            sleep(TICK).await;
        }
        self.require_crashes()?;
        self.until_idle(places).await?;
        // The hub is the first: the others need it to their end.
        while let Some(part) = self.parts.pop() {
            part.end().await?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        let is_there =
            |part: &Part| part.kind == Kind::Caller || part.is_running() && !part.is_stopped();
        self.parts.iter().all(|part| part.kind != Kind::Caller || part.is_done)
            && self.parts.iter().all(is_there)
    }

    /// Replaces processes that were killed or crashed.
    fn replace(&mut self) -> Result<(), Failure> {
        for index in 0..self.parts.len() {
            if let Some(pid) = self.parts[index].reap()? {
                self.dead.insert(pid);
                let pause = Duration::from_millis(self.random.u64(RESTART));
                self.parts[index].restart_at = Instant::now() + pause;
            }
            if self.parts[index].is_due() {
                self.spawn(index)?;
            }
        }
        Ok(())
    }

    /// Kills a process that is not about to crash by itself.
    fn kill(&mut self) {
        if self.kills == self.most_kills || Instant::now() < self.kill_at {
            return;
        }
        let kind = match self.random.u8(..4) {
            0 => Kind::Hub,
            1 => Kind::Caller,
            _ => Kind::Runner,
        };
        if let Some(victim) = self.victim(kind) {
            victim.kill();
            self.kills += 1;
            let pause = self.random.u64(KILL);
            self.kill_at = Instant::now() + Duration::from_millis(pause);
        }
    }

    /// A random process of a kind that neither crashes by itself nor was killed nor is stopped.
    fn victim(&mut self, kind: Kind) -> Option<&mut Part> {
        let is_victim = |part: &&mut Part| part.kind == kind && part.is_free();
        let victims: Vec<&mut Part> = self.parts.iter_mut().filter(is_victim).collect();
        self.random.choice(victims)
    }

    /// Lets processes go on whose time is over, and stops another one.
    fn stop(&mut self) -> Result<(), Failure> {
        self.parts.iter_mut().try_for_each(Part::go_on)?;
        if Instant::now() < self.stop_at {
            return Ok(());
        }
        for next in 0..self.stops.len() {
            let (kind, seconds) = self.stops[next];
            let Some(victim) = self.victim(kind) else { continue };
            let time = Duration::from_secs(seconds);
            let pid = victim.stop(time)?;
            self.lapsed.extend(pid.filter(|_| time > LEASE));
            self.stops.remove(next);
            self.stop_at = Instant::now() + Duration::from_millis(self.random.u64(KILL));
            break;
        }
        Ok(())
    }

    /// Each point was reached.
    fn require_crashes(&self) -> Result<(), Failure> {
        let waiting = self.points.iter().map(|(_, point)| *point);
        let armed = self.parts.iter().filter_map(Part::point);
        let missing: Vec<&str> = waiting.chain(armed).collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(format!("no process reached {}", missing.join(", ")).into())
    }

    /// Waits until no job is queued or claimed.
    async fn until_idle(&self, places: &Places) -> Result<(), Failure> {
        let board = network::connect(&places.url(), DRIVER).await?;
        let queue = QUEUE.parse()?;
        while !matches!(board.depth(&queue).await?, Depth { queued: 0, claimed: 0, .. }) {
            sleep(TICK).await;
        }
        Ok(())
    }

    fn evidence(&self, places: &Places) -> Result<Evidence, Failure> {
        let mut outcomes = Vec::new();
        for name in CALLERS {
            outcomes.push(files::read(places.outcomes(name))?);
        }
        Ok(Evidence {
            calls: self.calls / CALLERS.len(),
            outcomes,
            effects: files::read(places.file("effects.jsonl"))?,
            records: check::records(Path::new(&places.file("hub.db")))?,
            dead: self.dead.clone(),
            lapsed: self.lapsed.clone(),
        })
    }
}

/// Random stops: each kind of them comes once before one comes again.
fn stops(count: usize, random: &mut Rng) -> Vec<(Kind, u64)> {
    let mut stops = Vec::new();
    while stops.len() < count {
        let mut round = part::STOPS.to_vec();
        random.shuffle(&mut round);
        stops.extend(round);
    }
    stops.truncate(count);
    stops
}
