//! `install --list`: the clients, and where the server is registered.

use crate::client::CLIENTS;
use crate::folders::Folders;
use crate::registered::{entry, targets_of};
use crate::snippet::GOOSE;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Writes a line for each client, and one for each registration.
pub(crate) fn write(folders: &Folders, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let clients = clients(folders, name);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for client in &clients {
        let found = if client["is_found"] == true { "found" } else { "not found" };
        writeln!(out, "{:<15}  {found}", text(&client["client"]))?;
        for registration in client["registrations"].as_array().into_iter().flatten() {
            let [scope, file, command, problem] =
                ["scope", "file", "command", "problem"].map(|key| text(&registration[key]));
            match problem.is_empty() {
                true => writeln!(out, "  {scope}: `{name}` in {file} starts {command}")?,
                false => writeln!(out, "  {scope}: {problem}")?,
            }
        }
    }
    writeln!(out, "{GOOSE:<15}  not looked for")
}

/// Writes the same as JSON.
pub(crate) fn write_json(folders: &Folders, name: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{:#}", Value::from(clients(folders, name)))
}

/// The clients that are looked for, with the registrations of the server.
fn clients(folders: &Folders, name: &str) -> Vec<Value> {
    let mut clients = Vec::new();
    for client in &CLIENTS {
        let mut registrations = Vec::new();
        for target in targets_of(client, folders) {
            let (scope, file) = (target.scope.name(), target.file.display().to_string());
            registrations.extend(match entry(&target, name) {
                Ok(Some(entry)) => Some(json!({
                    "scope": scope, "name": name, "file": file, "command": entry.command,
                    "args": entry.args,
                })),
                Ok(None) => None,
                Err(problem) => Some(json!({ "scope": scope, "file": file, "problem": problem })),
            });
        }
        clients.push(json!({
            "client": client.name,
            "is_found": client.is_present(folders),
            "registrations": registrations,
        }));
    }
    clients
}
