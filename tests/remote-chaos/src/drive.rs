//! The driver: it keeps the processes alive, kills, stops and cuts them off at random moments and lets them crash at each
//! named point.

mod disk;
mod fault;
mod hub;
mod nats;
mod part;
mod progress;
mod proxy;

use crate::Failure;
use crate::check::{self, Evidence, Records};
use crate::fence::Fence;
use crate::files::{self, Effect};
use crate::network::CALLERS;
use fastrand::Rng;
use fault::{CUTS, Fault, STOPS};
use part::{Clock, Kind, Part};
use progress::Progress;
use proxy::Proxy;
use std::collections::HashSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tool_runtime_remote::LEASE;

/// The number of runners.
const RUNNERS: usize = 3;

/// One process is killed for this many calls, beside those that crash.
const CALLS_PER_KILL: usize = 25;

/// There is another disturbance for this many calls.
const CALLS_PER_STOP: usize = 50;
const CALLS_PER_FAULT: usize = 25;

/// The number of kills and of other disturbances that do not wait until enough calls are answered. Without a limit all would
/// be over before most calls begin.
const AHEAD: usize = 12;

/// The pause between two kills or other disturbances, and that before a process is replaced, in milliseconds.
const KILL: std::ops::Range<u64> = 200..1000;
const RESTART: std::ops::Range<u64> = 20..500;

/// The pause between two kills of a control: all slots are taken again.
const START_OF_CONTROL: Duration = Duration::from_secs(4);
const KILL_OF_CONTROL: std::ops::Range<u64> = 2000..3000;

/// The pause between two looks at the processes.
const TICK: Duration = Duration::from_millis(20);

/// Guards against hanging: a run of 300 calls takes a minute.
const LIMIT_PER_CALL: Duration = Duration::from_millis(500);
const LIMIT: Duration = Duration::from_secs(20 * 60);

/// Ports below those that systems give to clients: no connection takes the port of an engine that restarts.
const PORTS: std::ops::Range<u16> = 15_000..30_000;

/// The points at which processes of each kind crash.
const POINTS: &[(Kind, &str)] = &[
    (Kind::Caller, "before-submit"),
    (Kind::Caller, "after-submit"),
    (Kind::Runner, "after-claim"),
    (Kind::Runner, "after-started"),
    (Kind::Runner, "before-done"),
    (Kind::Runner, "after-done"),
];
const POINTS_OF_HUB: &[(Kind, &str)] =
    &[(Kind::Engine, "after-swap"), (Kind::Engine, "after-hand-out")];

/// Drives a run, and checks it. The folder of a failed run is kept.
#[expect(clippy::print_stdout, reason = "the result is the output of the program")]
pub(crate) async fn run(engine: &str, calls: usize, seed: u64) -> Result<(), Failure> {
    let folder = tempfile::Builder::new().prefix("remote-chaos-").tempdir()?;
    println!("{engine}, {calls} calls, seed {seed}");
    let start = Instant::now();
    let mut drive = Drive::start(engine, folder.path(), calls, seed).await?;
    let limit = LIMIT + LIMIT_PER_CALL * u32::try_from(calls)?;
    let driven = timeout(limit, drive.run()).await;
    let driven = driven.unwrap_or_else(|_| Err("it did not end in time".into()));
    let checked = driven.and_then(|evidence| check::run(&evidence));
    match checked {
        Ok(summary) => {
            let Drive { kills, begun, .. } = drive;
            println!("{summary}, {kills} killed, {begun} disturbances, {:.0?}", start.elapsed());
            Ok(())
        }
        // It is expected.
        Err(error) if drive.is_control => Err(error),
        Err(error) => {
            // Ends the processes, and unmounts the disk.
            drop(drive);
            let folder = folder.keep();
            Err(format!("{error}\nseed {seed}; the files are in {}", folder.display()).into())
        }
    }
}

/// The engine.
enum Engine {
    Hub { port: u16 },
    Nats(nats::Server, u16),
}

impl Engine {
    fn new(engine: &str, folder: &Path, calls: usize) -> Result<Self, Failure> {
        match engine {
            "hub" => Ok(Self::Hub { port: free_ports()?[0] }),
            "nats" => {
                let ports = free_ports()?;
                Ok(Self::Nats(nats::Server::prepare(folder, ports, calls)?, ports[0]))
            }
            _ => Err(format!("`{engine}` is no engine; write `hub` or `nats`").into()),
        }
    }

    /// The parts without which the others do nothing.
    fn parts(&self, folder: &Path) -> Result<Vec<Part>, Failure> {
        match self {
            Self::Hub { port } => Ok(vec![hub::part(folder, *port)?]),
            Self::Nats(server, _) => Ok(server.parts()?.into()),
        }
    }

    fn points(&self) -> Vec<(Kind, &'static str)> {
        let mut points = POINTS.to_vec();
        if matches!(self, Self::Hub { .. }) {
            points.extend(POINTS_OF_HUB);
        }
        points
    }

    /// The disturbances of a run.
    fn faults(&self, calls: usize, random: &mut Rng) -> Vec<Fault> {
        let Self::Nats(server, _) = self else {
            return fault::plan(STOPS, calls / CALLS_PER_STOP, random);
        };
        let mut kinds = [STOPS, CUTS, &[Fault::DeleteQueue]].concat();
        if server.disk.is_some() {
            kinds.push(Fault::FillDisk(4));
        }
        fault::plan(&kinds, calls / CALLS_PER_FAULT, random)
    }

    fn url(&self) -> String {
        match self {
            Self::Hub { port } => format!("http://127.0.0.1:{port}"),
            Self::Nats(_, port) => format!("nats://127.0.0.1:{port}"),
        }
    }

    /// A proxy for a part, if the network is disturbed, and the address that the part uses.
    async fn line(&self) -> Result<(Option<Proxy>, String), Failure> {
        match self {
            Self::Hub { .. } => Ok((None, self.url())),
            Self::Nats(_, port) => {
                let proxy = Proxy::start(*port).await?;
                let url = format!("nats://127.0.0.1:{}", proxy.port);
                Ok((Some(proxy), url))
            }
        }
    }

    async fn is_idle(&self, folder: &Path) -> Result<bool, Failure> {
        match self {
            Self::Hub { .. } => hub::is_idle(&self.url(), folder).await,
            Self::Nats(server, _) => server.is_idle().await,
        }
    }

    async fn records(&self, folder: &Path) -> Result<Records, Failure> {
        match self {
            Self::Hub { .. } => hub::records(folder),
            Self::Nats(server, _) => server.records().await,
        }
    }
}

/// Two ports that nobody uses at present.
fn free_ports() -> Result<[u16; 2], Failure> {
    let mut random = Rng::with_seed(process::id().into());
    let ports = std::iter::repeat_with(|| random.u16(PORTS)).take(100);
    let bound = ports.filter_map(|port| TcpListener::bind(("127.0.0.1", port)).ok());
    let bound: Vec<TcpListener> = bound.take(2).collect();
    match &bound[..] {
        [first, second] => Ok([first.local_addr()?.port(), second.local_addr()?.port()]),
        _ => Err("no port is free".into()),
    }
}

struct Drive {
    /// Whether the runners have another fence than the record. Then the engine is killed, and nothing else happens.
    is_control: bool,
    folder: PathBuf,
    start: Instant,
    parts: Vec<Part>,
    engine: Engine,
    /// The points at which no process of their kind crashed yet, and none is about to.
    points: Vec<(Kind, &'static str)>,
    random: Rng,
    /// The number of processes that were killed, and that are to be.
    kills: usize,
    most_kills: usize,
    kill_at: Instant,
    /// The disturbances to come, and the number of those that began.
    faults: Vec<Fault>,
    begun: usize,
    fault_at: Instant,
    /// Until when the disk is full.
    full_until: Option<Instant>,
    /// The processes that did not end in order.
    dead: HashSet<u32>,
    /// The processes that were stopped or cut off for longer than a lease.
    lapsed: HashSet<u32>,
    calls: usize,
    progress: Progress,
}

impl Drive {
    async fn start(engine: &str, folder: &Path, calls: usize, seed: u64) -> Result<Self, Failure> {
        let engine = Engine::new(engine, folder, calls)?;
        let mut parts = engine.parts(folder)?;
        for _ in 0..RUNNERS {
            let (proxy, url) = engine.line().await?;
            let arguments = ["runner".as_ref(), url.as_ref(), folder.as_os_str()];
            parts.push(Part::new(Kind::Runner, arguments)?.behind(proxy));
        }
        let each = (calls / CALLERS.len()).to_string();
        for name in CALLERS {
            let (proxy, url) = engine.line().await?;
            let folder = folder.as_os_str();
            let arguments = ["caller".as_ref(), url.as_ref(), folder, name.as_ref(), each.as_ref()];
            parts.push(Part::new(Kind::Caller, arguments)?.behind(proxy));
        }
        set_clocks(&mut parts);
        let mut random = Rng::with_seed(seed);
        let is_control = Fence::of_environment()? != Fence::Record;
        let (points, faults) = match is_control {
            true => (Vec::new(), Vec::new()),
            false => (engine.points(), engine.faults(calls, &mut random)),
        };
        let mut drive = Self {
            is_control,
            folder: folder.to_owned(),
            start: Instant::now(),
            parts,
            points,
            faults,
            engine,
            random,
            kills: 0,
            most_kills: calls / CALLS_PER_KILL,
            kill_at: Instant::now() + if is_control { START_OF_CONTROL } else { Duration::ZERO },
            begun: 0,
            fault_at: Instant::now(),
            full_until: None,
            dead: HashSet::new(),
            lapsed: HashSet::new(),
            calls,
            progress: Progress::new(folder),
        };
        drive.note(&format!("to come: {:?}", drive.faults))?;
        (0..drive.parts.len()).try_for_each(|index| drive.spawn(index))?;
        Ok(drive)
    }

    /// Starts the process of a part, with the next point of its kind.
    fn spawn(&mut self, index: usize) -> Result<(), Failure> {
        let part = &mut self.parts[index];
        let point = self.points.iter().position(|(kind, _)| *kind == part.kind);
        let point = point.map(|position| self.points.remove(position).1);
        part.spawn(point)?;
        let (kind, pid) = (part.kind, part.pid());
        self.note(&format!("{kind:?} {index} starts as {pid:?}, to crash at {point:?}"))
    }

    /// Disturbs and replaces processes until all calls are answered; then lets everything end.
    async fn run(&mut self) -> Result<Evidence, Failure> {
        let effects = files::effects(&self.folder);
        while !self.is_over() {
            self.replace()?;
            // Nothing is proved by what hits processes that have not begun.
            if effects.exists() {
                let answered = self.progress.answered()?;
                self.kill(answered);
                self.calm()?;
                self.disturb(answered).await?;
            }
            sleep(TICK).await;
        }
        self.note("all calls are answered")?;
        self.require_crashes()?;
        while !self.engine.is_idle(&self.folder).await? {
            sleep(TICK).await;
        }
        let evidence = self.evidence().await?;
        self.check_rest(&evidence).await?;
        Ok(evidence)
    }

    fn is_over(&self) -> bool {
        let is_there = |part: &Part| match part.kind {
            Kind::Caller => part.is_done,
            _ => part.is_running() && !part.is_stopped() && !part.is_cut_off(),
        };
        self.full_until.is_none() && self.parts.iter().all(is_there)
    }

    /// Replaces processes that were killed or crashed.
    fn replace(&mut self) -> Result<(), Failure> {
        for index in 0..self.parts.len() {
            if let Some(pid) = self.parts[index].reap()? {
                self.dead.insert(pid);
                self.note(&format!("{pid} has ended"))?;
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
    fn kill(&mut self, answered: usize) {
        let most = self.most_kills.min(AHEAD + answered / CALLS_PER_KILL);
        if self.kills >= most || Instant::now() < self.kill_at {
            return;
        }
        let kind = match self.random.u8(..4) {
            _ if self.is_control => Kind::Engine,
            0 => Kind::Engine,
            1 => Kind::Caller,
            _ => Kind::Runner,
        };
        if let Some(victim) = self.victim(kind, Part::may_be_killed) {
            victim.kill();
            self.kills += 1;
            let pause = if self.is_control { KILL_OF_CONTROL } else { KILL };
            let pause = self.random.u64(pause);
            self.kill_at = Instant::now() + Duration::from_millis(pause);
        }
    }

    /// Notes what happens, for those who look into a failed run.
    fn note(&self, event: &str) -> Result<(), Failure> {
        let event = format!("{:>9.3} {event}", self.start.elapsed().as_secs_f64());
        Ok(files::append(self.folder.join("events.jsonl"), &event)?)
    }

    /// A random process of a kind that is not disturbed already. On a full disk the engine would not start.
    fn victim(&mut self, kind: Kind, may_be: fn(&Part) -> bool) -> Option<&mut Part> {
        if kind == Kind::Engine && self.full_until.is_some() {
            return None;
        }
        let is_victim = |part: &&mut Part| part.kind == kind && may_be(part);
        let victims: Vec<&mut Part> = self.parts.iter_mut().filter(is_victim).collect();
        self.random.choice(victims)
    }

    /// Ends the disturbances whose time is over.
    fn calm(&mut self) -> Result<(), Failure> {
        self.parts.iter_mut().try_for_each(Part::go_on)?;
        if self.full_until.is_some_and(|until| Instant::now() >= until) {
            self.full_until = None;
            if let Engine::Nats(nats::Server { disk: Some(disk), .. }, _) = &self.engine {
                disk.empty()?;
            }
            // After it could not write, a server writes nothing more until it is restarted.
            let engines = self.parts.iter_mut().filter(|part| part.kind == Kind::Engine);
            engines.for_each(Part::kill);
        }
        Ok(())
    }

    /// Begins the next disturbance that has a victim.
    async fn disturb(&mut self, answered: usize) -> Result<(), Failure> {
        if self.begun >= AHEAD + answered / CALLS_PER_FAULT || Instant::now() < self.fault_at {
            return Ok(());
        }
        for next in 0..self.faults.len() {
            if self.begin(self.faults[next]).await? {
                let fault = self.faults.remove(next);
                self.begun += 1;
                self.note(&format!("{fault:?}"))?;
                let pause = self.random.u64(KILL);
                self.fault_at = Instant::now() + Duration::from_millis(pause);
                break;
            }
        }
        Ok(())
    }

    /// Begins a disturbance. Returns whether there was a victim.
    async fn begin(&mut self, fault: Fault) -> Result<bool, Failure> {
        match fault {
            Fault::Stop(kind, seconds) => {
                let Some(victim) = self.victim(kind, Part::is_free) else { return Ok(false) };
                let time = Duration::from_secs(seconds);
                let pid = victim.stop(time)?;
                self.lapsed.extend(pid.filter(|_| time > LEASE));
                Ok(true)
            }
            Fault::Stall(kind, seconds) => {
                let Some(victim) = self.victim(kind, Part::is_free) else { return Ok(false) };
                let time = Duration::from_secs(seconds);
                let pid = victim.pid();
                victim.proxy.iter().for_each(|proxy| proxy.stall(time));
                self.lapsed.extend(pid.filter(|_| time > LEASE));
                Ok(true)
            }
            Fault::Cut(kind, cut) => {
                let Some(victim) = self.victim(kind, Part::is_free) else { return Ok(false) };
                victim.proxy.iter().for_each(|proxy| proxy.cut(cut));
                Ok(true)
            }
            Fault::DeleteQueue => match &self.engine {
                Engine::Nats(server, _) => Ok(server.delete_queue().await),
                Engine::Hub { .. } => Ok(false),
            },
            Fault::FillDisk(seconds) => self.fill_disk(Duration::from_secs(seconds)),
        }
    }

    fn fill_disk(&mut self, time: Duration) -> Result<bool, Failure> {
        if self.victim(Kind::Engine, Part::is_free).is_none() {
            return Ok(false);
        }
        let Engine::Nats(nats::Server { disk: Some(disk), .. }, _) = &self.engine else {
            return Ok(false);
        };
        disk.fill()?;
        self.full_until = Some(Instant::now() + time);
        Ok(true)
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

    async fn evidence(&self) -> Result<Evidence, Failure> {
        let mut outcomes = Vec::new();
        for name in CALLERS {
            outcomes.push(files::read(files::outcomes(&self.folder, name))?);
        }
        Ok(Evidence {
            calls: self.calls / CALLERS.len(),
            outcomes,
            effects: files::read(files::effects(&self.folder))?,
            records: self.engine.records(&self.folder).await?,
            dead: self.dead.clone(),
            lapsed: self.lapsed.clone(),
        })
    }

    /// Lets the processes end, and checks that they leave nothing behind. The engine is the first part: the others need it
    /// to their end.
    async fn check_rest(&mut self, evidence: &Evidence) -> Result<(), Failure> {
        if let Engine::Nats(server, _) = &self.engine {
            server.check_subscriptions().await?;
            // The catalogue, the arguments, and a result for each large effect.
            let large = |effect: &&Effect| matches!(effect, Effect::Had { is_large: true, .. });
            server.check_blobs(2 + evidence.effects.iter().filter(large).count()).await?;
        }
        while self.parts.len() > 1 {
            if let Some(part) = self.parts.pop() {
                part.end().await?;
            }
        }
        if let Engine::Nats(server, _) = &self.engine {
            server.check_connections().await?;
        }
        match self.parts.pop() {
            Some(part) => part.end().await,
            None => Ok(()),
        }
    }
}

/// The places of the library of `faketime`.
const FAKETIME: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
];

/// Sets the clocks of a runner and a caller an hour ahead or back, if `faketime` is installed.
fn set_clocks(parts: &mut [Part]) {
    let library = FAKETIME.iter().map(PathBuf::from).find(|path| path.exists());
    let Some(library) = library else { return };
    for (kind, offset) in [(Kind::Runner, "+1h"), (Kind::Runner, "-1h"), (Kind::Caller, "+1h")] {
        let is_free = |part: &&mut Part| part.kind == kind && part.clock.is_none();
        if let Some(part) = parts.iter_mut().find(is_free) {
            part.clock = Some(Clock { library: library.clone(), offset });
        }
    }
}
