//! Lines of the file.

use crate::chain::LogLine;
use crate::record::LogRecord;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

const HEAD: &str = r#"{"hash":""#;
const MIDDLE: &str = r#"","record":"#;

pub(crate) fn to_text(line: &LogLine) -> String {
    format!("{HEAD}{}{MIDDLE}{}}}\n", line.hash, line.text)
}

/// Reads a line, without its end. One that is not a record becomes a line without a hash.
pub(crate) fn parse(line: &[u8], position: u64) -> LogLine {
    let Some((hash, text)) = std::str::from_utf8(line).ok().and_then(parts) else {
        let text = String::from_utf8_lossy(line).into_owned();
        return LogLine { position, hash: String::new(), text, run: None, step: None };
    };
    let record = serde_json::from_str::<LogRecord>(text).unwrap_or_default();
    let step = record.step_of_run().map(str::to_owned);
    let run = record.run;
    LogLine { position, hash: hash.to_owned(), text: text.to_owned(), run, step }
}

/// The hash and the record.
fn parts(line: &str) -> Option<(&str, &str)> {
    let (hash, rest) = line.strip_prefix(HEAD)?.split_once(MIDDLE)?;
    Some((hash, rest.strip_suffix('}')?))
}

/// The beginning of the line that a position of a file is in.
pub(crate) fn beginning(file: &mut File, position: u64) -> io::Result<u64> {
    const BLOCK: u64 = 64 << 10;
    let mut end = position;
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
