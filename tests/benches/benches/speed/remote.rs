//! The table of a call over the hub: caller, hub and runner in this process, over HTTP on this machine, beside a request
//! that makes one commit. Times are those of a clock: what counts is how long a caller waits.

use crate::log::Folder;
use axum::Router;
use axum::extract::State;
use axum::routing::post;
use axum::serve::ListenerExt as _;
use benches::measure::Effort;
use benches::table::{Table, ratio, time};
use reqwest::Client;
use std::time::Instant;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tool_runtime::CancellationToken;
use tool_runtime::http::BearerTokens;
use tool_runtime::prelude::*;
use tool_runtime::remote::{HttpBoard, HttpBoardOptions, Hub, Remote, Runner};
use tool_runtime_mcp::http_client::builder;
use tool_runtime_store::{Migration, OpenOptions, Store};

const TOKENS: &str = "caller:secret1 scopes=call:*\nrunner:secret2 scopes=run:*";

const ROWS: &[Migration] =
    &[Migration::new(1, "CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)")];

/// Calls of a contender in a round.
const CALLS: usize = 50;
/// Rounds, in which the contenders alternate. The medians are shown.
const ROUNDS: usize = 21;

pub(crate) fn table(effort: Effort) -> String {
    let (rounds, calls) = if effort.rounds > 1 { (ROUNDS, CALLS) } else { (1, 2) };
    let folder = Folder::new();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let bare = runtime.block_on(Bare::start(&folder));
    let fleet = runtime.block_on(Fleet::start(&folder));
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..rounds {
        times[0].push(each(&runtime, calls, || bare.request()));
        times[1].push(each(&runtime, calls, || fleet.call("safe")));
        times[2].push(each(&runtime, calls, || fleet.call("once")));
    }
    runtime.block_on(fleet.end());
    let mut table = Table::new(&["one after another, over HTTP", "time", "ratio"]);
    let names = ["a request with one commit", "a call, safe to retry", "a call, at most once"];
    for (name, of_row) in names.into_iter().zip(&times) {
        let ratios = of_row.iter().zip(&times[0]).map(|(time, bare)| time / bare).collect();
        table.row([name.to_owned(), time(median(of_row.clone())), ratio(median(ratios))]);
    }
    format!("Ratios are to the first line; a call has one or two commits of its record\n\n{table}")
}

/// Nanoseconds of each call.
fn each<F: Future>(runtime: &Runtime, calls: usize, call: impl Fn() -> F) -> f64 {
    let began = Instant::now();
    runtime.block_on(async {
        for _ in 0..calls {
            call().await;
        }
    });
    began.elapsed().as_nanos() as f64 / calls as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The client of a server that inserts a row for each request.
struct Bare {
    client: Client,
    url: String,
}

impl Bare {
    async fn start(folder: &Folder) -> Self {
        let store = Store::open(folder.file("bare.db"), ROWS, OpenOptions::default());
        let insert = async |State(store): State<Store>, text: String| {
            let insert = "INSERT INTO rows (text) VALUES (?1)";
            let written = store.write(move |rows| rows.execute(insert, [text])).await;
            written.expect("a commit").to_string()
        };
        let router = Router::new().route("/", post(insert)).with_state(store.expect("a file"));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        tokio::spawn(axum::serve(listener, router).into_future());
        let client = builder(false).expect("no TLS").no_proxy().build().expect("a client");
        Self { client, url }
    }

    /// Sends about as much as a record has.
    async fn request(&self) {
        let sent = self.client.post(&self.url).body("x".repeat(300)).send().await;
        let answer = sent.expect("an answer").text().await;
        assert_eq!(answer.expect("a body"), "1");
    }
}

/// A hub, a runner and a caller.
struct Fleet {
    pool: ToolPool,
    remote: Remote,
    end: CancellationToken,
}

impl Fleet {
    async fn start(folder: &Folder) -> Self {
        let hub = Hub::open(folder.file("hub.db")).expect("a file");
        let tokens = BearerTokens::parse(TOKENS).expect("tokens");
        let server = hub.serve("127.0.0.1:0", tokens).await.expect("a port");
        let url = format!("http://{}", server.address());
        let end = CancellationToken::new();
        tokio::spawn(server.until(end.clone()));

        let tool = |name: &str, is_safe: bool| {
            Tool::builder(name, "Answer at once.").read_only(is_safe).handler(|| async { "done" })
        };
        let served = ToolPool::builder().add(tool("safe", true)).add(tool("once", false)).build();
        let (served, stop) = (served.expect("a pool"), end.clone());
        let runner =
            Runner::new(board(&url, "secret2").await).queue("bench".parse().expect("a name"));
        tokio::spawn(async move { runner.serve_until(&served, &stop).await });

        let pool = ToolPool::builder().allow_empty().build().expect("a pool");
        let remote = Remote::builder(board(&url, "secret1").await).trust(true);
        let remote = remote.connect(&pool).await.expect("a hub");
        Self { pool, remote, end }
    }

    async fn call(&self, tool: &str) {
        let result = self.pool.call(ToolCall::new(tool, "{}")).await;
        assert_eq!(result.observation().to_text(), "done");
    }

    async fn end(self) {
        self.remote.close().await;
        self.end.cancel();
    }
}

async fn board(url: &str, token: &str) -> HttpBoard {
    let options = HttpBoardOptions::default().token(token);
    HttpBoard::connect(url, options).await.expect("a hub")
}
