//! Whole outputs of commands as resources of a pool.
//!
//! A result that shows a part of an output has a link to all of it. The caller that got the link may read it, in parts
//! that begin and end at lines.

use super::scratch::{Scratch, ScratchFile};
use crate::random;
use crate::tool_output::ToolOutput;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use tool_runtime::__seam::lock;
use tool_runtime::content::ResourceLink;
use tool_runtime::tool::TextArguments;
use tool_runtime::{ContentBlock, Resource, ToolContext, ToolError};

/// Outputs that are offered. The files of older ones are deleted.
const MAX_OUTPUTS: usize = 64;
/// Bytes of a part, about.
const PART: u64 = 1 << 20;
/// Bytes in which the end of a line is searched.
const MAX_LINE: u64 = 64 << 10;

/// The outputs that are offered.
#[derive(Clone)]
pub(crate) struct Outputs(Arc<Inner>);

struct Inner {
    scratch: Arc<Scratch>,
    /// The most bytes of all of them.
    max_bytes: u64,
    /// The common beginning of all URIs. Unset in a pool without the resource.
    base: OnceLock<String>,
    /// Oldest first.
    offered: Mutex<VecDeque<Offered>>,
}

struct Offered {
    /// Cannot be guessed.
    id: String,
    /// The principal that may read it; for others it does not exist.
    owner: String,
    file: ScratchFile,
    size: u64,
}

impl Outputs {
    /// Offers files of a directory, of at most `max_bytes` in all.
    pub(super) fn over(scratch: Arc<Scratch>, max_bytes: u64) -> Self {
        let (base, offered) = (OnceLock::new(), Mutex::default());
        Self(Arc::new(Inner { scratch, max_bytes, base, offered }))
    }

    /// The resource through which the outputs are read. From now on results have links to it.
    pub(crate) fn resource(&self, name: &str) -> Resource {
        let base = self.0.base.get_or_init(|| format!("output://{name}"));
        let outputs = self.clone();
        let about = "Output of a command whose result shows a part of it, as far as it is stored. Parts have about 1 MiB.";
        Resource::builder(format!("{base}/{{id}}/{{part}}"), "output", about)
            .mime_type("text/plain")
            .handler(move |variables: TextArguments, context: ToolContext| {
                let outputs = outputs.clone();
                async move { outputs.read(&variables["id"], &variables["part"], &context).await }
            })
    }

    /// Adds links to the files of a result.
    pub(super) fn link<T>(
        &self,
        files: impl IntoIterator<Item = String>,
        mut output: ToolOutput<T>,
        context: &ToolContext,
    ) -> ToolOutput<T> {
        let links = files.into_iter().filter_map(|file| self.offer(Path::new(&file), context));
        output.blocks.extend(links.map(ContentBlock::from));
        output
    }

    /// Offers a file to the caller. `None` without the resource, or if the file is gone.
    pub(super) fn offer(&self, path: &Path, context: &ToolContext) -> Option<ResourceLink> {
        let file = self.0.scratch.find(path)?;
        let size = file.open().ok()?.metadata().ok()?.len();
        let name = path.file_name()?.to_string_lossy().into_owned();
        let id = self.id(file, size, context.principal().id());
        let uri = format!("{}/{id}", self.0.base.get()?);
        let parts = size.div_ceil(PART);
        let about = match parts {
            0 | 1 => "The output".to_owned(),
            _ => format!("The output, in parts: {uri}/1 to {uri}/{parts}"),
        };
        let link = ResourceLink::new(format!("{uri}/1"), name).with_description(about);
        Some(link.with_mime_type("text/plain").with_size(size))
    }

    /// The id of a file, which becomes the newest one. Older ones are removed if there are too many.
    fn id(&self, file: ScratchFile, size: u64, owner: &str) -> String {
        let mut offered = self.offered();
        let is_same = |other: &Offered| other.file.path == file.path && other.owner == owner;
        let known = offered.iter().position(is_same);
        let known = known.and_then(|index| offered.remove(index));
        let id = known.map_or_else(|| random::hex(16), |known| known.id);
        offered.push_back(Offered { id: id.clone(), owner: owner.to_owned(), file, size });
        let is_too_much = |offered: &VecDeque<Offered>| {
            let bytes = offered.iter().map(|offered| offered.size).sum::<u64>();
            offered.len() > MAX_OUTPUTS || (bytes > self.0.max_bytes && offered.len() > 1)
        };
        while is_too_much(&offered)
            && let Some(oldest) = offered.pop_front()
        {
            oldest.file.remove();
        }
        id
    }

    /// A part, counted from 1. `None` if it does not exist, or belongs to another principal.
    async fn read(
        &self,
        id: &str,
        part: &str,
        context: &ToolContext,
    ) -> Result<Option<String>, ToolError> {
        let owner = context.principal().id();
        let is_own = |other: &&Offered| other.id == id && other.owner == owner;
        let file = self.offered().iter().find(is_own).map(|offered| offered.file.clone());
        let part = part.parse::<u64>().ok().and_then(|part| part.checked_sub(1));
        let (Some(file), Some(part)) = (file, part) else { return Ok(None) };
        let read = tokio::task::spawn_blocking(move || read_part(&file.open()?, part));
        match read.await.map_err(ToolError::internal)? {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => Ok(read?),
        }
    }

    /// Offers none any more.
    pub(super) fn clear(&self) {
        self.offered().clear();
    }

    fn offered(&self) -> MutexGuard<'_, VecDeque<Offered>> {
        lock(&self.0.offered)
    }
}

/// The lines that begin in a part of a file.
fn read_part(file: &File, part: u64) -> io::Result<Option<String>> {
    let at = part.saturating_mul(PART);
    if at > 0 && at >= file.metadata()?.len() {
        return Ok(None);
    }
    let (start, end) = (line_start(file, at)?, line_start(file, at + PART)?);
    let bytes = read_at(file, start, end.saturating_sub(start))?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The first start of a line from an offset on; in a long line, the first start of a character.
fn line_start(file: &File, at: u64) -> io::Result<u64> {
    let Some(before) = at.checked_sub(1) else { return Ok(0) };
    let bytes = read_at(file, before, MAX_LINE)?;
    let line = bytes.iter().position(|byte| *byte == b'\n');
    let character = || bytes.iter().skip(1).take_while(|byte| **byte & 0xc0 == 0x80).count().min(3);
    Ok(at + line.unwrap_or_else(character) as u64)
}

fn read_at(file: &File, at: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    let mut done = 0;
    while done < bytes.len() {
        match file.read_at(&mut bytes[done..], at + done as u64)? {
            0 => break,
            length => done += length,
        }
    }
    bytes.truncate(done);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_begin_and_end_at_lines_or_characters() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("all");
        let lines: String = (0..300_000).map(|number| format!("{number}\n")).collect();
        for text in [lines, "€".repeat(1_000_000), "a\n".to_owned(), String::new()] {
            std::fs::write(&path, &text).unwrap();
            let file = File::open(&path).unwrap();
            let parts = (0..).map_while(|part| read_part(&file, part).unwrap());
            let parts: Vec<String> = parts.collect();
            assert_eq!(parts.len() as u64, (text.len() as u64).div_ceil(PART).max(1));
            assert!(parts.concat() == text);
            let whole_lines = |part: &String| part.ends_with('\n') || !text.contains('\n');
            assert!(parts.iter().all(|part| whole_lines(part) || text.is_empty()));
        }
    }
}
