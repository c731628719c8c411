//! The tables of calls over a NATS server: caller, runners and server on this machine, beside a request of the same client
//! that another one answers. Times are those of a clock: what counts is how long a caller waits.

use crate::log::Folder;
use async_nats::Client;
use benches::measure::Effort;
use benches::table::{Table, ratio, time};
use futures_util::StreamExt as _;
use futures_util::stream::{FuturesUnordered, iter};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tool_runtime::CancellationToken;
use tool_runtime::prelude::*;
use tool_runtime::remote::{NatsBoard, NatsKey, NatsOptions, NatsServerConfig, Remote, Runner};
use tool_runtime_mcp::http_client::builder;

/// Calls of a contender in a round.
const CALLS: usize = 100;
/// Rounds, in which the contenders alternate.
const ROUNDS: usize = 21;
/// Calls at the same time, and in all, for the number of calls in a second.
const AT_ONCE: usize = 64;
const MANY: usize = 3000;
/// Runners that have nothing to do, and the time for which their messages are counted.
const IDLE: usize = 100;
const IDLE_TIME: Duration = Duration::from_secs(20);

pub(crate) fn table(effort: Effort) -> String {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let is_full = effort.rounds > 1;
    let mut text = format!("A file is synced in {}\n", time(sync_time()));
    for (name, syncs) in [("sync_interval: always", true), ("the default, 2 minutes", false)] {
        let folder = Folder::new();
        let Some(server) = Server::start(&folder, syncs) else {
            return "Calls over NATS need `nats-server`: name it by TOOL_NATS_SERVER".to_owned();
        };
        text += &format!("\nRecords synced: {name}\n\n");
        text += &runtime.block_on(latencies(&server, is_full)).to_string();
        text += "\n";
        text += &runtime.block_on(rates(&server, is_full)).to_string();
        if syncs {
            let first = runtime.block_on(first_call(&server));
            text += &format!(
                "\nFrom the start of a caller and a runner to the first answer: {}\n",
                time(first)
            );
            let runners = if is_full { IDLE } else { 2 };
            let messages = runtime.block_on(idle(&server, runners));
            text += &format!(
                "Messages to and from the server a second, {runners} idle runners: {messages:.0}\n"
            );
        }
    }
    text
}

/// Nanoseconds to append to a file and sync it.
fn sync_time() -> f64 {
    let folder = Folder::new();
    let mut file = File::create(folder.file("sync")).expect("a file");
    let mut times = Vec::new();
    for _ in 0..101 {
        let began = Instant::now();
        file.write_all(&[b'x'; 400]).and_then(|()| file.sync_data()).expect("it is written");
        times.push(began.elapsed().as_nanos() as f64);
    }
    median(times)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median times of requests and of calls, one after another.
async fn latencies(server: &Server, is_full: bool) -> Table {
    let (rounds, calls) = if is_full { (ROUNDS, CALLS) } else { (1, 2) };
    let echo = Echo::start(server).await;
    let fleet = Fleet::start(server, 1).await;
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..rounds {
        for _ in 0..calls {
            times[0].push(timed(echo.request()).await);
        }
        for _ in 0..calls {
            times[1].push(timed(fleet.call("safe")).await);
        }
        for _ in 0..calls {
            times[2].push(timed(fleet.call("once")).await);
        }
    }
    fleet.end().await;
    let mut table = Table::new(&["one after another", "median", "ratio"]);
    let request = median(times[0].clone());
    let names =
        ["a request, answered by a client", "a call, safe to retry", "a call, at most once"];
    for (name, of_row) in names.into_iter().zip(times) {
        let median = median(of_row);
        table.row([name.to_owned(), time(median), ratio(median / request)]);
    }
    table
}

/// The calls in a second, by the number of runners.
async fn rates(server: &Server, is_full: bool) -> Table {
    let calls = if is_full { MANY } else { 8 };
    let mut table = Table::new(&["64 at a time, calls a second", "safe to retry", "at most once"]);
    for runners in [1, 4, 16] {
        let fleet = Fleet::start(server, runners).await;
        let mut row = vec![format!("{runners} runners")];
        for tool in ["safe", "once"] {
            let began = Instant::now();
            iter(0..calls).for_each_concurrent(AT_ONCE, |_| fleet.call(tool)).await;
            row.push(format!("{:.0}", calls as f64 / began.elapsed().as_secs_f64()));
        }
        table.row(row);
        fleet.end().await;
    }
    table
}

/// Nanoseconds from the start to the first answer.
async fn first_call(server: &Server) -> f64 {
    let began = Instant::now();
    let fleet = Fleet::start(server, 1).await;
    fleet.call("safe").await;
    let time = began.elapsed().as_nanos() as f64;
    fleet.end().await;
    time
}

/// The messages of the server in a second, while runners wait for calls.
async fn idle(server: &Server, runners: usize) -> f64 {
    let fleet = Fleet::start(server, runners).await;
    fleet.call("safe").await;
    let (before, began) = (server.messages().await, Instant::now());
    tokio::time::sleep(if runners == IDLE { IDLE_TIME } else { Duration::from_secs(1) }).await;
    let messages = server.messages().await - before;
    let rate = messages as f64 / began.elapsed().as_secs_f64();
    fleet.end().await;
    rate
}

async fn timed(work: impl Future<Output = ()>) -> f64 {
    let began = Instant::now();
    work.await;
    began.elapsed().as_nanos() as f64
}

/// A server with the configuration that `remote nats-config` writes.
struct Server {
    child: Child,
    address: String,
    monitor: String,
    keys: [NatsKey; 3],
    folder: std::path::PathBuf,
}

impl Server {
    fn start(folder: &Folder, syncs: bool) -> Option<Self> {
        let keys = [(); 3].map(|()| NatsKey::random());
        let [keeper, caller, runner] = &keys;
        for (name, key) in ["keeper", "caller", "runner"].iter().zip(&keys) {
            std::fs::write(folder.file(name), key.seed()).expect("it is written");
        }
        let config = NatsServerConfig::new("tools", keeper)
            .expect("a namespace")
            .store(folder.file("store"))
            .caller("caller".parse().expect("a name"), caller)
            .runner("bench".parse().expect("a name"), runner);
        let mut config = config.to_string();
        if !syncs {
            config = config.replace("  sync_interval: always\n", "");
        }
        config += "http: \"127.0.0.1:-1\"\n";
        let file = folder.file("nats.conf");
        std::fs::write(&file, config).expect("it is written");
        let program =
            std::env::var("TOOL_NATS_SERVER").unwrap_or_else(|_| "nats-server".to_owned());
        let mut command = Command::new(program);
        command.arg("-c").arg(&file).args(["-a", "127.0.0.1", "-p", "-1"]);
        let mut child = command.stderr(Stdio::piped()).spawn().ok()?;
        let mut log = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let (mut address, mut monitor) = (String::new(), String::new());
        for line in log.by_ref().map_while(Result::ok) {
            if let Some((_, at)) = line.split_once("Listening for client connections on ") {
                address = format!("nats://{at}");
            }
            if let Some((_, at)) = line.split_once("Starting http monitor on ") {
                monitor = format!("http://{at}/varz");
            }
            if line.contains("Server is ready") {
                break;
            }
        }
        // It must not wait for somebody who reads its log.
        std::thread::spawn(move || log.for_each(drop));
        let folder = file.parent().expect("a folder").to_owned();
        Some(Self { child, address, monitor, keys, folder })
    }

    async fn board(&self, name: &str, key: &str) -> NatsBoard {
        let options = NatsOptions::default().name(name.parse().expect("a name"));
        let options = options.credentials(self.folder.join(key));
        NatsBoard::connect(&self.address, options).await.expect("a server")
    }

    /// The number of messages to and from clients.
    async fn messages(&self) -> u64 {
        let client = builder(false).expect("no TLS").no_proxy().build().expect("a client");
        let answer = client.get(&self.monitor).send().await.expect("an answer");
        let status: Value =
            serde_json::from_str(&answer.text().await.expect("a string")).expect("JSON");
        let count = |name: &str| status[name].as_u64().expect("a count");
        count("in_msgs") + count("out_msgs")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill().and_then(|()| self.child.wait()));
    }
}

/// Two clients, of which one answers the other.
struct Echo(Client);

impl Echo {
    async fn start(server: &Server) -> Self {
        let connect = || async_nats::ConnectOptions::new().nkey(server.keys[0].seed().to_owned());
        let answering = connect().connect(&server.address).await.expect("a server");
        let mut requests = answering.subscribe("bench.echo").await.expect("it is subscribed");
        answering.flush().await.expect("it is sent");
        tokio::spawn(async move {
            while let Some(request) = requests.next().await {
                let reply = request.reply.expect("a reply subject");
                answering.publish(reply, request.payload).await.expect("it is sent");
            }
        });
        let client = connect().connect(&server.address).await.expect("a server");
        let echo = Self(client);
        while echo.0.request("bench.echo", "".into()).await.is_err() {}
        echo
    }

    /// Sends about as much as a job has.
    async fn request(&self) {
        self.0.request("bench.echo", vec![b'x'; 400].into()).await.expect("an answer");
    }
}

/// Runners and a caller.
struct Fleet {
    pool: ToolPool,
    remote: Remote,
    end: CancellationToken,
    runners: FuturesUnordered<tokio::task::JoinHandle<()>>,
}

impl Fleet {
    async fn start(server: &Server, runners: usize) -> Self {
        let queue: tool_runtime::remote::Queue = "bench".parse().expect("a name");
        let keeper = server.board("keeper", "keeper").await;
        keeper.keep(std::slice::from_ref(&queue)).await.expect("streams");
        let end = CancellationToken::new();
        let tool = |name: &str, is_safe: bool| {
            Tool::builder(name, "Answer at once.").read_only(is_safe).handler(|| async { "done" })
        };
        let tasks = FuturesUnordered::new();
        for _ in 0..runners {
            let served = ToolPool::builder().add(tool("safe", true)).add(tool("once", false));
            let (served, stop) = (served.build().expect("a pool"), end.clone());
            let board = server.board("bench", "runner").await;
            let runner = Runner::new(board).queue(queue.clone());
            tasks.push(tokio::spawn(async move {
                runner.serve_until(&served, &stop).await.expect("it ends in order");
            }));
        }
        let pool = ToolPool::builder().allow_empty().build().expect("a pool");
        let board = server.board("caller", "caller").await;
        let remote = Remote::builder(board).trust(true).connect(&pool).await.expect("a server");
        Self { pool, remote, end, runners: tasks }
    }

    async fn call(&self, tool: &str) {
        let result = self.pool.call(ToolCall::new(tool, "{}")).await;
        assert_eq!(result.observation().to_text(), "done");
    }

    async fn end(self) {
        self.remote.close().await;
        self.end.cancel();
        self.runners.for_each(async |ended| ended.expect("it does not panic")).await;
    }
}
