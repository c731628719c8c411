//! The files below a directory, by ripgrep's rules, in several threads.

use super::glob::join as join_notices;
use super::ignore_files::IgnoreFiles;
use super::stop::Stop;
use crate::workspace::Location;
use ignore::overrides::Override;
use ignore::types::Types;
use ignore::{DirEntry, WalkBuilder, WalkState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Files between two reports of progress.
const PROGRESS: u64 = 1000;

/// Which files a walk skips.
#[derive(Default)]
pub(super) struct Rules {
    /// Hidden files and directories are walked, too.
    pub(super) hidden: bool,
    /// `.gitignore`, `.ignore` and `.rgignore` are not read.
    pub(super) no_ignore: bool,
    pub(super) types: Option<Types>,
    pub(super) globs: Option<Override>,
}

/// A walk through a directory.
pub(super) struct Walk<'a> {
    pub(super) location: &'a Location,
    /// The directory, without symbolic links.
    canonical: PathBuf,
    pub(super) rules: Rules,
    pub(super) stop: &'a Stop<'a>,
    /// None if no rules are read from files.
    ignore_files: Option<IgnoreFiles>,
    /// Directories that could not be read.
    unreadable: AtomicU64,
    /// Files that the call may not read.
    denied: AtomicU64,
    seen: AtomicU64,
}

/// One file of a walk.
pub(super) struct WalkedFile<'a> {
    /// Relative to the root.
    pub(super) path: PathBuf,
    pub(super) entry: &'a DirEntry,
}

impl<'a> Walk<'a> {
    pub(super) fn new(location: &'a Location, rules: Rules, stop: &'a Stop<'a>) -> Self {
        let ignore_files = (!rules.no_ignore).then(|| IgnoreFiles::new(location));
        let [unreadable, denied, seen] = [0; 3].map(AtomicU64::new);
        let canonical = location.canonical();
        Self { location, canonical, rules, stop, ignore_files, unreadable, denied, seen }
    }

    /// Passes every entry that is not a directory to a visitor; each thread makes its own. Links are
    /// passed and never followed. Files that the call may not read are counted only.
    pub(super) fn run<V>(&self, make_visitor: impl Fn() -> V)
    where
        V: FnMut(WalkedFile<'_>) + Send,
    {
        if self.ignore_files.as_ref().is_some_and(|files| !files.allow_start()) {
            return;
        }
        let top = self.location.absolute();
        let top = &top;
        self.builder(top).build_parallel().run(|| {
            let mut visit = make_visitor();
            Box::new(move |entry| {
                if self.stop.is_due() {
                    return WalkState::Quit;
                }
                match entry {
                    Ok(entry) => self.pass(top, &entry, &mut visit),
                    Err(error) if is_missing(&error) => {}
                    Err(_) => drop(self.unreadable.fetch_add(1, Ordering::Relaxed)),
                }
                WalkState::Continue
            })
        });
    }

    /// The remark that directories are missing in the result.
    pub(super) fn notice(&self) -> Option<String> {
        let count = self.unreadable.load(Ordering::Relaxed);
        let unreadable =
            (count > 0).then(|| format!("directories that could not be read: {count}"));
        let left_out = self.ignore_files.as_ref().and_then(|files| files.notice(self.location));
        // Counted for a choice of names, it would tell the names.
        let is_whole = self.rules.globs.is_none() && self.rules.types.is_none();
        let denied = self.denied.load(Ordering::Relaxed);
        let denied = (denied > 0 && is_whole)
            .then(|| format!("files left out that may not be read: {denied}"));
        let notices = [unreadable, left_out, denied];
        join_notices(&notices.into_iter().flatten().collect::<Vec<_>>())
    }

    fn pass(&self, top: &Path, entry: &DirEntry, visit: &mut impl FnMut(WalkedFile<'_>)) {
        let is_directory = entry.file_type().is_none_or(|kind| kind.is_dir());
        if entry.depth() == 0 || is_directory {
            return;
        }
        let seen = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
        if seen.is_multiple_of(PROGRESS) {
            self.stop.context().progress(seen, None, format_args!("{seen} files searched"));
        }
        let Ok(below) = entry.path().strip_prefix(top) else { return };
        match self.location.lets_read(&self.canonical.join(below), self.stop.context()) {
            true => visit(WalkedFile { path: join(self.location.path(), below), entry }),
            false => drop(self.denied.fetch_add(1, Ordering::Relaxed)),
        }
    }

    fn builder(&self, top: &Path) -> WalkBuilder {
        let mut builder = WalkBuilder::new(top);
        let reads_rules = !self.rules.no_ignore;
        builder
            .follow_links(false)
            .hidden(!self.rules.hidden)
            .parents(reads_rules)
            .ignore(reads_rules)
            .git_ignore(reads_rules)
            .git_global(reads_rules)
            .git_exclude(reads_rules);
        if let Some(files) = self.ignore_files.clone() {
            builder.add_custom_ignore_filename(".rgignore");
            builder.filter_entry(move |entry| {
                let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
                !is_directory || files.allow_below(entry.path())
            });
        }
        if let Some(types) = &self.rules.types {
            builder.types(types.clone());
        }
        if let Some(globs) = &self.rules.globs {
            builder.overrides(globs.clone());
        }
        builder
    }
}

/// Whether a directory was deleted meanwhile.
fn is_missing(error: &ignore::Error) -> bool {
    error.io_error().is_some_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Paths below the root itself have no `./` in front.
pub(super) fn join(location: &Path, below: &Path) -> PathBuf {
    if location == Path::new(".") { below.to_owned() } else { location.join(below) }
}
