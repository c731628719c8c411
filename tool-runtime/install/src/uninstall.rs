//! `uninstall`: removes the registration of the server.

use crate::client::{Scope, Target};
use crate::command_line::{client_names, server_name, target};
use crate::file;
use crate::folders::Folders;
use crate::install::check_owner;
use crate::registered::{entry, targets};
use crate::snippet::GOOSE;
use crate::state::{self, Kept};
use std::fs;
use std::io::Write;
use std::process::ExitCode;
use tool_runtime_command::seam::{CommandFailure, SETUP, run_printing};
use tool_runtime_command::{CliCommand, CommandArguments, CommandForm};
use tool_runtime_core::vocabulary::BoxFuture;

const HELP: &str = "\
If nothing else in the file was changed since `install`, it is again as it was before. Otherwise only the entry is removed.";

/// The command `uninstall CLIENT`.
#[derive(Clone, Copy, Debug)]
pub struct Uninstall;

impl CliCommand for Uninstall {
    fn form(&self) -> CommandForm {
        CommandForm::new("uninstall", "Remove the registration with a client")
            .heading(SETUP)
            .argument("CLIENT", "The client, as for `install`")
            .option("scope", "SCOPE", "`user` (default), `project` or `local`")
            .option("name", "NAME", "The name of the server; default: that of the program's file")
            .flag("dry-run", "Print what would change, and write nothing")
            .known_values("CLIENT", client_names())
            .known_values("scope", Scope::ALL.map(Scope::name))
            .after_help(HELP)
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        Some(Box::pin(async move { run_printing(|out| self.uninstall(arguments, out)) }))
    }
}

impl Uninstall {
    fn uninstall(
        &self,
        arguments: &CommandArguments,
        out: &mut dyn Write,
    ) -> Result<bool, CommandFailure> {
        let name = server_name(arguments)?;
        let folders = Folders::find().map_err(CommandFailure::Failed)?;
        let client = arguments.positional().first().map(String::as_str).unwrap_or_default();
        if client == GOOSE {
            writeln!(out, "remove `{name}` from `extensions:` in ~/.config/goose/config.yaml")?;
            return Ok(true);
        }
        let target = target(client, arguments, &folders)?;
        let title = target.client.title;
        let is_dry = arguments.has("dry-run");
        if unregister(&folders, &target, &name, is_dry, out)? {
            let file = target.file.display();
            match is_dry {
                true => writeln!(out, "nothing was written to {file}")?,
                false => writeln!(out, "removed `{name}` from {title}, in {file}")?,
            }
            return Ok(true);
        }
        let other = targets(&folders)
            .filter(|other| other.client.name == target.client.name)
            .find(|other| matches!(entry(other, &name), Ok(Some(_))));
        let hint = other.map(|it| format!("; it is in the scope `{}`", it.scope.name()));
        Err(CommandFailure::Failed(format!(
            "`{name}` is not registered with {title}, in {}{}",
            target.file.display(),
            hint.unwrap_or_default()
        )))
    }
}

/// Removes the entry, and returns whether there was one.
fn unregister(
    folders: &Folders,
    target: &Target,
    name: &str,
    is_dry: bool,
    out: &mut dyn Write,
) -> Result<bool, CommandFailure> {
    let failed = CommandFailure::Failed;
    let kept = state::read(folders, target, name);
    let before = file::read(&target.file).map_err(failed)?;
    let document = file::parse(target, before.as_deref()).map_err(failed)?;
    let (Some(before), Some(entry)) = (&before, file::entry(target, &document, name)) else {
        if !is_dry {
            state::remove(folders, target, name);
        }
        return Ok(false);
    };
    check_owner(target, name, &entry).map_err(failed)?;
    let made = kept.as_ref().map(|kept| kept.folders.clone()).unwrap_or_default();
    let after = restored(target, name, before, kept).map_err(failed)?;
    write!(out, "{}", file::difference(target, name, Some(&entry), None))?;
    if is_dry {
        return Ok(true);
    }
    match after {
        Some(text) => file::replace(&target.file, Some(before), &text, false).map_err(failed)?,
        None => {
            fs::remove_file(&target.file)?;
            // Those that were made say that the client is there. One that is not empty stays, and so do those around it.
            let made = made.iter().map(fs::remove_dir);
            let _ = made.take_while(Result::is_ok).count();
        }
    }
    state::remove(folders, target, name);
    Ok(true)
}

/// The text without the entry: that from before the registration, if nothing else was changed since. `None`: there was no
/// file.
fn restored(
    target: &Target,
    name: &str,
    text: &str,
    kept: Option<Kept>,
) -> Result<Option<String>, String> {
    if let Some(kept) = kept.filter(|kept| kept.after == text) {
        let document = file::parse(target, kept.before.as_deref())?;
        if file::entry(target, &document, name).is_none() {
            return Ok(kept.before);
        }
    }
    let mut document = file::parse(target, Some(text))?;
    document
        .remove(&target.entry_keys(name))
        .map_err(|problem| format!("`{}` was not changed: {problem}", target.file.display()))?;
    Ok(Some(document.text()))
}
