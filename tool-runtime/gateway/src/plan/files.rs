//! The files of the gateway, and who may use them.

use super::Problems;
use super::http::token_files;
use crate::config::{Config, Family, Source, Tools};
use std::io;
use std::path::{Path, PathBuf};
use tool_runtime::approvals::FileStore;
use tool_runtime::audit::{EventLog, LogReader};

/// The key of the inbox, which `call` can do without.
pub(crate) const INBOX: &str = "approvals.inbox";

/// The key of the log.
const LOG: &str = "log.file";

/// Checks the paths of what is written.
pub(super) fn check(config: &Config, problems: &mut Problems<'_>) {
    let log = config.log.iter();
    let log = log.flat_map(|log| {
        let head = log.head_file.iter().map(|file| ("log.head_file", file));
        std::iter::once((LOG, &log.file)).chain(head)
    });
    for (key, file) in log {
        let shown = file.display();
        if file.is_dir() {
            problems.add(key, format_args!("`{shown}` is a folder; name a file in it"));
        } else if key == LOG && std::fs::metadata(file).is_ok_and(|it| it.len() > 0) {
            problems.accept(key, LogReader::open(file));
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(missing) = folder.filter(|folder| !folder.is_dir()) {
            let missing = missing.display();
            problems.add(key, format_args!("the folder `{missing}` does not exist; create it"));
        }
    }
    let head = config.log.as_ref().and_then(|log| log.head_file.as_ref().map(|head| (log, head)));
    if let Some((_, head)) = head.filter(|(log, head)| log.file.parent() == head.parent()) {
        let head = head.display();
        problems.add("log.head_file", format_args!("`{head}` is in the folder of the log, where it proves nothing; choose another folder"));
    }
    if config.log.as_ref().is_some_and(|log| log.keep_days == Some(0)) {
        problems.add(
            "log.keep_days",
            "records would be removed at once; write at least 1, or leave it out",
        );
    }
    if let Some(inbox) = &config.approvals.inbox {
        let shown = inbox.display();
        if inbox.exists() && !inbox.is_dir() {
            problems.add(INBOX, format_args!("`{shown}` is not a folder"));
        } else if inbox.exists() {
            problems.accept(INBOX, FileStore::check_rights(inbox));
        }
    }
}

/// The files that no built-in tool may read or change.
pub(super) fn own(source: &Source, config: &Config) -> Vec<PathBuf> {
    let Config { http, policy, approvals, log, mcp_config, .. } = config;
    let secret = http.iter().flat_map(token_files).cloned();
    let policy = policy.iter().map(|policy| policy.file.clone());
    let log = log.iter().flat_map(|log| {
        // SQLite has two more files.
        let beside = ["", "-wal", "-shm"].map(|end| {
            let mut name = log.file.clone().into_os_string();
            name.push(end);
            PathBuf::from(name)
        });
        beside.into_iter().chain(log.head_file.clone())
    });
    let files = source.file.iter().chain(mcp_config).chain(&approvals.inbox).cloned();
    let files = files.chain(source.files_of_options());
    files.chain(secret).chain(policy).chain(log).collect()
}

/// Warnings about files by which other users of this machine could become callers, or read what makes one.
pub(super) fn exposed(config: &Config) -> Vec<String> {
    let others = |path: &PathBuf, rights: u32| {
        let path_shown = path.display();
        has_rights(path, rights).then(|| {
            format!("other users can use `{path_shown}`: take their rights away by `chmod o= {path_shown}`")
        })
    };
    let read = config.http.iter().flat_map(token_files).filter_map(|path| others(path, 0o007));
    let written = config.policy.iter().filter_map(|policy| others(&policy.file, 0o002));
    read.chain(written).collect()
}

/// Whether a file has one of these rights.
#[cfg(unix)]
fn has_rights(path: &Path, rights: u32) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & rights != 0)
}

#[cfg(not(unix))]
fn has_rights(_: &Path, _: u32) -> bool {
    false
}

/// A file that this user cannot write.
pub(crate) struct Unwritable {
    /// The key that names it.
    pub(crate) key: &'static str,
    pub(crate) text: String,
}

/// The files that are written, and that this user cannot write.
pub(super) fn unwritable(config: &Config) -> Vec<Unwritable> {
    let Config { log, approvals, tools, .. } = config;
    let log = log.iter().filter(|log| !log.optional).flat_map(|log| {
        let written = if EventLog::is_lines(&log.file) { Written::File } else { Written::Database };
        let head = log.head_file.iter();
        let head = head.map(|head| ("log.head_file", head, Written::Replaced));
        std::iter::once((LOG, &log.file, written)).chain(head)
    });
    let inbox = approvals.inbox.iter().map(|inbox| (INBOX, inbox, Written::Inbox));
    let data = tools.data.iter().filter(|_| keeps_data(tools));
    let data = data.map(|data| ("tools.data", data, Written::Folder));
    let all = log.chain(inbox).chain(data);
    let unwritable = all.filter_map(|(key, path, written)| {
        let error = writable(path, written).err()?;
        let path = absolute(path);
        Some(Unwritable { key, text: format!("`{key}`: this user cannot write `{path}`: {error}") })
    });
    unwritable.collect()
}

/// Whether a family keeps data.
fn keeps_data(tools: &Tools) -> bool {
    tools.families.iter().any(|family| matches!(family, Family::Tasks | Family::Schedule))
}

/// What a path is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    /// A file that is continued.
    File,
    /// A file in a folder with others of it: a database and its journals.
    Database,
    /// A file that another one replaces.
    Replaced,
    /// A folder of files.
    Folder,
    /// A folder of questions, which belongs to this user.
    Inbox,
}

/// Tests the rights of what is written. No file stays behind.
fn writable(path: &Path, written: Written) -> io::Result<()> {
    let absolute = std::path::absolute(path)?;
    let path = match written {
        Written::Replaced => absolute,
        // Of a symbolic link, its target is written.
        _ => absolute.canonicalize().unwrap_or(absolute),
    };
    let exists = path.exists();
    if exists && written != Written::Replaced {
        test_writing(&path)?;
    }
    if exists && written == Written::Inbox {
        return FileStore::open(&path).map(drop);
    }
    if exists && matches!(written, Written::File | Written::Folder) {
        return Ok(());
    }
    match path.ancestors().skip(1).find(|folder| folder.exists()) {
        Some(folder) => test_writing(folder),
        None => Ok(()),
    }
}

#[cfg(unix)]
fn test_writing(path: &Path) -> io::Result<()> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    Ok(accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS)?)
}

#[cfg(not(unix))]
fn test_writing(_: &Path) -> io::Result<()> {
    Ok(())
}

/// A path for people, who may not know the working directory.
pub(super) fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}
