//! The hub, seen by the driver.

use super::part::{Kind, Part};
use crate::check::{self, Records};
use crate::network::{self, DRIVER, QUEUE};
use crate::{Failure, files};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use tool_runtime_remote::{Depth, Payload, Record, State};

pub(super) fn part(folder: &Path, port: u16) -> Result<Part, Failure> {
    Part::new(Kind::Engine, ["hub".as_ref(), folder.as_os_str(), port.to_string().as_ref()])
}

/// Whether no job is queued or claimed.
pub(super) async fn is_idle(url: &str, folder: &Path) -> Result<bool, Failure> {
    let board = network::connect(url, DRIVER, folder).await?.into_board();
    let depth = board.depth(&QUEUE.parse()?).await?;
    Ok(matches!(depth, Depth { queued: 0, claimed: 0, .. }))
}

/// Reads the records.
pub(super) fn records(folder: &Path) -> Result<Records, Failure> {
    let path = files::records(folder);
    let hub = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let mut query = hub.prepare("SELECT step, record FROM steps WHERE queue = ?1")?;
    let rows = query.query_map([QUEUE], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut records = Records::new();
    for row in rows {
        let (step, record): (String, String) = row?;
        let record: Record = serde_json::from_str(&record)?;
        let answer = match record.state {
            State::Done { outcome: Payload::Inline(json), .. } => check::answer(json.as_str()),
            State::Done { outcome: Payload::Blob(blob), .. } => {
                let mut blobs = hub.prepare_cached("SELECT bytes FROM blobs WHERE sha256 = ?1")?;
                let bytes: Vec<u8> = blobs.query_row([blob.sha256.as_str()], |row| row.get(0))?;
                check::answer(str::from_utf8(&bytes)?)
            }
            State::Started { .. } | State::Suspended => None,
        };
        records.insert(step, answer);
    }
    Ok(records)
}
