//! Documents of programs whose servers are not a map of entries under a known key.

mod bundle;
mod goose;
mod list;
mod unsupported;

pub(super) use list::entries as listed;

use super::findings::{Findings, Location};
use super::wrapper::ServerEntry;
use serde_json::{Map, Value};

/// The servers of a document that is of such a program; `None` for other documents.
pub(super) fn entries(
    document: &Map<String, Value>,
    location: &Location,
    findings: &mut Findings,
) -> Option<Vec<ServerEntry>> {
    if bundle::is_manifest(document) {
        return Some(bundle::entry(document, location, findings).into_iter().collect());
    }
    if let Some(extensions) = goose::extensions(document) {
        return Some(goose::entries(extensions, location, findings));
    }
    let (key, help) = unsupported::find(document)?;
    findings.problem(&location.key(key), "servers in this form are not read", help);
    Some(Vec::new())
}
