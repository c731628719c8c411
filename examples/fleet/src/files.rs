//! The queue `files`. Its runners share a folder.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;
use tool_runtime::peer::{Answer, LogLevel};
use tool_runtime::prelude::*;

/// The time between two looks at a file.
const LOOK: Duration = Duration::from_millis(50);

/// The folder with the files.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    fn file(&self, name: &str) -> Result<PathBuf, ToolError> {
        let failed =
            |error| ToolError::user(format!("cannot create {}: {error}", self.0.display()));
        fs::create_dir_all(&self.0).map_err(failed)?;
        Ok(self.0.join(name))
    }
}

/// Append a line to a file. A call that may have had its effect is never repeated.
#[tool(name = "files.append", destructive = false)]
fn append(
    /// The name of the file.
    #[arg(pattern = "^[a-z]+$")]
    name: String,
    /// The line.
    line: String,
    folder: &Folder,
) -> Result<String, ToolError> {
    let path = folder.file(&name)?;
    let file = OpenOptions::new().create(true).append(true).open(path);
    let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    written.map_err(|error| ToolError::user(format!("cannot write `{name}`: {error}")))?;
    Ok(format!("appended to {name}"))
}

/// Delete a file, if the user agrees.
#[tool(name = "files.delete", progress)]
async fn delete(
    /// The name of the file.
    #[arg(pattern = "^[a-z]+$")]
    name: String,
    folder: &Folder,
    context: &ToolContext,
) -> Result<String, ToolError> {
    let path = folder.file(&name)?;
    context.progress(1, 2, "asking");
    match context.ask::<bool>("sure", format!("Delete {name}?")).await? {
        Answer::Accepted(true) => {}
        _ => return Ok(format!("{name} stays")),
    }
    fs::remove_file(path)
        .map_err(|error| ToolError::user(format!("cannot delete `{name}`: {error}")))?;
    context.log(LogLevel::Warning, format!("deleted {name}"));
    context.progress(2, 2, "deleted");
    Ok(format!("{name} is deleted"))
}

/// Wait until a file exists.
#[tool(name = "files.wait", read_only, progress)]
async fn wait(
    /// The name of the file.
    #[arg(pattern = "^[a-z]+$")]
    name: String,
    folder: &Folder,
    context: &ToolContext,
) -> Result<String, ToolError> {
    let path = folder.file(&name)?;
    context.progress(0, 1, "waiting");
    while !path.exists() {
        tokio::time::sleep(LOOK).await;
    }
    Ok(format!("{name} is there"))
}
