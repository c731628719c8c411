//! Files by name.

use super::newest::Newest;
use super::pattern;
use super::stop::Stop;
use super::target::{self, Target};
use super::walk::{Rules, Walk};
use crate::workspace::{Location, Workspace, rendered};
use globset::{Candidate, GlobMatcher};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use tool_runtime::__seam::look_alike;
use tool_runtime::ToolError;

/// A search for files by name.
pub(super) struct GlobQuery<'a> {
    pub(super) pattern: &'a str,
    pub(super) path: Option<&'a str>,
    pub(super) hidden: bool,
    pub(super) no_ignore: bool,
    pub(super) limit: usize,
}

/// Files whose names match, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GlobOutput {
    /// Paths as other tools take them, newest first.
    pub files: Vec<String>,
    /// Number of files that match, with those that are not listed.
    pub total: u64,
    /// Whether `files` lists less than all of them.
    pub truncated: bool,
    /// Remarks on the search: what was cut and how to see the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

impl fmt::Display for GlobOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let notice = self.notice.iter().map(|notice| format!("[{notice}]"));
        let lines: Vec<String> = self.files.iter().cloned().chain(notice).collect();
        f.write_str(&lines.join("\n"))
    }
}

pub(super) fn glob(
    workspace: &Workspace,
    query: &GlobQuery<'_>,
    stop: &Stop<'_>,
) -> Result<GlobOutput, ToolError> {
    let (is_negated, pattern) = match query.pattern.strip_prefix('!') {
        Some(pattern) => (true, pattern),
        None => (false, query.pattern),
    };
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let pattern = &*pattern::with_existing_names(pattern, |name| {
        let location = start(query.path, name).to_str().map(|path| workspace.resolve(path));
        let exists = |at: Location| at.root().dir().symlink_metadata(at.path()).is_ok();
        location.and_then(Result::ok).is_some_and(exists)
    });
    let (directory, rest) = match pattern {
        // The files outside its directories match.
        pattern if is_negated && !pattern.starts_with('/') => ("", pattern),
        pattern => split(pattern),
    };
    let matcher = NameMatcher::new(rest)?;
    let start = start(query.path, directory);
    let Target::Directory(location) = Target::find(workspace, start.to_str())? else {
        let path = rendered(&start);
        return Err(ToolError::user(format!("`{path}` is a file; give a directory as `path`")));
    };
    let rules = Rules { hidden: query.hidden, no_ignore: query.no_ignore, ..Rules::default() };
    let (newest, total) = (Newest::new(query.limit), AtomicU64::new(0));
    let walk = Walk::new(&location, rules, stop);
    walk.run(|| {
        let filter = NameFilter { location: &location, matcher: &matcher, is_negated };
        let (newest, total, location) = (&newest, &total, &location);
        move |found| {
            if filter.is_match(&found.path)
                && let Some(hit) = target::hit(location, found.path, 0)
            {
                total.fetch_add(1, Ordering::Relaxed);
                newest.push(hit);
            }
        }
    });
    let hits = newest.into_sorted();
    let files = hits.into_iter().map(|hit| location.with_path(hit.path.0).to_string()).collect();
    Ok(output(files, total.into_inner(), query, &walk))
}

/// A pattern's leading directories without special characters, and the rest.
fn split(pattern: &str) -> (&str, &str) {
    let special = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    match pattern[..special].rfind('/') {
        Some(0) => pattern.split_at(1),
        Some(at) => (&pattern[..at], &pattern[at + 1..]),
        None => ("", pattern),
    }
}

/// The directory to walk: absolute if the pattern is.
fn start(path: Option<&str>, directory: &str) -> PathBuf {
    match (path.unwrap_or_default(), directory) {
        ("", "") => PathBuf::from("."),
        (one, "") | ("", one) => PathBuf::from(one),
        (path, directory) => Path::new(path).join(directory),
    }
}

/// A pattern, which names that look like the matching ones match, too: those that macOS decomposed, for instance.
struct NameMatcher {
    exact: GlobMatcher,
    look_alike: GlobMatcher,
}

impl NameMatcher {
    fn new(pattern: &str) -> Result<Self, ToolError> {
        let look_alike = pattern::glob(&look_alike(pattern))?;
        Ok(Self { exact: pattern::glob(pattern)?, look_alike })
    }

    fn is_match(&self, name: &Path) -> bool {
        let looks_alike = |name: &str| self.look_alike.is_match(&*look_alike(name));
        self.exact.is_match_candidate(&Candidate::new(name))
            || name.to_str().is_some_and(|name| !name.is_ascii() && looks_alike(name))
    }
}

/// Compares paths relative to the directory of the walk.
struct NameFilter<'a> {
    location: &'a Location,
    matcher: &'a NameMatcher,
    is_negated: bool,
}

impl NameFilter<'_> {
    fn is_match(&self, path: &Path) -> bool {
        let name = path.strip_prefix(self.location.path()).unwrap_or(path);
        self.matcher.is_match(name) != self.is_negated
    }
}

fn output(files: Vec<String>, total: u64, query: &GlobQuery<'_>, walk: &Walk<'_>) -> GlobOutput {
    let (listed, stop) = (files.len() as u64, walk.stop);
    let mut notices: Vec<String> = walk.notice().into_iter().collect();
    if listed < total {
        notices.push(format!("the newest {listed} of {total} files; narrow `pattern` or `path`"));
    }
    if stop.has_expired() {
        notices.push("the time was up before all files were seen; narrow `path`".to_owned());
    }
    if total == 0 {
        notices.push(no_match(query));
    }
    GlobOutput {
        truncated: listed < total || stop.has_expired(),
        files,
        total,
        notice: join(&notices),
    }
}

fn no_match(query: &GlobQuery<'_>) -> String {
    let mut advice = vec!["no file matches".to_owned()];
    if !query.pattern.contains("**") {
        let name = query.pattern.rsplit('/').next().unwrap_or_default();
        advice.push(format!("`**/{name}` searches subdirectories"));
    }
    advice.extend(pattern::bracket_advice(query.pattern).map(str::to_owned));
    if !query.hidden {
        advice.push("`hidden` adds hidden files".to_owned());
    }
    if !query.no_ignore {
        advice.push("`no_ignore` adds those that `.gitignore` excludes".to_owned());
    }
    advice.join("; ")
}

/// Notices as one text, if there are some.
pub(super) fn join(notices: &[String]) -> Option<String> {
    (!notices.is_empty()).then(|| notices.join("; "))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn the_walk_begins_below_plain_directories() {
        let cases = [
            ("*.rs", ("", "*.rs")),
            ("src/**/*.rs", ("src", "**/*.rs")),
            ("src/a/b.rs", ("src/a", "b.rs")),
            ("src/a*/b.rs", ("src", "a*/b.rs")),
            ("/abs/x/*.rs", ("/abs/x", "*.rs")),
            ("/*.rs", ("/", "*.rs")),
            ("../x", ("..", "x")),
            ("a\\*/b", ("", "a\\*/b")),
        ];
        for (pattern, expected) in cases {
            assert_eq!(split(pattern), expected, "{pattern}");
        }
    }
}
