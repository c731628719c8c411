//! Files that changed on the disk between two requests.
//!
//! The directory is walked before a request instead of being watched: it changes mostly by the tools of this pool, and
//! a request must see what a call before it wrote.

use super::uri;
use crate::workspace::Root;
use ignore::WalkBuilder;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

/// Entries of directories that are walked, and files among them that are looked at. Changes of others are not noticed.
const MAX_ENTRIES: usize = 200_000;
const MAX_FILES: usize = 50_000;
/// Files of projects that servers read besides those of their language.
const OF_PROJECTS: [&str; 4] = ["json", "toml", "mod", "cfg"];

/// Time of the last change, and length.
type Stamp = (Option<SystemTime>, u64);

/// The files of a server at the last look.
pub(super) struct Watch {
    extensions: Arc<HashSet<String>>,
    /// `None` before the first look.
    seen: Option<HashMap<PathBuf, Stamp>>,
}

impl Watch {
    /// Looks at files with these extensions, and at those that describe projects.
    pub(super) fn new(extensions: impl IntoIterator<Item = String>) -> Self {
        let all = extensions.into_iter().chain(OF_PROJECTS.map(str::to_owned));
        Self { extensions: Arc::new(all.collect()), seen: None }
    }

    /// The files that were created, changed and deleted since the last look, as events of the protocol.
    pub(super) async fn changes(&mut self, root: &Arc<Root>) -> Vec<Value> {
        let (root, extensions) = (Arc::clone(root), Arc::clone(&self.extensions));
        let walk = tokio::task::spawn_blocking(move || files(&root, &extensions)).await;
        // Fails only if the runtime shuts down.
        let Ok(found) = walk else { return Vec::new() };
        let events = self.seen.as_ref().map_or(Vec::new(), |seen| events(seen, &found));
        self.seen = Some(found);
        events
    }
}

fn events(old: &HashMap<PathBuf, Stamp>, new: &HashMap<PathBuf, Stamp>) -> Vec<Value> {
    const CREATED: u8 = 1;
    const CHANGED: u8 = 2;
    const DELETED: u8 = 3;
    let event = |path: &PathBuf, kind: u8| json!({"uri": uri::from_path(path), "type": kind});
    let present = new.iter().filter_map(|(path, stamp)| match old.get(path) {
        None => Some(event(path, CREATED)),
        Some(before) if before != stamp => Some(event(path, CHANGED)),
        Some(_) => None,
    });
    let gone = old.keys().filter(|path| !new.contains_key(*path)).map(|path| event(path, DELETED));
    present.chain(gone).collect()
}

/// The files below a root by ripgrep's rules.
fn files(root: &Root, extensions: &HashSet<String>) -> HashMap<PathBuf, Stamp> {
    let walk = WalkBuilder::new(root.canonical_path()).build().flatten().take(MAX_ENTRIES);
    let is_watched = |path: &std::path::Path| {
        path.extension()
            .and_then(|extension| extension.to_str())
            .is_some_and(|name| extensions.contains(name))
    };
    let walk = walk.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    walk.filter(|entry| is_watched(entry.path()))
        .take(MAX_FILES)
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            Some((entry.into_path(), (metadata.modified().ok(), metadata.len())))
        })
        .collect()
}
