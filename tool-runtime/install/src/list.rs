//! `install --list`: the clients, and where the server is registered.

use crate::client::{CLIENTS, Client};
use crate::entry::Entry;
use crate::folders::Folders;
use crate::registered::{entry, targets_of};
use crate::snippet::GOOSE;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;

/// A client with the registrations of the server.
struct Listed {
    client: &'static Client,
    is_found: bool,
    registrations: Vec<Registration>,
}

/// A file of a client that has the server, or that cannot be read.
struct Registration {
    scope: &'static str,
    file: PathBuf,
    entry: Result<Entry, String>,
}

/// Writes a line for each client, and one for each registration.
pub(crate) fn write(folders: &Folders, name: &str, out: &mut dyn Write) -> io::Result<()> {
    for Listed { client, is_found, registrations } in listed(folders, name) {
        let found = if is_found { "found" } else { "not found" };
        writeln!(out, "{:<15}  {found}", client.name)?;
        for Registration { scope, file, entry } in registrations {
            match entry {
                Ok(entry) => {
                    let file = file.display();
                    writeln!(out, "  {scope}: `{name}` in {file} starts {}", entry.command)?;
                }
                Err(problem) => writeln!(out, "  {scope}: {problem}")?,
            }
        }
    }
    writeln!(out, "{GOOSE:<15}  not looked for")
}

/// Writes the same as JSON.
pub(crate) fn write_json(folders: &Folders, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let registration = |Registration { scope, file, entry }: &Registration| match entry {
        Ok(entry) => json!({
            "scope": scope, "name": name, "file": file.display().to_string(),
            "command": entry.command, "args": entry.args,
        }),
        Err(problem) => {
            json!({ "scope": scope, "file": file.display().to_string(), "problem": problem })
        }
    };
    let client = |listed: &Listed| {
        let registrations: Vec<Value> = listed.registrations.iter().map(registration).collect();
        json!({
            "client": listed.client.name,
            "is_found": listed.is_found,
            "registrations": registrations,
        })
    };
    let clients: Vec<Value> = listed(folders, name).iter().map(client).collect();
    writeln!(out, "{:#}", Value::from(clients))
}

/// The clients that are looked for.
fn listed(folders: &Folders, name: &str) -> Vec<Listed> {
    let mut all = Vec::new();
    for client in &CLIENTS {
        let mut registrations = Vec::new();
        for target in targets_of(client, folders) {
            let Some(entry) = entry(&target, name).transpose() else { continue };
            let (scope, file) = (target.scope.name(), target.file.clone());
            registrations.push(Registration { scope, file, entry });
        }
        all.push(Listed { client, is_found: client.is_present(folders), registrations });
    }
    all
}
