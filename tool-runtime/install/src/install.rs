//! `install`: registers the server with a client.

use crate::client::{CLIENTS, Client, Scope, Target};
use crate::entry::Entry;
use crate::folders::Folders;
use crate::{file, list, snippet};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use tool_runtime_command::seam::{CommandFailure, SETUP, run_printing};
use tool_runtime_command::{CliCommand, CommandArguments, CommandForm};
use tool_runtime_core::vocabulary::BoxFuture;

const HELP: &str = "\
CLIENT is claude-code, claude-desktop, cursor, vscode, codex, gemini-cli, windsurf, zed, opencode or goose.
Arguments after `--` are given to the server: `install codex -- --allow 'hint:read_only'`. Paths in them should be
absolute, as a client starts the server in a folder of its own.

The program is registered by its absolute path. The lines that change are printed, with the values of variables hidden.
The file from before is kept as `FILE.NAME.bak` until `uninstall`. For Goose an entry is printed.";

/// The command `install CLIENT`.
#[derive(Clone, Copy, Debug)]
pub struct Install;

impl CliCommand for Install {
    fn form(&self) -> CommandForm {
        CommandForm::new("install", "Register the program as an MCP server with a client")
            .heading(SETUP)
            .optional_argument("CLIENT", "The client, such as `claude-code`")
            .repeated_argument("ARGUMENTS", "Arguments of the server, after `--`")
            .flag("list", "List the clients, and where the server is registered")
            .option("scope", "SCOPE", "`user` (default), `project`: a file in this folder, or for claude-code `local`: only you, only in this folder")
            .option("name", "NAME", "The name of the server; default: that of the program's file")
            .repeated_option("env", "KEY[=VALUE]", "Set an environment variable of the server; without a value, as it is set now; repeatable")
            .flag("dry-run", "Print what would change, and write nothing")
            .after_help(HELP)
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        Some(Box::pin(async move { run_printing(|out| self.install(arguments, out)) }))
    }
}

impl Install {
    fn install(
        &self,
        arguments: &CommandArguments,
        out: &mut dyn Write,
    ) -> Result<bool, CommandFailure> {
        let name = server_name(arguments)?;
        let folders = Folders::find().map_err(CommandFailure::Failed)?;
        if arguments.has("list") {
            list::write(&folders, &name, out)?;
            return Ok(true);
        }
        let Some((client, server_arguments)) = arguments.positional().split_first() else {
            let text = "name the client, or give `--list`; `install --help` lists the clients";
            return Err(CommandFailure::usage(text));
        };
        let entry = entry(arguments, server_arguments)?;
        if client == snippet::GOOSE {
            writeln!(out, "{}", snippet::goose(&name, &entry))?;
            return Ok(true);
        }
        let target = target(client, arguments, &folders)?;
        let is_dry = arguments.has("dry-run");
        let changed = register(&target, &name, entry.clone(), is_dry, out)?;
        let title = target.client.title;
        let file = target.file.display();
        match (changed, is_dry) {
            (false, _) => writeln!(out, "`{name}` is registered with {title} already, in {file}")?,
            (true, true) => writeln!(out, "nothing was written to {file}")?,
            (true, false) => {
                writeln!(out, "registered `{name}` with {title}, in {file}")?;
                writeln!(out, "next: {}", target.client.next)?;
            }
        }
        if !target.client.is_present(&folders) {
            writeln!(out, "note: {title} was not found on this machine")?;
        }
        if Path::new(&entry.command).components().any(|part| part.as_os_str() == "target") {
            writeln!(
                out,
                "note: the program is in a folder of builds; `cargo install --path .` gives it a lasting path"
            )?;
        }
        Ok(true)
    }
}

/// Adds or changes the entry, and returns whether that changes the file.
fn register(
    target: &Target,
    name: &str,
    mut entry: Entry,
    is_dry: bool,
    out: &mut dyn Write,
) -> Result<bool, CommandFailure> {
    let before = file::read(&target.file).map_err(CommandFailure::Failed)?;
    let document = file::parse(target, before.as_deref()).map_err(CommandFailure::Failed)?;
    let old = file::entry(target, &document, name);
    let mut hidden = entry.env.clone();
    if let Some(old) = &old {
        check_owner(target, name, old, &entry)?;
        hidden.extend(old.env.clone());
        entry.env = merged(&old.env, &entry.env);
    }
    let after = file::with_entry(target, document, name, &entry).map_err(CommandFailure::Failed)?;
    if before.as_deref() == Some(&after) {
        return Ok(false);
    }
    write!(out, "{}", file::difference(before.as_deref().unwrap_or_default(), &after, &hidden))?;
    if is_dry {
        return Ok(true);
    }
    let is_private = target.scope != Scope::Project;
    let written = keep_backup(target, name, before.as_deref(), old.as_ref())
        .and_then(|()| file::replace(&target.file, before.as_deref(), &after, is_private));
    written.map_err(CommandFailure::Failed)?;
    Ok(true)
}

/// Keeps the text from before, unless the one from before the first registration is kept, and nothing else has changed since.
fn keep_backup(
    target: &Target,
    name: &str,
    before: Option<&str>,
    old: Option<&Entry>,
) -> Result<(), String> {
    let Some(text) = before else { return Ok(()) };
    if let Some(old) = old
        && file::original(target, name, old, text)?.is_some()
    {
        return Ok(());
    }
    let backup = file::backup(target, name);
    let existing = file::read(&backup)?;
    file::replace(&backup, existing.as_deref(), text, true)
}

/// An entry of another program is not overwritten.
fn check_owner(
    target: &Target,
    name: &str,
    old: &Entry,
    new: &Entry,
) -> Result<(), CommandFailure> {
    let stem = |command: &str| Path::new(command).file_stem().map(ToOwned::to_owned);
    if old.command.is_empty() || stem(&old.command) == stem(&new.command) {
        return Ok(());
    }
    Err(CommandFailure::Failed(format!(
        "`{name}` in {} starts `{}`; give another name by `--name`, or remove that entry by `uninstall`",
        target.file.display(),
        old.command
    )))
}

fn merged(old: &[(String, String)], new: &[(String, String)]) -> Vec<(String, String)> {
    let mut env = old.to_vec();
    for (name, value) in new {
        match env.iter_mut().find(|(old, _)| old == name) {
            Some((_, old)) => old.clone_from(value),
            None => env.push((name.clone(), value.clone())),
        }
    }
    env
}

/// How a client starts this program.
fn entry(arguments: &CommandArguments, server: &[String]) -> Result<Entry, CommandFailure> {
    let program = std::env::current_exe().map_err(|error| {
        CommandFailure::Failed(format!("the path of the program is not known: {error}"))
    })?;
    let command = program.to_str().ok_or_else(|| {
        CommandFailure::Failed(format!("the path `{}` is not UTF-8", program.display()))
    })?;
    let env = arguments.values("env").map(variable).collect::<Result<_, _>>()?;
    let args = ["serve".to_owned()].into_iter().chain(server.iter().cloned()).collect();
    Ok(Entry { command: command.to_owned(), args, env })
}

fn variable(text: &str) -> Result<(String, String), CommandFailure> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, std::env::var(text).ok()),
    };
    // The text may be a secret.
    match value {
        _ if !is_variable(name) => Err(CommandFailure::usage("--env: give `KEY=VALUE`, or `KEY`")),
        Some(value) => Ok((name.to_owned(), value)),
        None => Err(CommandFailure::usage(format!("--env: the variable {name} is not set"))),
    }
}

/// Whether a string is the name of an environment variable.
pub(crate) fn is_variable(name: &str) -> bool {
    let mut letters = name.bytes();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && letters.all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

/// The name of the server: clients take letters, digits, `-` and `_`.
pub(crate) fn server_name(arguments: &CommandArguments) -> Result<String, CommandFailure> {
    let Some(name) = arguments.value("name") else { return Ok(program_name()) };
    if entry_name(name) != name {
        let text = format!("--name: clients take letters, digits, `-` and `_`, not `{name}`");
        return Err(CommandFailure::usage(text));
    }
    Ok(name.to_owned())
}

/// The name under which this program is registered by default: that of its file.
pub fn program_name() -> String {
    let program = std::env::current_exe().ok();
    let stem = program.as_deref().and_then(Path::file_stem);
    stem.map_or_else(|| "server".to_owned(), |stem| entry_name(&stem.to_string_lossy()))
}

/// The name of a program with the characters that all clients take.
pub(crate) fn entry_name(program: &str) -> String {
    let is_taken = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    program.chars().map(|letter| if is_taken(letter) { letter } else { '-' }).collect()
}

/// Where the client of a command line has the server.
pub(crate) fn target(
    client: &str,
    arguments: &CommandArguments,
    folders: &Folders,
) -> Result<Target, CommandFailure> {
    let Some(client) = Client::named(client) else {
        let names: Vec<&str> =
            CLIENTS.iter().map(|client| client.name).chain([snippet::GOOSE]).collect();
        let text = format!("`{client}` is no known client; the clients are {}", names.join(", "));
        return Err(CommandFailure::usage(text));
    };
    let scope = arguments.value("scope").unwrap_or(Scope::User.name());
    let scope = Scope::ALL.into_iter().find(|known| known.name() == scope);
    scope.and_then(|scope| client.target(scope, folders)).ok_or_else(|| {
        let scopes: Vec<String> =
            client.scopes().iter().map(|scope| format!("`{}`", scope.name())).collect();
        CommandFailure::usage(format!("--scope: {} has {}", client.title, scopes.join(", ")))
    })
}
