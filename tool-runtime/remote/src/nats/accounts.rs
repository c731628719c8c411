//! The configuration of a server on which each caller and each queue has what it needs, and no more.
//!
//! Permissions of users are not enough: JetStream answers to any reply subject that a request names, also to one that the
//! user may not publish to, and the text of an answer can be the user's own. So a user who may read one record could write
//! every other one. Accounts have no such way round: what is not imported does not exist, and answers stay in the account
//! of the request.

use super::keys::NatsKey;
use super::subjects::{Names, RUNNERS};
use crate::names::{CallerName, Queue};
use std::fmt;
use std::path::PathBuf;

/// The configuration of a NATS server for one installation: an account with the streams, and one for each caller and queue,
/// which imports what it needs. Its text is that of `nats.conf`.
#[derive(Clone, Debug)]
pub struct NatsServerConfig {
    names: Names,
    listen: String,
    store: PathBuf,
    keeper: String,
    callers: Vec<(CallerName, String)>,
    runners: Vec<(Queue, String)>,
}

impl NatsServerConfig {
    /// The configuration of a namespace, with the key of its keeper, who creates the streams, see
    /// [`NatsBoard::keep`](super::NatsBoard::keep).
    ///
    /// # Errors
    /// The namespace has other characters than lower-case letters, digits and `-`, or is too long.
    pub fn new(namespace: &str, keeper: &NatsKey) -> Result<Self, String> {
        Ok(Self {
            names: Names::new(namespace)?,
            listen: "127.0.0.1:4222".to_owned(),
            store: PathBuf::from("jetstream"),
            keeper: keeper.public().to_owned(),
            callers: Vec::new(),
            runners: Vec::new(),
        })
    }

    /// Sets the address, `HOST:PORT`. Default: `127.0.0.1:4222`.
    #[must_use]
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.listen = address.into();
        self
    }

    /// Sets the folder of the server. Default: `jetstream`, where the server is started.
    #[must_use]
    pub fn store(mut self, folder: impl Into<PathBuf>) -> Self {
        self.store = folder.into();
        self
    }

    /// Adds a caller, with its key.
    #[must_use]
    pub fn caller(mut self, name: CallerName, key: &NatsKey) -> Self {
        self.callers.push((name, key.public().to_owned()));
        self
    }

    /// Adds a queue, with the key that its runners share.
    #[must_use]
    pub fn runner(mut self, queue: Queue, key: &NatsKey) -> Self {
        self.runners.push((queue, key.public().to_owned()));
        self
    }
}

/// Why records are synced, for those who read the file.
const HEAD: &str = "\
# A NATS server for remote tools, version 2.11 or later. Written by `remote nats-config`.
";

const SYNC: &str = "  \
  # Each record is on the disk before it counts. Without this the server syncs every two minutes, and a loss of power
  # can undo the mark that a tool was started: a tool that may run at most once then runs twice.
  sync_interval: always
";

impl fmt::Display for NatsServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { names, listen, store, keeper, callers, runners } = self;
        writeln!(f, "{HEAD}listen: \"{listen}\"\njetstream {{\n  store_dir: {store:?}\n{SYNC}}}")?;
        writeln!(f, "accounts {{")?;
        let streams = Account {
            name: names.account(),
            key: keeper,
            has_streams: true,
            exports: streams(names),
            imports: Vec::new(),
        };
        streams.write(f)?;
        for (caller, key) in callers {
            let (exports, imports) = (of_caller(names, caller), self.imports_of_caller(caller));
            let name = account_of_caller(caller);
            Account { name, key, has_streams: false, exports, imports }.write(f)?;
        }
        for (queue, key) in runners {
            let (exports, imports) = (of_runner(names, queue), self.imports_of_runner(queue));
            let name = account_of_runner(queue);
            Account { name, key, has_streams: false, exports, imports }.write(f)?;
        }
        writeln!(f, "}}")
    }
}

impl NatsServerConfig {
    /// A caller submits its jobs, reads and ends its steps, and hears of them.
    fn imports_of_caller(&self, caller: &CallerName) -> Vec<Import> {
        let names = &self.names;
        let (steps, bucket) = (names.steps_stream(), names.blobs());
        let records = names.subject(format_args!("step.*.{caller}.*"));
        let mut streams = vec![
            service(names.subject(format_args!("job.*.{caller}"))),
            service(&records),
            stream(names.live_of(caller)),
            service(format!("$JS.API.DIRECT.GET.{steps}.{records}")),
            service(format!("$JS.API.STREAM.INFO.{steps}")),
            service(format!("$JS.API.STREAM.INFO.OBJ_{bucket}")),
            service("$JS.API.STREAM.NAMES"),
        ];
        for (queue, _) in &self.runners {
            // How many jobs wait.
            let jobs = names.jobs_stream(queue);
            streams.push(service(format!("$JS.API.STREAM.INFO.{jobs}")));
            streams.push(service(format!("$JS.API.CONSUMER.INFO.{jobs}.{RUNNERS}")));
        }
        streams.extend(blobs(names));
        let mut imports = self.of_streams(streams);
        for (queue, _) in &self.runners {
            let control = service(names.subject(format_args!("control.{queue}.{caller}")));
            let presence = stream(names.subject(format_args!("presence.{queue}")));
            let account = account_of_runner(queue);
            imports.extend([control, presence].map(|shared| Import::new(&account, shared)));
        }
        imports
    }

    /// Runners of a queue claim its jobs, keep the records of its steps, and speak to their callers.
    fn imports_of_runner(&self, queue: &Queue) -> Vec<Import> {
        let names = &self.names;
        let (steps, jobs, bucket) = (names.steps_stream(), names.jobs_stream(queue), names.blobs());
        let records = names.subject(format_args!("step.{queue}.*.*"));
        let mut streams = vec![
            service(&records),
            service(format!("$JS.API.DIRECT.GET.{steps}.{records}")),
            service(format!("$JS.API.STREAM.INFO.{steps}")),
            service(format!("$JS.API.STREAM.INFO.{jobs}")),
            service(format!("$JS.API.STREAM.INFO.OBJ_{bucket}")),
            service(format!("$JS.API.CONSUMER.INFO.{jobs}.{RUNNERS}")),
            service(format!("$JS.API.CONSUMER.MSG.NEXT.{jobs}.{RUNNERS}")),
            service(format!("$JS.ACK.{jobs}.{RUNNERS}.>")),
        ];
        streams.extend(blobs(names));
        let mut imports = self.of_streams(streams);
        for (caller, _) in &self.callers {
            let note = service(names.subject(format_args!("note.{queue}.{caller}.*")));
            let roll = stream(names.subject(format_args!("roll.{caller}")));
            let account = account_of_caller(caller);
            imports.extend([note, roll].map(|shared| Import::new(&account, shared)));
        }
        imports
    }

    /// Imports from the account with the streams.
    fn of_streams(&self, shared: Vec<Inner>) -> Vec<Import> {
        let (names, account) = (&self.names, self.names.account());
        let import = |shared: Inner| {
            // An account has an interface of the streams of its own, which answers that there are none.
            let rest = shared.subject.strip_prefix("$JS.API.");
            let local = rest.map(|rest| format!("{}.{rest}", names.imported_streams()));
            Import { local, ..Import::new(&account, shared) }
        };
        shared.into_iter().map(import).collect()
    }
}

/// An account, with one user.
struct Account<'a> {
    name: String,
    key: &'a str,
    has_streams: bool,
    exports: Vec<Inner>,
    imports: Vec<Import>,
}

impl Account<'_> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, key, has_streams, exports, imports } = self;
        writeln!(f, "  {name}: {{\n    users: [ {{ nkey: {key} }} ]")?;
        if *has_streams {
            writeln!(f, "    jetstream: enabled")?;
        }
        writeln!(f, "    exports: [")?;
        for Inner { kind, subject } in exports {
            let many = if subject.contains(".MSG.NEXT.") { ", response_type: stream" } else { "" };
            writeln!(f, "      {{ {kind}: \"{subject}\"{many} }}")?;
        }
        writeln!(f, "    ]\n    imports: [")?;
        for Import { account, shared: Inner { kind, subject }, local } in imports {
            let to = local.as_ref().map_or(String::new(), |local| format!(", to: \"{local}\""));
            writeln!(
                f,
                "      {{ {kind}: {{ account: {account}, subject: \"{subject}\" }}{to} }}"
            )?;
        }
        writeln!(f, "    ]\n  }}")
    }
}

/// A subject that accounts share.
struct Inner {
    /// `service`: the importing account sends to it, and gets answers. `stream`: it hears it.
    kind: &'static str,
    subject: String,
}

fn service(subject: impl Into<String>) -> Inner {
    Inner { kind: "service", subject: subject.into() }
}

fn stream(subject: impl Into<String>) -> Inner {
    Inner { kind: "stream", subject: subject.into() }
}

/// A subject of another account, and its name in this one, if that is not the same.
struct Import {
    account: String,
    shared: Inner,
    local: Option<String>,
}

impl Import {
    fn new(account: &str, shared: Inner) -> Self {
        Self { account: account.to_owned(), shared, local: None }
    }
}

fn account_of_caller(caller: &CallerName) -> String {
    format!("CALLER_{caller}")
}

fn account_of_runner(queue: &Queue) -> String {
    format!("RUNNER_{queue}")
}

/// The account with the streams: others import the parts that are theirs.
fn streams(names: &Names) -> Vec<Inner> {
    let steps = names.steps_stream();
    let mut shared = vec![
        service(names.subject("job.*.*")),
        service(names.subject("step.*.*.*")),
        stream(names.subject("live.*.*.*")),
        service(format!("$JS.API.DIRECT.GET.{steps}.>")),
        service("$JS.API.STREAM.NAMES"),
        service("$JS.API.STREAM.INFO.*"),
        service(format!("$JS.API.CONSUMER.INFO.*.{RUNNERS}")),
        service(format!("$JS.API.CONSUMER.MSG.NEXT.*.{RUNNERS}")),
        service("$JS.ACK.>"),
    ];
    shared.extend(blobs(names));
    shared
}

/// Blobs are shared by all, by the digest of their content.
fn blobs(names: &Names) -> [Inner; 5] {
    let bucket = names.blobs();
    [
        service(format!("$O.{bucket}.C.*")),
        service(format!("$O.{bucket}.M.*")),
        service(format!("$JS.API.DIRECT.GET.OBJ_{bucket}")),
        service(format!("$JS.API.DIRECT.GET.OBJ_{bucket}.>")),
        service(format!("$JS.API.STREAM.PURGE.OBJ_{bucket}")),
    ]
}

/// A caller hears notes, and calls the roll.
fn of_caller(names: &Names, caller: &CallerName) -> Vec<Inner> {
    vec![
        service(names.subject(format_args!("note.*.{caller}.*"))),
        stream(names.subject(format_args!("roll.{caller}"))),
    ]
}

/// Runners hear what callers tell them, and announce themselves.
fn of_runner(names: &Names, queue: &Queue) -> Vec<Inner> {
    vec![
        service(names.subject(format_args!("control.{queue}.*"))),
        stream(names.subject(format_args!("presence.{queue}"))),
    ]
}
