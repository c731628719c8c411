//! The commands `approvals list`, `approve`, `deny`, `remembered` and `forget`.

use crate::file_store::FileStore;
use crate::remembered::other_arguments;
use crate::remembering::default_matchers;
use crate::store::{ApprovalAnswer, ApprovalStore, PendingApproval, StoreError, StoredApproval};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tool_runtime_command::seam::{CommandFailure, GOVERNANCE, run_printing};
use tool_runtime_command::{CliCommand, CommandArguments, CommandForm, PoolCommands as _};
use tool_runtime_core::govern::Remember;
use tool_runtime_core::pool::{PoolExtension, ToolPoolBuilder};
use tool_runtime_core::seam::{argument_text, printable};
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_core::vocabulary::matching::{ArgumentMatch, MatchAs};

/// Adds the commands `approvals list`, `approve` and `deny` for the questions in a store that other processes see,
/// too: a [`FileStore`], for instance. `approvals remembered` and `forget` list and withdraw the approvals that count
/// for later calls, see [`Remembering::kept_in`](crate::Remembering::kept_in). They run without the pool.
///
/// An [`Inbox`](crate::Inbox) that is installed brings them by itself. This is for one that is behind another approver:
///
/// ```
/// use tool_runtime::approvals::{ApprovalCommands, AskCaller, FileStore, Inbox};
/// use tool_runtime::ToolPool;
/// # let directory = std::env::temp_dir().join(format!("commands-{}", std::process::id()));
///
/// let store = FileStore::open(&directory)?;
/// let pool = ToolPool::builder()
///     .approver(AskCaller::new().or(Inbox::new(store.clone())))
///     .install(ApprovalCommands::new(store))
///     .allow_empty()
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ApprovalCommands {
    source: Source,
}

/// Where the questions are.
#[derive(Clone)]
enum Source {
    Store(Arc<dyn ApprovalStore>),
    /// Opened by a command. Whether it takes names that nobody verified.
    Directory(PathBuf, bool),
}

impl Source {
    fn trusts_names(&self) -> bool {
        match self {
            Self::Store(store) => store.trusts_names(),
            Self::Directory(_, trusts_names) => *trusts_names,
        }
    }
}

impl ApprovalCommands {
    /// Commands for the questions in a store. `--dir DIR` names the directory of another one.
    pub fn new(store: impl ApprovalStore) -> Self {
        Self::of_store(Arc::new(store))
    }

    pub(crate) fn of_store(store: Arc<dyn ApprovalStore>) -> Self {
        Self { source: Source::Store(store) }
    }

    /// Commands for the questions in the directory of a [`FileStore`], which is opened when a command needs it.
    /// `trust_names`: as [`FileStore::trust_names`].
    pub fn in_directory(directory: impl Into<PathBuf>, trust_names: bool) -> Self {
        Self { source: Source::Directory(directory.into(), trust_names) }
    }
}

impl PoolExtension for ApprovalCommands {
    fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        let command = |action| Command { action, source: self.source.clone() };
        builder
            .command(command(Action::List))
            .command(command(Action::Approve))
            .command(command(Action::Deny))
            .command(command(Action::Remembered))
            .command(command(Action::Forget))
    }
}

impl std::fmt::Debug for ApprovalCommands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApprovalCommands").finish_non_exhaustive()
    }
}

/// The help of `--as`.
const AS: &str = "The person who answers, if the inbox takes names that nobody verifies; default: the user of this process";

struct Command {
    action: Action,
    source: Source,
}

enum Action {
    List,
    Approve,
    Deny,
    Remembered,
    Forget,
}

impl CliCommand for Command {
    fn form(&self) -> CommandForm {
        let id = "The id of the question, or its beginning";
        let form = match self.action {
            Action::List => CommandForm::new("approvals list", "Show the open questions")
                .flag("json", "Print JSON"),
            Action::Approve => CommandForm::new("approvals approve", "Let a call run")
                .argument("ID", id)
                .option(
                    "args",
                    "OBJECT",
                    "All arguments instead of those of the call, as a JSON object",
                )
                .flag("session", "Let all such calls of the session run")
                .option("like", "ARGUMENT=PATTERN", "Let all such calls run whose argument matches")
                .option(
                    "kind",
                    "KIND",
                    "The kind of the pattern: path, url or shell; default: path",
                )
                .option("as", "NAME", AS),
            Action::Deny => CommandForm::new("approvals deny", "Refuse a call")
                .argument("ID", id)
                .option("reason", "TEXT", "The reason, which the model reads")
                .option("as", "NAME", AS),
            Action::Remembered => {
                CommandForm::new("approvals remembered", "Show the approvals for later calls")
                    .flag("json", "Print JSON")
            }
            Action::Forget => {
                CommandForm::new("approvals forget", "Withdraw an approval for later calls")
                    .argument("ID", "The id of the approval, or its beginning")
            }
        };
        form.heading(GOVERNANCE).option(
            "dir",
            "DIR",
            "The directory of the inbox; default: that of the program",
        )
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        Some(self.print(arguments))
    }
}

impl Command {
    fn print<'a>(&'a self, arguments: &'a CommandArguments) -> BoxFuture<'a, ExitCode> {
        Box::pin(async move {
            let text = self.text(arguments).await;
            run_printing(|output| {
                output.write_all(text?.as_bytes())?;
                Ok(true)
            })
        })
    }

    /// Runs the command, and gives the text to print.
    async fn text(&self, arguments: &CommandArguments) -> Result<String, CommandFailure> {
        let store: Arc<dyn ApprovalStore> = match arguments.value("dir") {
            Some(directory) if !Path::new(directory).is_dir() => {
                return Err(CommandFailure::usage(format!(
                    "`--dir {directory}` is not a directory"
                )));
            }
            Some(directory) => Arc::new(FileStore::open(directory)?),
            None => match &self.source {
                Source::Store(store) => Arc::clone(store),
                Source::Directory(directory, _) => Arc::new(FileStore::open(directory)?),
            },
        };
        let id = arguments.positional().first().map_or("", String::as_str);
        let answer = match self.action {
            Action::List => return Ok(list(&*store, arguments.has("json")).await?),
            Action::Approve => approval(arguments)?,
            Action::Deny => ApprovalAnswer::deny(arguments.value("reason").map(str::to_owned)),
            Action::Remembered => return Ok(remembered(&*store, arguments.has("json")).await?),
            Action::Forget => return Ok(forget(&*store, id).await?),
        };
        let answer = match arguments.value("as") {
            None => answer,
            Some("") => return Err(CommandFailure::usage("`--as` is empty; name a person")),
            Some(_) if arguments.has("dir") => {
                let text = "`--as` is for the inbox of the program; leave out `--dir`";
                return Err(CommandFailure::usage(text));
            }
            Some(name) if self.source.trusts_names() => answer.by(name),
            Some(_) => {
                let text = "this inbox takes no names that nobody verifies: answer over HTTP with a token, or let the program use `FileStore::trust_names`; `tool-gateway` has `approvals.trust_names`";
                return Err(CommandFailure::usage(text));
            }
        };
        give(&*store, id, answer).await
    }
}

fn approval(arguments: &CommandArguments) -> Result<ApprovalAnswer, CommandFailure> {
    let mut answer = ApprovalAnswer::approve();
    if let Some(edited) = arguments.value("args") {
        if let Err(error) =
            serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(edited)
        {
            let text = format!("`--args` is not a JSON object: {error}");
            return Err(CommandFailure::usage(text));
        }
        answer.arguments = Some(edited.to_owned());
    }
    if arguments.has("session") {
        answer.remember = Remember::Session;
    }
    if let Some(like) = arguments.value("like") {
        answer.remember = pattern(like, arguments.value("kind").unwrap_or("path"))?;
    }
    if answer.arguments.is_some() && answer.remember != Remember::Call {
        let text = "an approval of other arguments is for one call; leave out `--session` and `--like`, or `--args`";
        return Err(CommandFailure::usage(text));
    }
    Ok(answer)
}

fn pattern(like: &str, kind: &str) -> Result<Remember, CommandFailure> {
    let Some((argument, pattern)) = like.split_once('=').filter(|(name, _)| !name.is_empty())
    else {
        let text =
            format!("`--like {like}` is not ARGUMENT=PATTERN, as in `--like 'path=/srv/**'`");
        return Err(CommandFailure::usage(text));
    };
    let kind = serde_json::from_value(kind.into()).map_err(|_| {
        CommandFailure::usage(format!("`--kind {kind}` is not one of `path`, `url`, `shell`"))
    })?;
    Ok(Remember::pattern(argument, kind, pattern))
}

async fn list(store: &dyn ApprovalStore, json: bool) -> Result<String, StoreError> {
    let mut open = store.list().await?;
    open.retain(StoredApproval::is_open);
    if json {
        return json_text(&open);
    }
    let mut text = String::new();
    for stored in &open {
        let request = &stored.request;
        let caller =
            if request.caller.is_empty() { "an anonymous caller" } else { &request.caller };
        let minutes = stored.time_left().as_secs().div_ceil(60);
        let _ = writeln!(text, "{}  {}", short(&request.id), stored.text());
        let _ = writeln!(text, "  {} of {}, {minutes} min left", line(&request.tool), line(caller));
        if let Some(effect) = stored.effect_without_call() {
            let _ = writeln!(text, "  {effect}");
        }
    }
    if open.is_empty() {
        let _ = writeln!(text, "no open questions{}", location(store));
    }
    Ok(text)
}

async fn remembered(store: &dyn ApprovalStore, json: bool) -> Result<String, StoreError> {
    let all = store.remembered().await?;
    if json {
        return json_text(&all);
    }
    let mut text = String::new();
    for approval in &all {
        let (tool, caller) = (line(&approval.tool), line(&approval.caller));
        let (argument, kind, pattern) =
            (line(&approval.argument), approval.kind, line(&approval.pattern));
        let hours = approval.time_left().as_secs().div_ceil(3600);
        let by = approval.by.as_deref().map(|by| format!(", approved by {}", line(by)));
        let _ = writeln!(text, "{}  {}", short(&approval.id), line(&approval.question));
        let reach = reach(&approval.others);
        let _ = writeln!(
            text,
            "  {tool} of {caller}, if `{argument}` matches {kind} `{pattern}`{reach}"
        );
        let _ = writeln!(text, "  {hours} h left{}", by.unwrap_or_default());
    }
    if all.is_empty() {
        let _ = writeln!(text, "no approvals for later calls{}", location(store));
    }
    Ok(text)
}

fn json_text(value: &impl Serialize) -> Result<String, StoreError> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| text + "\n").map_err(|error| StoreError::Failed(error.to_string()))
}

/// The place of a store, to be appended.
fn location(store: &dyn ApprovalStore) -> String {
    store.location().map_or(String::new(), |location| format!(" in {}", line(&location)))
}

async fn forget(store: &dyn ApprovalStore, id: &str) -> Result<String, StoreError> {
    let all = store.remembered().await?;
    let ids = all.iter().map(|approval| &*approval.id);
    let found = &all[unique(id, ids)?.ok_or_else(|| StoreError::NotRemembered(id.to_owned()))?];
    store.forget(&found.id).await?;
    Ok(format!("forgotten: {} of {}\n", line(&found.tool), line(&found.caller)))
}

/// The part of an id that people read and write.
fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// The position of the only id that begins so.
fn unique<'a>(id: &str, ids: impl Iterator<Item = &'a str>) -> Result<Option<usize>, StoreError> {
    let begins_so = |(_, known): &(usize, &str)| !id.is_empty() && known.starts_with(id);
    let mut found = ids.enumerate().filter(begins_so).map(|(position, _)| position);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(StoreError::Ambiguous(id.to_owned())),
        (position, _) => Ok(position),
    }
}

fn line(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join(" ")
}

async fn give(
    store: &dyn ApprovalStore,
    id: &str,
    answer: ApprovalAnswer,
) -> Result<String, CommandFailure> {
    let all = store.list().await?;
    let ids = all.iter().map(|stored| &*stored.request.id);
    let found = &all[unique(id, ids)?.ok_or_else(|| StoreError::Unknown(id.to_owned()))?];
    if let Remember::Pattern { argument, kind, pattern, .. } = &answer.remember {
        check_pattern(&found.request, argument, *kind, pattern)?;
    }
    let done = if answer.is_approved { "approved" } else { "denied" };
    let remembered = match &answer.remember {
        Remember::Pattern { argument, .. } => later_calls(&found.request, argument),
        Remember::Session if !found.request.has_session => {
            "the call belongs to no session: later calls are asked about\n".to_owned()
        }
        _ => String::new(),
    };
    let edited = answer.arguments.as_ref().map(|edited| format!(", with {}", line(edited)));
    store.answer(&found.request.id, answer).await?;
    let edited = edited.unwrap_or_default();
    let effect = found.effect_without_call().map(|effect| format!("{effect}\n"));
    let effect = effect.unwrap_or_default();
    Ok(format!("{done}: {}{edited}\n{effect}{remembered}", line(&found.request.visual)))
}

/// Checks that an approval for a pattern is one for this call.
fn check_pattern(
    request: &PendingApproval,
    argument: &str,
    kind: MatchAs,
    pattern: &str,
) -> Result<(), CommandFailure> {
    let Some(text) = argument_text(&request.arguments, argument) else {
        let arguments = line(&request.arguments);
        return Err(CommandFailure::usage(format!(
            "the call has no argument `{argument}` of text, which `--like` names: {arguments}"
        )));
    };
    // Others belong to the program.
    let matchers = default_matchers();
    let Some(matcher) = matchers.iter().find(|it| it.kind() == kind) else { return Ok(()) };
    let matcher = matcher.compile(pattern).map_err(|error| {
        CommandFailure::usage(format!("`--like {argument}={pattern}`: {error}"))
    })?;
    match matcher.matches(&text) {
        // The matcher of the program may know the directory at which paths begin.
        ArgumentMatch::Yes | ArgumentMatch::Undecidable(_) => Ok(()),
        ArgumentMatch::No => Err(CommandFailure::usage(format!(
            "`--like {argument}={pattern}` does not match the call itself, whose `{argument}` is `{}`",
            line(&text)
        ))),
    }
}

/// The later calls that an approval for a pattern reaches.
fn later_calls(request: &PendingApproval, argument: &str) -> String {
    let others = other_arguments(&request.arguments, argument);
    let (tool, argument) = (line(&request.tool), line(argument));
    let session = match request.caller.is_empty() {
        true => " in this session, as the caller is anonymous,",
        false => "",
    };
    format!(
        "later calls of {tool}{session} run as well if `{argument}` matches{}\n",
        reach(&others)
    )
}

/// The arguments that an approval for a pattern does not compare.
fn reach(others: &[String]) -> String {
    let names: Vec<String> = others.iter().map(|name| format!("`{}`", line(name))).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(", whatever {} may be", names.join(", ")),
    }
}

#[cfg(test)]
pub(crate) mod tests;
