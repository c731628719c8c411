//! What `install`, `uninstall` and `bundle` read of their command lines: the client, the scope and the name of the server.

use crate::client::{CLIENTS, Client, Scope, Target};
use crate::folders::Folders;
use crate::snippet::GOOSE;
use std::ffi::OsString;
use tool_runtime_command::CommandArguments;
use tool_runtime_command::seam::CommandFailure;

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
pub(crate) fn program_name() -> String {
    program_stem().map_or_else(|| "server".to_owned(), |stem| entry_name(&stem.to_string_lossy()))
}

/// The name of this program's file, without its extension.
pub(crate) fn program_stem() -> Option<OsString> {
    std::env::current_exe().ok()?.file_stem().map(ToOwned::to_owned)
}

/// The name of a program with the characters that all clients take.
pub(crate) fn entry_name(program: &str) -> String {
    let is_taken = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    program.chars().map(|letter| if is_taken(letter) { letter } else { '-' }).collect()
}

/// The names of clients on the command line.
pub(crate) fn client_names() -> impl Iterator<Item = &'static str> {
    CLIENTS.iter().map(|client| client.name).chain([GOOSE])
}

/// Where the client of a command line has the server.
pub(crate) fn target(
    client: &str,
    arguments: &CommandArguments,
    folders: &Folders,
) -> Result<Target, CommandFailure> {
    let Some(client) = Client::named(client) else {
        let names: Vec<&str> = client_names().collect();
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
