//! Where a server is registered.

use crate::client::{CLIENTS, Client, Target};
use crate::command_line::program_name;
use crate::entry::Entry;
use crate::file;
use crate::folders::Folders;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// A registration of a server in the file of a client.
#[derive(Clone, Debug)]
pub struct Registered {
    /// The name of the entry.
    pub name: String,
    /// The name of the client, such as `Claude Code`.
    pub client: &'static str,
    /// `user`, `project` or `local`.
    pub scope: &'static str,
    /// The file.
    pub file: PathBuf,
    /// The program.
    pub command: String,
    /// The arguments.
    pub args: Vec<String>,
    /// The environment variables, with their values.
    pub env: Vec<(String, String)>,
    /// Whether the client is started from the desktop, with the PATH of that.
    pub is_graphical: bool,
}

/// The registrations of the program that runs, and problems of files that could not be read. They have its name, or start
/// it under another one.
pub fn registered() -> (Vec<Registered>, Vec<String>) {
    let folders = match Folders::find() {
        Ok(folders) => folders,
        Err(problem) => return (Vec::new(), vec![problem]),
    };
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for target in targets(&folders) {
        match entries(&target) {
            Ok(entries) => found.extend(
                entries.into_iter().filter(is_of_this_program).map(|it| registration(&target, it)),
            ),
            Err(problem) => problems.push(problem),
        }
    }
    problems.dedup();
    (found, problems)
}

fn registration(target: &Target, (name, entry): (String, Entry)) -> Registered {
    Registered {
        name,
        client: target.client.title,
        scope: target.scope.name(),
        file: target.file.clone(),
        command: entry.command,
        args: entry.args,
        env: texts(entry.env),
        is_graphical: target.client.is_graphical,
    }
}

fn is_of_this_program((name, entry): &(String, Entry)) -> bool {
    *name == program_name() || is_this_program(Path::new(&entry.command))
}

/// Whether a path is that of the program that runs, perhaps by a link.
pub fn is_this_program(path: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let program = std::env::current_exe().ok().and_then(|program| real(&program));
    program.is_some() && program == real(path)
}

fn texts(env: Map<String, Value>) -> Vec<(String, String)> {
    let text =
        |value: Value| value.as_str().map(str::to_owned).unwrap_or_else(|| value.to_string());
    env.into_iter().map(|(name, value)| (name, text(value))).collect()
}

/// Everywhere that a server can be registered.
pub(crate) fn targets(folders: &Folders) -> impl Iterator<Item = Target> {
    CLIENTS.iter().flat_map(move |client| targets_of(client, folders))
}

/// Where a client can have a server. In the home directory, the file of the project may be that of the user.
pub(crate) fn targets_of(client: &'static Client, folders: &Folders) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::new();
    for target in client.scopes().into_iter().filter_map(|scope| client.target(scope, folders)) {
        if !targets.iter().any(|other| (&other.file, &other.keys) == (&target.file, &target.keys)) {
            targets.push(target);
        }
    }
    targets
}

/// The entries of all servers, with their names.
///
/// # Errors
/// The file cannot be read, or does not parse.
fn entries(target: &Target) -> Result<Vec<(String, Entry)>, String> {
    let Some(text) = file::read(&target.file)? else { return Ok(Vec::new()) };
    let servers = file::parse(target, Some(&text))?.get(&target.keys);
    let servers = servers.as_ref().and_then(Value::as_object).into_iter().flatten();
    let servers = servers.filter(|(_, members)| members.is_object());
    let read = |members: &Value| Entry::read(target.client.shape, members);
    Ok(servers.map(|(name, members)| (name.clone(), read(members))).collect())
}

/// The entry of a server.
///
/// # Errors
/// The file cannot be read, or does not parse.
pub(crate) fn entry(target: &Target, name: &str) -> Result<Option<Entry>, String> {
    let entries = entries(target)?.into_iter();
    Ok(entries.filter(|(known, _)| known == name).map(|(_, entry)| entry).next())
}
