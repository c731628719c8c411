//! `install --list`: the clients, and where the server is registered.

use crate::client::CLIENTS;
use crate::folders::Folders;
use crate::registered::{entry, targets_of};
use crate::snippet::GOOSE;
use std::io::{self, Write};

/// Writes a line for each client, and one for each registration.
pub(crate) fn write(folders: &Folders, name: &str, out: &mut dyn Write) -> io::Result<()> {
    for client in &CLIENTS {
        let found = if client.is_present(folders) { "found" } else { "not found" };
        writeln!(out, "{:<15}  {found}", client.name)?;
        for target in targets_of(client, folders) {
            let scope = target.scope.name();
            match entry(&target, name) {
                Ok(Some(entry)) => writeln!(
                    out,
                    "  {scope}: `{name}` in {} starts {}",
                    target.file.display(),
                    entry.command
                )?,
                Ok(None) => {}
                Err(problem) => writeln!(out, "  {scope}: {problem}")?,
            }
        }
    }
    writeln!(out, "{GOOSE:<15}  not looked for")
}
