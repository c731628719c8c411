//! Files by content.

use super::grep_output::{FileMatches, GrepOutput, OutputMode};
use super::newest::{Hit, Newest};
use super::pattern;
use super::scan::{Query, Tally};
use super::stop::Stop;
use super::target::{self, Target};
use super::walk::{Rules, Walk, WalkedFile};
use crate::workspace::{Location, Workspace};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tool_runtime::__seam::lock;
use tool_runtime::ToolError;

/// Bytes of lines that one call returns.
const MAX_TEXT: usize = 24_000;

/// Time for the second search, after the first one, which may have used up its own.
const CONTENTS_LIMIT: Duration = Duration::from_secs(10);

/// A search for files by content.
#[derive(Default)]
pub(super) struct GrepQuery<'a> {
    pub(super) pattern: &'a str,
    pub(super) path: Option<&'a str>,
    pub(super) globs: Vec<String>,
    pub(super) file_type: Option<&'a str>,
    pub(super) mode: OutputMode,
    pub(super) ignore_case: bool,
    pub(super) multiline: bool,
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) line_numbers: bool,
    pub(super) hidden: bool,
    pub(super) no_ignore: bool,
    pub(super) offset: usize,
    pub(super) limit: usize,
}

/// Numbers that the threads of a search count.
#[derive(Default)]
struct Totals {
    files: AtomicU64,
    matches: AtomicU64,
    failed: Mutex<Failed>,
    /// The model named a binary file.
    is_binary: AtomicBool,
}

/// Files that could not be searched.
#[derive(Default)]
pub(super) struct Failed {
    pub(super) count: u64,
    /// Whether nothing else was searched.
    pub(super) is_all: bool,
    /// The path of one, and the reason.
    pub(super) example: Option<(String, String)>,
}

/// Searches twice: all files for the number of matches, then the newest for as many lines as are asked for. So
/// numbers are exact, and memory is bounded.
pub(super) fn grep(
    workspace: &Workspace,
    query: &GrepQuery<'_>,
    stop: &Stop<'_>,
) -> Result<GrepOutput, ToolError> {
    let target = Target::find(workspace, query.path)?;
    let scan = scan_query(query, matches!(target, Target::File(_)))?;
    let (totals, newest) =
        (Totals::default(), Newest::new(query.offset.saturating_add(query.limit)));
    let location = target.location();
    let search = Search { location, scan: &scan, totals: &totals, newest: &newest, stop };
    let notice = match &target {
        Target::Directory(_) => search.walk(rules(query, location)?),
        Target::File(_) if !location.lets_read(&location.canonical(), stop.context()) => {
            let text =
                "may not be read: the operator protects it, or a rule of the policy denies it";
            return Err(ToolError::user(format!("`{location}` {text}")));
        }
        Target::File(_) => search.one(location.path().to_owned()),
    };
    let hits = newest.into_sorted();
    let is_binary = totals.is_binary.into_inner();
    let second = Stop::after(CONTENTS_LIMIT, stop.context());
    let mut output = match query.mode {
        OutputMode::Content if is_binary => GrepOutput::default(),
        OutputMode::Content => contents(location, &hits, &scan, query, &second),
        mode => names(location, &hits, query, mode),
    };
    output.hides_numbers = !query.line_numbers;
    output.has_context = query.before + query.after > 0;
    output.set_totals(totals.files.into_inner(), totals.matches.into_inner(), query.mode);
    if let Some(notice) = notice {
        output.note(&notice);
    }
    if is_binary {
        output.note("the file is binary, so its lines are not shown");
    }
    let mut failed = totals.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.is_all = failed.count > 0 && matches!(target, Target::File(_));
    output.explain(query, failed, stop.has_expired() || second.has_expired());
    Ok(output)
}

fn scan_query(query: &GrepQuery<'_>, is_named: bool) -> Result<Query, ToolError> {
    Ok(Query {
        matcher: pattern::regex(query.pattern, query.ignore_case, query.multiline)?,
        multiline: query.multiline,
        first_only: matches!(query.mode, OutputMode::FilesWithMatches),
        before: query.before,
        after: query.after,
        is_named,
    })
}

fn rules(query: &GrepQuery<'_>, location: &Location) -> Result<Rules, ToolError> {
    Ok(Rules {
        hidden: query.hidden,
        no_ignore: query.no_ignore,
        types: query.file_type.map(pattern::file_type).transpose()?,
        globs: pattern::file_globs(location, &query.globs)?,
    })
}

/// The first search.
struct Search<'a> {
    location: &'a Location,
    scan: &'a Query,
    totals: &'a Totals,
    newest: &'a Newest,
    stop: &'a Stop<'a>,
}

impl Search<'_> {
    /// Returns a remark on directories that could not be read.
    fn walk(&self, rules: Rules) -> Option<String> {
        let walk = Walk::new(self.location, rules, self.stop);
        walk.run(|| {
            let mut searcher = self.scan.searcher();
            move |found: WalkedFile<'_>| {
                if !found.entry.file_type().is_some_and(|kind| kind.is_file()) {
                    return;
                }
                self.file(&mut searcher, found.path);
            }
        });
        walk.notice()
    }

    fn one(&self, path: PathBuf) -> Option<String> {
        self.file(&mut self.scan.searcher(), path);
        None
    }

    fn file(&self, searcher: &mut grep_searcher::Searcher, path: PathBuf) {
        let file = self.location.root().open_file(&path);
        let display_path = || self.location.with_path(&path).to_string();
        match file.and_then(|file| self.scan.tally(searcher, file, self.stop)) {
            Ok(Tally { count: 0, .. }) => {}
            Ok(tally) => {
                let is_named_binary = tally.is_binary && self.scan.is_named;
                self.totals.is_binary.fetch_or(is_named_binary, Ordering::Relaxed);
                self.add_hit(path, tally.count);
            }
            // Deleted meanwhile, or its directory is a link out of the root by now.
            Err(error) if error.kind() == ErrorKind::NotFound || target::leads_out(&error) => {}
            Err(error) => {
                let mut failed = lock(&self.totals.failed);
                failed.count += 1;
                let reason = || (display_path(), self.scan.reason(&error));
                failed.example.get_or_insert_with(reason);
            }
        }
    }

    fn add_hit(&self, path: PathBuf, count: u64) {
        if let Some(hit) = target::hit(self.location, path, count) {
            self.totals.files.fetch_add(1, Ordering::Relaxed);
            self.totals.matches.fetch_add(count, Ordering::Relaxed);
            self.newest.push(hit);
        }
    }
}

/// The files that match, without their lines.
fn names(location: &Location, hits: &[Hit], query: &GrepQuery<'_>, mode: OutputMode) -> GrepOutput {
    let listed = hits.iter().skip(query.offset).take(query.limit);
    let files = listed.map(|hit| FileMatches {
        path: location.with_path(&hit.path.0).to_string(),
        count: matches!(mode, OutputMode::Count).then_some(hit.count),
        lines: Vec::new(),
    });
    GrepOutput::listing(files.collect())
}

/// The second search: lines of the newest files, until there are enough.
fn contents(
    location: &Location,
    hits: &[Hit],
    scan: &Query,
    query: &GrepQuery<'_>,
    stop: &Stop<'_>,
) -> GrepOutput {
    let mut output = GrepOutput::default();
    let (mut skip, mut rest, mut room) = (query.offset, query.limit, MAX_TEXT);
    for hit in hits {
        // One more than there is room for shows that something was cut.
        let file = location.root().open_file(&hit.path.0);
        let Ok(mut lines) = file.and_then(|file| scan.lines(file, stop, &mut skip, rest + 1))
        else {
            continue;
        };
        let path = location.with_path(&hit.path.0).to_string();
        let fitting = lines.iter().take(rest).take_while(|line| {
            let size = path.len() + line.text.len() + 10;
            room = room.saturating_sub(size);
            room > 0
        });
        let fitting = fitting.count();
        output.truncated = fitting < lines.len();
        lines.truncate(fitting);
        rest -= fitting;
        if fitting > 0 {
            output.files.push(FileMatches { path, count: Some(hit.count), lines });
        }
        if output.truncated {
            break;
        }
    }
    output
}
