//! `install`: registers the server with a client.

use crate::client::{Scope, Target};
use crate::command_line::{client_names, is_variable, program_stem, server_name, target};
use crate::entry::Entry;
use crate::folders::Folders;
use crate::state::{self, Kept};
use crate::{file, list, snippet};
use serde_json::Value;
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

The program is registered by its absolute path. What changes is printed, with the values of variables hidden. The file
from before is kept in the user's folder for state until `uninstall`. For Goose an entry is printed.";

/// The command `install CLIENT`.
#[derive(Clone, Copy, Debug)]
pub struct Install;

impl CliCommand for Install {
    fn form(&self) -> CommandForm {
        CommandForm::new("install", "Register the program as an MCP server with a client")
            .heading(SETUP)
            .optional_argument("CLIENT", "The client, such as `claude-code`")
            .rest("ARGUMENTS", "Arguments of the server")
            .flag("list", "List the clients, and where the server is registered")
            .flag("json", "Print the list as JSON")
            .option("scope", "SCOPE", "`user` (default), `project`: a file in this folder, or for claude-code `local`: only you, only in this folder")
            .option("name", "NAME", "The name of the server; default: that of the program's file")
            .repeated_option("env", "KEY[=VALUE]", "Set an environment variable of the server; without a value, as it is set now; repeatable")
            .flag("dry-run", "Print what would change, and write nothing")
            .known_values("CLIENT", client_names())
            .known_values("scope", Scope::ALL.map(Scope::name))
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
        match (arguments.has("list"), arguments.has("json")) {
            (true, false) => return Ok(list::write(&folders, &name, out).map(|()| true)?),
            (true, true) => return Ok(list::write_json(&folders, &name, out).map(|()| true)?),
            (false, true) => {
                let text =
                    "`--json` is for `--list`: an entry is printed in the form of its client";
                return Err(CommandFailure::usage(text));
            }
            (false, false) => {}
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
        let is_present = target.client.is_present(&folders);
        let changed = register(&folders, &target, &name, entry.clone(), is_dry, out)?;
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
        if !is_present {
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
    folders: &Folders,
    target: &Target,
    name: &str,
    mut entry: Entry,
    is_dry: bool,
    out: &mut dyn Write,
) -> Result<bool, CommandFailure> {
    let failed = CommandFailure::Failed;
    let before = file::read(&target.file).map_err(failed)?;
    let document = file::parse(target, before.as_deref()).map_err(failed)?;
    let old = file::entry(target, &document, name);
    if let Some(old) = &old {
        check_owner(target, name, old).map_err(failed)?;
        let given = std::mem::replace(&mut entry.env, old.env.clone());
        entry.env.extend(given);
    }
    let after = file::with_entry(target, document, name, &entry).map_err(failed)?;
    if before.as_deref() == Some(&after) {
        return Ok(false);
    }
    write!(out, "{}", file::difference(target, name, old.as_ref(), Some(&entry)))?;
    if is_dry {
        return Ok(true);
    }
    // The text from before the first registration, unless something else was changed since.
    let kept =
        state::read(folders, target, name).filter(|kept| Some(&kept.after) == before.as_ref());
    let made = target.file.ancestors().skip(1).take_while(|folder| !folder.exists());
    let made = made.map(Path::to_owned).collect();
    let kept = match kept {
        Some(kept) => Kept { after, ..kept },
        None => Kept { before: before.clone(), after, folders: made },
    };
    let is_private = target.scope != Scope::Project;
    state::write(folders, target, name, &kept)
        .and_then(|()| file::replace(&target.file, before.as_deref(), &kept.after, is_private))
        .map_err(failed)?;
    Ok(true)
}

/// An entry of another program is neither overwritten nor removed.
///
/// # Errors
/// The entry does not start a program of the name of this one.
pub(crate) fn check_owner(target: &Target, name: &str, old: &Entry) -> Result<(), String> {
    let stem = Path::new(&old.command).file_stem().map(ToOwned::to_owned);
    if stem.is_some() && stem == program_stem() {
        return Ok(());
    }
    let what = match old.command.as_str() {
        "" => "does not start a program".to_owned(),
        command => format!("starts `{command}`"),
    };
    let file = target.file.display();
    Err(format!("`{name}` in {file} {what}; give another name by `--name`, or edit the file"))
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

fn variable(text: &str) -> Result<(String, Value), CommandFailure> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, std::env::var(text).ok()),
    };
    // The text may be a secret.
    match value {
        _ if !is_variable(name) => Err(CommandFailure::usage("--env: give `KEY=VALUE`, or `KEY`")),
        Some(value) => Ok((name.to_owned(), Value::String(value))),
        None => Err(CommandFailure::usage(format!(
            "--env: the variable {name} is not set, or is not UTF-8"
        ))),
    }
}
