//! The table of the log of calls: its cost on the thread of the caller, and its rate when each answer is
//! durable.

use benches::measure::{Contender, Effort, Measured, measure};
use benches::table::{Table, ratio, time};
use benches::{Case, block_on, clock, floor, linked};
use futures_util::future::join_all;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::runtime::Runtime;
use tool_runtime::audit::{EventLog, LogReader};
use tool_runtime::govern::{CallView, Decision, PolicyEngine};
use tool_runtime::prelude::*;

/// Calls that end together.
const BATCH: usize = 64;
/// Rules that are evaluated before one matches.
const RULES: usize = 100;
/// Rounds of the durable log and the bare loops, which alternate. The round with the median ratio is shown.
const ROUNDS: usize = 15;

pub(crate) fn table(effort: Effort) -> String {
    let folder = Folder::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime");
    // Calls that wait for the log have a time limit.
    let _entered = runtime.enter();
    let mut table = Table::new(&["`add`, on the caller's thread", "CPU", "ratio", "allocations"]);
    for row in calls(effort, &folder) {
        table.row(cells(&row));
    }
    let (rounds, batches) = if effort.rounds > 1 { (ROUNDS, 200) } else { (1, 2) };
    let whole = total_cpu(&folder, batches);
    let rates: Vec<String> = [Concurrency::Batch, Concurrency::Apart]
        .into_iter()
        .map(|concurrency| {
            let round = |_| durable(&runtime, &Folder::new(), batches, concurrency);
            let mut rates: Vec<Rates> = (0..rounds).map(round).collect();
            rates.sort_by(|a, b| (a.log / a.equal).total_cmp(&(b.log / b.equal)));
            rates.swap_remove(rounds / 2).to_string()
        })
        .collect();
    format!(
        "Ratios are to the first line; rules are a stand-in where no policy is named\n\n{table}\n\
        a logged call on all threads: {}\n{}",
        time(whole),
        rates.join("\n"),
    )
}

fn calls(effort: Effort, folder: &Folder) -> Vec<Measured> {
    let (name, arguments) = (Case::Add.name(), Case::Add.arguments());
    // The thread of the log must keep up, since a call waits for it when its queue is full.
    let effort = Effort { rounds: effort.rounds.min(25), ..effort };
    let builder = || linked::builder(Case::Add, 100);
    let plain = builder().build().expect("a pool");
    let ruled = builder().policy(Rules::new()).build().expect("a pool");
    let open = |name: &str| EventLog::open(folder.file(name)).expect("a log");
    let logged = builder().recorder(open("a.db")).build().expect("a pool");
    let governed = builder().policy(Rules::new()).recorder(open("b.db")).build().expect("a pool");
    let policy = crate::policies::policy(RULES);
    let real = builder().install(policy).recorder(open("c.db")).build().expect("a pool");
    let call =
        |pool: ToolPool| move || block_on(pool.call_json(black_box(name), black_box(arguments)));
    let contenders = vec![
        Contender::new("floor, by hand", || {
            block_on(floor::call(black_box(name), black_box(arguments)))
        }),
        Contender::new("a pool", call(plain)),
        Contender::new("with 100 rules", call(ruled)),
        Contender::new("with a log", call(logged)),
        Contender::new("with 100 rules and a log", call(governed)),
        Contender::new("with 100 rules of a policy and a log", call(real)),
    ];
    measure(contenders, effort)
}

/// CPU time of all threads in nanoseconds, including the thread of the log.
fn total_cpu(folder: &Folder, batches: usize) -> f64 {
    let log = EventLog::open(folder.file("whole.db")).expect("a log");
    let pool = linked::builder(Case::Add, 100).recorder(log.clone()).build().expect("a pool");
    let before = clock::process();
    for _ in 0..batches * BATCH {
        block_on(pool.call_json(Case::Add.name(), Case::Add.arguments()));
    }
    log.flush_blocking().expect("a log that can be written");
    (clock::process() - before).as_nanos() as f64 / (batches * BATCH) as f64
}

/// The concurrency of calls.
#[derive(Clone, Copy, Debug)]
enum Concurrency {
    /// As a batch of the pool, which limits how many run at once.
    Batch,
    /// All of them.
    Apart,
}

/// The rate of a durable log, compared with loops that write the same records.
struct Rates {
    concurrency: Concurrency,
    /// Records per transaction of the log.
    group: usize,
    /// Records per second of the log.
    log: f64,
    /// Records per second of a loop with transactions of that size.
    equal: f64,
    /// Records per second of a loop with one transaction for all concurrent calls.
    ideal: f64,
}

impl std::fmt::Display for Rates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { concurrency, group, log, equal, ideal } = self;
        let shares = [log / equal, log / ideal].map(ratio);
        write!(
            f,
            "durable, {BATCH} calls at once ({concurrency:?}): {log:.0} records/s, {group} a transaction; \
            bare SQLite: {equal:.0} with as many ({}), {ideal:.0} with all ({})",
            shares[0], shares[1],
        )
    }
}

fn durable(runtime: &Runtime, folder: &Folder, batches: usize, concurrency: Concurrency) -> Rates {
    let path = folder.file(&format!("durable-{concurrency:?}.db"));
    let commits = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&commits);
    let log = EventLog::builder().durable().on_head(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let log = log.open(&path).expect("a log");
    let pool = linked::builder(Case::Add, 100).recorder(log.clone()).build().expect("a pool");
    let call = || ToolCall::new(Case::Add.name(), Case::Add.arguments());
    let began = Instant::now();
    for _ in 0..batches {
        let calls = (0..BATCH).map(|_| call());
        match concurrency {
            Concurrency::Batch => drop(runtime.block_on(pool.call_all(calls))),
            Concurrency::Apart => {
                drop(runtime.block_on(join_all(calls.map(|call| pool.call(call)))));
            }
        }
    }
    let taken = began.elapsed().as_secs_f64();
    drop((pool, log));
    let records = LogReader::open(&path).expect("a log").records();
    let texts: Vec<String> = records
        .map(|record| serde_json::to_string(&record.expect("a record")).expect("JSON"))
        .collect();
    let group = texts.len() / commits.load(Ordering::Relaxed).max(1);
    let bare = |name: &str, batch| {
        bare(&folder.file(&format!("{name}-{concurrency:?}.db")), &texts, batch)
    };
    let (equal, ideal) = (bare("equal", group), bare("ideal", texts.len() / batches));
    Rates { concurrency, group, log: texts.len() as f64 / taken, equal, ideal }
}

fn bare(path: &Path, texts: &[String], batch: usize) -> f64 {
    let mut connection = rusqlite::Connection::open(path).expect("a file");
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
            CREATE TABLE records (seq INTEGER PRIMARY KEY, hash TEXT, text TEXT)",
        )
        .expect("a table");
    let (hash, began) = ("0".repeat(64), Instant::now());
    for texts in texts.chunks(batch.max(1)) {
        let transaction = connection.transaction().expect("a transaction");
        let insert = "INSERT INTO records (hash, text) VALUES (?1, ?2)";
        let mut statement = transaction.prepare_cached(insert).expect("a statement");
        for text in texts {
            statement.execute([&hash, text]).expect("a row");
        }
        drop(statement);
        transaction.commit().expect("a commit");
    }
    texts.len() as f64 / began.elapsed().as_secs_f64()
}

/// Prefixes of ids, of which the last one matches.
struct Rules(Vec<(String, String)>);

impl Rules {
    fn new() -> Self {
        let rule = |number| (format!("tool_{number}."), format!("rule {number}"));
        let last = ("a".to_owned(), "last".to_owned());
        Self((1..RULES).map(rule).chain([last]).collect())
    }
}

impl PolicyEngine for Rules {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        match self.0.iter().find(|(prefix, _)| call.name().starts_with(prefix)) {
            Some((_, rule)) => Decision::allow().with_rule(rule.as_str()),
            None => Decision::deny("no rule allows it"),
        }
    }
}

/// A folder for files, until it is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("bench-log-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn cells(row: &Measured) -> [String; 4] {
    [row.name.to_owned(), time(row.nanoseconds), ratio(row.ratio), row.allocations.to_string()]
}
