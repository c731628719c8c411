//! Lines of the files.

use crate::chain::LogLine;
use crate::record::LogRecord;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

const HEAD: &str = r#"{"hash":""#;
const MIDDLE: &str = r#"","record":"#;

pub(crate) fn to_text(line: &LogLine) -> String {
    format!("{HEAD}{}{MIDDLE}{}}}\n", line.hash, line.text)
}

/// Reads a line, without its end. One that is not a record becomes a line whose hash is wrong.
pub(crate) fn parse(line: &[u8], position: u64) -> LogLine {
    let text = String::from_utf8_lossy(line);
    let parts = text.strip_prefix(HEAD).and_then(|rest| rest.split_once(MIDDLE));
    let (hash, text) =
        parts.and_then(|(hash, rest)| Some((hash, rest.strip_suffix('}')?))).unwrap_or(("", &text));
    let record = serde_json::from_str::<LogRecord>(text);
    let (run, step) = record.map(|record| (record.run, record.step)).unwrap_or_default();
    LogLine { position, hash: hash.to_owned(), text: text.to_owned(), run, step }
}

/// The length of a file up to the end of its last complete line.
pub(crate) fn complete_length(file: &mut File) -> io::Result<u64> {
    const BLOCK: u64 = 64 << 10;
    let mut end = file.metadata()?.len();
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        let mut block = vec![0; usize::try_from(end - start).unwrap_or_default()];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut block)?;
        if let Some(last) = block.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + last as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}
