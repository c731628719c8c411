//! The files that the parts append to, one line at a time: what is written survives the process.

use crate::Failure;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// The file of the effects of all runners.
pub(crate) fn effects(folder: &Path) -> PathBuf {
    folder.join("effects.jsonl")
}

/// The file of the outcomes of a caller.
pub(crate) fn outcomes(folder: &Path, caller: &str) -> PathBuf {
    folder.join(format!("{caller}.jsonl"))
}

/// The file of the records of a hub.
pub(crate) fn records(folder: &Path) -> PathBuf {
    folder.join("hub.db")
}

/// The file of a key for a NATS server.
pub(crate) fn key(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.key"))
}

/// A line of the effects file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// A runner began to serve.
    Up { runner: String, pid: u32 },
    /// A tool had its effect.
    Had { step: String, tool: Tool, runner: String, pid: u32, is_large: bool },
}

/// The tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tool {
    /// May run at most once.
    Once,
    /// Is safe to retry.
    Again,
}

impl Tool {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Again => "again",
        }
    }
}

/// A line of the outcomes file of a caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    /// A process of the caller started.
    Start,
    /// A call was answered.
    Outcome(Outcome),
}

/// The outcome of a call, as its caller got it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// The number of the call at its caller.
    pub(crate) call: usize,
    /// A call of an execution is the same call in each process of the caller.
    pub(crate) in_execution: bool,
    pub(crate) tool: Tool,
    pub(crate) step: String,
    pub(crate) result: Answer,
    /// Whether its time was over before the engine answered, which decides the record later.
    pub(crate) is_cut: bool,
}

/// The outcome itself. Large texts end with spaces, which are counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// `ok`, or the class of the error.
    pub(crate) class: String,
    pub(crate) text: String,
    /// The number of bytes of the whole text.
    pub(crate) size: usize,
}

impl Answer {
    pub(crate) fn new(class: &str, text: &str) -> Self {
        Self { class: class.to_owned(), text: text.trim_end().to_owned(), size: text.len() }
    }
}

/// Appends a line by one write.
pub(crate) fn append(path: impl AsRef<Path>, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    File::options().append(true).create(true).open(path)?.write_all(text.as_bytes())
}

/// The lines of a file. One that does not exist has none.
pub(crate) fn read<T: DeserializeOwned>(path: impl AsRef<Path>) -> Result<Vec<T>, Failure> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        text => text?,
    };
    let lines = text.lines().map(serde_json::from_str).collect::<Result<_, _>>();
    Ok(lines?)
}
