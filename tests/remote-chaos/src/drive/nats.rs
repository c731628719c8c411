//! A NATS server, seen by the driver: its configuration, its keeper's view of it, and what is left there.

use super::disk::SmallDisk;
use super::part::{Kind, Part};
use crate::check::{self, Records};
use crate::files::{self, Line};
use crate::network::{CALLERS, KEEPER, NAMESPACE, QUEUE, RUNNER};
use crate::{Failure, network};
use async_nats::jetstream::{self, Context};
use futures_util::TryStreamExt as _;
use serde::Deserialize;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;
use tool_runtime::tool::StepId;
use tool_runtime_remote::{
    Board as _, NatsBoard, NatsKey, NatsServerConfig, Payload, State, StepKey,
};

/// The pause between two times that records are read: less than outcomes are kept.
const READ: Duration = Duration::from_secs(30);

/// The most subscriptions of a program without calls: what it listens to, its answers, and a pull.
const MAX_SUBSCRIPTIONS: usize = 8;

/// The time until the server has noticed that a connection has ended.
const NOTICED: Duration = Duration::from_secs(10);

pub(super) struct Server {
    folder: PathBuf,
    url: String,
    /// The port on which the server tells about itself.
    monitor: u16,
    /// The disk of the server, if a small one can be mounted.
    pub(super) disk: Option<SmallDisk>,
    records: Arc<Mutex<Records>>,
    _reading: AbortOnDropHandle<()>,
}

impl Server {
    /// Writes the configuration and the keys.
    pub(super) fn prepare(folder: &Path, ports: [u16; 2], calls: usize) -> Result<Self, Failure> {
        let [port, monitor] = ports;
        // 300 KiB for each hundredth call, and room for records.
        let disk = SmallDisk::mount(&folder.join("disk"), 128 + calls / 50).ok();
        let store = folder.join(if disk.is_some() { "disk/store" } else { "store" });
        let key = |name: &str| {
            let key = NatsKey::random();
            fs::write(files::key(folder, name), key.seed()).map(|()| key)
        };
        let mut config = NatsServerConfig::new(NAMESPACE, &key(KEEPER)?)?
            .listen(format!("127.0.0.1:{port}"))
            .store(store)
            .runner(QUEUE.parse()?, &key(RUNNER)?);
        for caller in CALLERS {
            config = config.caller(caller.parse()?, &key(caller)?);
        }
        let monitoring = format!("http: \"127.0.0.1:{monitor}\"\n");
        fs::write(folder.join("nats.conf"), config.to_string() + &monitoring)?;
        let (url, records) = (format!("nats://127.0.0.1:{port}"), Arc::default());
        let reading =
            tokio::spawn(read_again(url.clone(), folder.to_owned(), Arc::clone(&records)));
        let _reading = AbortOnDropHandle::new(reading);
        Ok(Self { folder: folder.to_owned(), url, monitor, disk, records, _reading })
    }

    pub(super) fn parts(&self) -> Result<[Part; 2], Failure> {
        let program = env::var("TOOL_NATS_SERVER").unwrap_or_else(|_| "nats-server".to_owned());
        let config = self.folder.join("nats.conf");
        let server = Part::new(Kind::Engine, ["-c".as_ref(), config.as_os_str()])?
            .played_by(program, &self.folder.join("server.log"));
        let keeper = ["keeper".as_ref(), self.url.as_ref(), self.folder.as_os_str()];
        Ok([server, Part::new(Kind::Keeper, keeper)?])
    }

    async fn keeper(&self) -> Result<Context, Failure> {
        let seed = fs::read_to_string(files::key(&self.folder, KEEPER))?;
        let client = async_nats::ConnectOptions::with_nkey(seed).connect(&self.url).await?;
        Ok(jetstream::new(client))
    }

    /// Deletes the queue, if the server is there.
    pub(super) async fn delete_queue(&self) -> bool {
        let deleted = async {
            self.keeper().await?.delete_stream(queue()).await?;
            Ok::<_, Failure>(())
        };
        matches!(timeout(Duration::from_secs(1), deleted).await, Ok(Ok(())))
    }

    /// Whether no job is queued or claimed.
    pub(super) async fn is_idle(&self) -> Result<bool, Failure> {
        let stream = self.keeper().await?.get_stream(queue()).await?;
        let runners = stream.consumer_info("runners").await?;
        Ok(stream.cached_info().state.messages == 0 && runners.num_ack_pending == 0)
    }

    /// Reads all records once more.
    pub(super) async fn records(&self) -> Result<Records, Failure> {
        let mut records = self.lock_records().clone();
        let board = keeper(&self.url, &self.folder).await?;
        for (caller, step) in steps(&self.folder)? {
            match read(&board, caller, &step).await {
                Ok(Some(answer)) => drop(records.insert(step, answer)),
                // Outcomes outside executions expire.
                Ok(None) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(records)
    }

    fn lock_records(&self) -> std::sync::MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that the server has as many blobs as were stored at most.
    pub(super) async fn check_blobs(&self, most: usize) -> Result<usize, Failure> {
        let keeper = self.keeper().await?;
        let store = keeper.get_object_store(format!("TR_{NAMESPACE}_BLOBS")).await?;
        let mut blobs = store.list().await?;
        let mut count = 0;
        while blobs.try_next().await?.is_some() {
            count += 1;
        }
        match count <= most {
            true => Ok(count),
            false => Err(format!("{count} blobs are left, and at most {most} were stored").into()),
        }
    }

    /// Checks that programs without calls have no subscriptions of calls.
    pub(super) async fn check_subscriptions(&self) -> Result<(), Failure> {
        let mut now = self.connections().await?;
        now.connections.retain(|connection| connection.subscriptions > MAX_SUBSCRIPTIONS);
        if now.connections.is_empty() {
            return Ok(());
        }
        Err(format!("subscriptions are left: {:?}", now.connections).into())
    }

    /// Checks that nobody is connected any more.
    pub(super) async fn check_connections(&self) -> Result<(), Failure> {
        let ended = async {
            while self.connections().await?.num_connections > 0 {
                sleep(Duration::from_millis(20)).await;
            }
            Ok(())
        };
        let late = |_| Err("programs that have ended are still connected".into());
        timeout(NOTICED, ended).await.unwrap_or_else(late)
    }

    async fn connections(&self) -> Result<Connections, Failure> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.monitor)).await?;
        stream.write_all(b"GET /connz?subs=1 HTTP/1.0\r\n\r\n").await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        let (_, body) = answer.split_once("\r\n\r\n").ok_or("the server answers without a body")?;
        Ok(serde_json::from_str(body)?)
    }
}

fn queue() -> String {
    format!("TR_{NAMESPACE}_JOBS_{QUEUE}")
}

#[derive(Debug, Deserialize)]
struct Connections {
    num_connections: usize,
    connections: Vec<Connected>,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "they are printed")]
struct Connected {
    name: Option<String>,
    subscriptions: usize,
    subscriptions_list: Option<Vec<String>>,
}

async fn keeper(url: &str, folder: &Path) -> Result<Box<NatsBoard>, Failure> {
    match network::connect(url, KEEPER, folder).await? {
        network::Connected::Nats(board) => Ok(board),
        network::Connected::Hub(_) => Err("a hub has no keeper".into()),
    }
}

/// Reads the records of answered calls from time to time, before they expire.
async fn read_again(url: String, folder: PathBuf, records: Arc<Mutex<Records>>) {
    loop {
        sleep(READ).await;
        // What fails now is read the next time, or at the end.
        drop(read_new(&url, &folder, &records).await);
    }
}

async fn read_new(url: &str, folder: &Path, records: &Mutex<Records>) -> Result<(), Failure> {
    let board = keeper(url, folder).await?;
    for (caller, step) in steps(folder)? {
        let is_known = records.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&step);
        if is_known {
            continue;
        }
        if let Some(answer @ Some(_)) = read(&board, caller, &step).await? {
            records.lock().unwrap_or_else(PoisonError::into_inner).insert(step, answer);
        }
    }
    Ok(())
}

/// The steps of the calls that were answered, with their callers.
fn steps(folder: &Path) -> Result<Vec<(&'static str, String)>, Failure> {
    let mut steps = Vec::new();
    for caller in CALLERS {
        for line in files::read::<Line>(files::outcomes(folder, caller))? {
            if let Line::Outcome(outcome) = line {
                steps.push((caller, outcome.step));
            }
        }
    }
    Ok(steps)
}

/// What a record says, if there is one.
async fn read(
    board: &NatsBoard,
    caller: &str,
    step: &str,
) -> Result<Option<Option<files::Answer>>, Failure> {
    let key = StepKey::new(QUEUE.parse()?, caller.parse()?, StepId::new(step));
    let Some(revised) = board.read(&key).await? else { return Ok(None) };
    Ok(Some(match revised.record.state {
        State::Done { outcome: Payload::Inline(json), .. } => check::answer(json.as_str()),
        State::Done { outcome: Payload::Blob(blob), .. } => {
            check::answer(str::from_utf8(&board.get(&blob).await?)?)
        }
        State::Started { .. } | State::Suspended => None,
    }))
}
