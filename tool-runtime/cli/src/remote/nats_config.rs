//! `remote nats-config`: the configuration of a NATS server, and the keys of those who connect to it.

use crate::{exit, print};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tool_runtime_command::seam::SERVERS;
use tool_runtime_command::{CliCommand, CommandArguments, CommandForm};
use tool_runtime_core::seam::program_name;
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_remote::{CallerName, NameError, NatsKey, NatsServerConfig, Queue};

const ABOUT: &str = "Write the configuration of a NATS server, and keys for callers and runners";

/// Text below the options, for the help.
const RIGHTS: &str = "Each caller gets its own calls alone, and the runners of a queue get those of their queue. Keys that exist are kept";

/// The command `remote nats-config`.
pub(super) struct NatsConfig;

impl CliCommand for NatsConfig {
    fn form(&self) -> CommandForm {
        CommandForm::new("remote nats-config", ABOUT)
            .heading(SERVERS)
            .repeated_option("caller", "NAME", "A caller, such as a gateway; repeatable")
            .repeated_option("queue", "NAME", "A queue, whose runners share a key; repeatable")
            .option("dir", "DIR", "Where the files are written; default: nats")
            .option("listen", "ADDR", "The address of the server; default: 127.0.0.1:4222")
            .option("namespace", "NAME", "The namespace; default: tools")
            .after_help(RIGHTS)
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        Some(Box::pin(async move { run(arguments) }))
    }
}

fn run(arguments: &CommandArguments) -> ExitCode {
    let settings = match Settings::from_arguments(arguments) {
        Ok(settings) => settings,
        Err(problem) => {
            print::error(&problem);
            return ExitCode::from(exit::USAGE);
        }
    };
    match settings.write() {
        Ok(()) => {
            print::line(&settings.next());
            ExitCode::SUCCESS
        }
        Err(problem) => {
            print::error(&problem);
            ExitCode::from(exit::SETUP)
        }
    }
}

struct Settings {
    callers: Vec<CallerName>,
    queues: Vec<Queue>,
    folder: PathBuf,
    listen: String,
    namespace: String,
}

impl Settings {
    fn from_arguments(arguments: &CommandArguments) -> Result<Self, String> {
        let callers = arguments.values("caller").map(str::parse).collect::<Result<Vec<_>, _>>();
        let callers = callers.map_err(|error: NameError| format!("--caller: {error}"))?;
        let queues = arguments.values("queue").map(str::parse).collect::<Result<Vec<_>, _>>();
        let queues = queues.map_err(|error: NameError| format!("--queue: {error}"))?;
        if callers.is_empty() || queues.is_empty() {
            return Err(
                "name each caller by `--caller NAME`, and each queue by `--queue NAME`".to_owned()
            );
        }
        let (callers, queues) = (distinct(callers), distinct(queues));
        let text = |name, default: &str| arguments.value(name).unwrap_or(default).to_owned();
        let listen = text("listen", "127.0.0.1:4222");
        if listen
            .rsplit_once(':')
            .is_none_or(|(host, port)| host.is_empty() || port.parse::<u16>().is_err())
        {
            return Err(format!("--listen: `{listen}` is not `HOST:PORT`"));
        }
        let folder = PathBuf::from(text("dir", "nats"));
        Ok(Self { callers, queues, folder, listen, namespace: text("namespace", "tools") })
    }

    fn key(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.nk"))
    }

    /// Writes the keys that are missing, and the configuration.
    fn write(&self) -> Result<(), String> {
        let failed =
            |error: std::io::Error| format!("cannot write to `{}`: {error}", self.folder.display());
        let keeper = NatsKey::random();
        NatsServerConfig::new(&self.namespace, &keeper)
            .map_err(|error| format!("--namespace: {error}"))?;
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        let file = self.folder.join("nats.conf");
        if file.exists() {
            return Err(format!(
                "`{}` exists; remove it to write it anew, the keys are kept",
                file.display()
            ));
        }
        let key = |name: &str| read_or_create(&self.key(name));
        let mut config = NatsServerConfig::new(&self.namespace, &key("keeper")?)
            .map_err(|error| format!("--namespace: {error}"))?
            .listen(&*self.listen)
            .store(std::path::absolute(self.folder.join("store")).map_err(failed)?);
        for caller in &self.callers {
            config = config.caller(caller.clone(), &key(&format!("caller-{caller}"))?);
        }
        for queue in &self.queues {
            config = config.runner(queue.clone(), &key(&format!("runner-{queue}"))?);
        }
        create(&file, &config.to_string()).map_err(failed)
    }

    /// What to do with the files.
    fn next(&self) -> String {
        let (program, folder, listen) = (program_name(), self.folder.display(), &self.listen);
        let path = match &*self.namespace {
            "tools" => String::new(),
            namespace => format!("/{namespace}"),
        };
        let key = |name: &str| self.key(name).display().to_string();
        let queues = self.queues.iter().map(|queue| format!(" --queue {queue}"));
        let mut text = format!(
            "wrote {folder}/nats.conf, and a key for each who connects\n\nnats-server -c {folder}/nats.conf\n{program} remote keep --connect nats://{listen}{path} --credentials {}{}",
            key("keeper"),
            queues.collect::<String>(),
        );
        for queue in &self.queues {
            text += &format!(
                "\n{program} run --connect nats://{listen}{path} --credentials {} --queue {queue}",
                key(&format!("runner-{queue}")),
            );
        }
        for caller in &self.callers {
            text += &format!(
                "\n{program} remote status --connect nats://{caller}@{listen}{path} --credentials {}",
                key(&format!("caller-{caller}")),
            );
        }
        if let Some(caller) = self.callers.first() {
            text += &format!(
                "\n\nA program calls by `main!(remote = \"nats://{caller}@{listen}{path}\")`, with TOOL_REMOTE_CREDENTIALS={}",
                key(&format!("caller-{caller}")),
            );
        }
        text
    }
}

fn distinct<T: Ord>(names: Vec<T>) -> Vec<T> {
    names.into_iter().collect::<BTreeSet<T>>().into_iter().collect()
}

fn read_or_create(file: &Path) -> Result<NatsKey, String> {
    if file.exists() {
        return NatsKey::read(file);
    }
    let key = NatsKey::random();
    let written = create(file, &format!("{}\n", key.seed()));
    written.map_err(|error| format!("cannot write `{}`: {error}", file.display()))?;
    Ok(key)
}

/// Writes a new file that only its owner may read.
fn create(file: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}
