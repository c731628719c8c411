//! What a file was before a registration, kept in a folder of the user until `uninstall`.

use crate::client::Target;
use crate::file;
use crate::folders::Folders;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::PathBuf;
use tool_runtime_core::seam::hex;

/// The text of a file before and after a registration.
pub(crate) struct Kept {
    /// `None`: the file did not exist.
    pub(crate) before: Option<String>,
    pub(crate) after: String,
    /// The folders that were made for the file, the innermost first.
    pub(crate) folders: Vec<PathBuf>,
}

/// Where the texts of a registration are kept. No other program names files in this folder, so a project cannot choose it.
fn path(folders: &Folders, target: &Target, name: &str) -> PathBuf {
    let file = target.file.to_string_lossy();
    let digest = Sha256::digest(format!("{file}\n{}", target.entry_keys(name).join("\n")));
    let id = hex(&digest[..16]);
    folders.state.join("tool-runtime").join("install").join(format!("{id}.json"))
}

/// The texts that were kept; `None` if there are none, or if they cannot be read.
pub(crate) fn read(folders: &Folders, target: &Target, name: &str) -> Option<Kept> {
    let text = file::read(&path(folders, target, name)).ok()??;
    let kept: Value = serde_json::from_str(&text).ok()?;
    let before = match &kept["before"] {
        Value::Null => None,
        before => Some(before.as_str()?.to_owned()),
    };
    let folders = kept["folders"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let folders = folders.map(PathBuf::from).collect();
    Some(Kept { before, after: kept["after"].as_str()?.to_owned(), folders })
}

/// Keeps texts, readable for the user alone.
///
/// # Errors
/// They cannot be written.
pub(crate) fn write(
    folders: &Folders,
    target: &Target,
    name: &str,
    kept: &Kept,
) -> Result<(), String> {
    let path = path(folders, target, name);
    let folder = path.parent().unwrap_or(&folders.state);
    let problem =
        |error: std::io::Error| format!("`{}` cannot be written: {error}", path.display());
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(problem)?;
    let before = file::read(&path)?;
    let text = json!({
        "file": target.file, "before": kept.before, "after": kept.after, "folders": kept.folders,
    });
    let text = text.to_string();
    file::replace(&path, before.as_deref(), &text, true)
}

/// Forgets the texts.
pub(crate) fn remove(folders: &Folders, target: &Target, name: &str) {
    let path = path(folders, target, name);
    let _ = fs::remove_file(&path);
    // Those that are not empty stay.
    let own = path.ancestors().skip(1).take(2);
    let _ = own.map(fs::remove_dir).take_while(Result::is_ok).count();
}
