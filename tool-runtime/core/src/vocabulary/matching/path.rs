//! Patterns of paths.

use super::{ArgumentMatch, ArgumentMatcher, MatchAs, Matcher, invalid};
use crate::vocabulary::look_alike::look_alike;
use crate::vocabulary::matching::pattern::PatternError;

/// Matches paths with globs, only by their text: `src/**`, `/etc/*.conf`, `~/notes/*`.
///
/// `*` and `?` match characters within one name, `**` matches any names, `[ab]` and `{a,b}` match
/// one of several. Paths and patterns are compared without `.` and repeated slashes.
///
/// These paths are undecidable: those with `..`, backslashes or control characters, those that match only in another
/// case or with characters that look alike (composed and decomposed letters, kinds of spaces, quotation marks and
/// dashes), and those that start elsewhere, such as an absolute path for a relative pattern. Symbolic links are not
/// resolved, and a tool may follow them.
///
/// ```
/// use tool_runtime::matching::{ArgumentMatch, ArgumentMatcher, PathMatcher};
///
/// let sources = PathMatcher::new().compile("src/**")?;
/// assert_eq!(sources.matches("./src/pool/scope.rs"), ArgumentMatch::Yes);
/// assert_eq!(sources.matches("target/debug"), ArgumentMatch::No);
/// assert!(matches!(sources.matches("src/../key"), ArgumentMatch::Undecidable(_)));
/// # Ok::<(), tool_runtime::matching::PatternError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathMatcher {
    directory: Option<String>,
}

/// The start of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Relative,
    Home,
    Root,
    /// A drive of Windows.
    Drive(char),
}

/// A path without `.` and repeated slashes.
#[derive(Debug)]
struct Path {
    start: Start,
    /// Names joined by `/`.
    names: String,
}

struct PathPattern {
    text: String,
    glob: Path,
    directory: Option<Path>,
}

impl PathMatcher {
    /// A matcher without a directory for relative paths.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the directory where relative paths start, an absolute path. Default: none, and then relative
    /// patterns and absolute paths cannot be compared.
    ///
    /// ```
    /// use tool_runtime::ToolPool;
    /// use tool_runtime::matching::{ArgumentMatch, ArgumentMatcher, PathMatcher};
    ///
    /// let paths = PathMatcher::new().in_directory("/work");
    /// assert_eq!(paths.compile("src/*")?.matches("/work/src/lib.rs"), ArgumentMatch::Yes);
    /// assert_eq!(paths.compile("/work/src/*")?.matches("src/lib.rs"), ArgumentMatch::Yes);
    /// let pool = ToolPool::builder().argument_matcher(paths).allow_empty().build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_directory(mut self, directory: impl Into<String>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    fn directory(&self) -> Result<Option<Path>, String> {
        let Some(directory) = &self.directory else { return Ok(None) };
        match Path::parse(directory) {
            Ok(path) if matches!(path.start, Start::Root | Start::Drive(_)) => Ok(Some(path)),
            Ok(_) => Err(format!("the directory `{directory}` of the matcher is not absolute")),
            Err(problem) => Err(format!("the directory `{directory}` of the matcher {problem}")),
        }
    }
}

impl ArgumentMatcher for PathMatcher {
    fn kind(&self) -> MatchAs {
        MatchAs::Path
    }

    fn compile(&self, pattern: &str) -> Result<Box<dyn Matcher>, PatternError> {
        let invalid = |reason: String| invalid(MatchAs::Path, pattern, reason);
        let directory = self.directory().map_err(invalid)?;
        let glob = Path::parse(pattern).map_err(|problem| invalid(format!("it {problem}")))?;
        if glob.names.starts_with('!') {
            return Err(invalid("it starts with `!`; write what matches".to_owned()));
        }
        fast_glob::validate(&glob.names).map_err(|error| invalid(error.to_string()))?;
        Ok(Box::new(PathPattern { text: pattern.to_owned(), glob, directory }))
    }
}

impl Path {
    /// # Errors
    /// The reason why the path is undecidable, as a phrase.
    fn parse(text: &str) -> Result<Self, String> {
        let text = if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() };
        if text.is_empty() {
            return Err("is empty".to_owned());
        }
        if text.contains(|c: char| c.is_control() || c == '\\') {
            return Err("contains a backslash or a control character".to_owned());
        }
        let (start, rest) = Start::from_text(&text)?;
        let mut names = Vec::new();
        for name in rest.split('/') {
            match name {
                "" | "." => {}
                ".." => return Err("contains `..`; write the path without it".to_owned()),
                name if cfg!(windows) && (name.contains(':') || name.ends_with(['.', ' '])) => {
                    return Err(format!("contains `{name}`, which Windows takes for another name"));
                }
                name => names.push(name),
            }
        }
        Ok(Self { start, names: names.join("/") })
    }
}

impl Start {
    /// Splits a path into its start and the rest.
    fn from_text(text: &str) -> Result<(Self, &str), String> {
        if let Some(rest) = text.strip_prefix('/') {
            return match cfg!(windows) && rest.starts_with('/') {
                true => Err("names a share of the network".to_owned()),
                false => Ok((Self::Root, rest)),
            };
        }
        let (first, rest) = text.split_once('/').unwrap_or((text, ""));
        match first.as_bytes() {
            [b'~'] => Ok((Self::Home, rest)),
            [b'~', ..] => Err("starts with `~`; write the directory".to_owned()),
            [drive, b':'] if cfg!(windows) && drive.is_ascii_alphabetic() => {
                Ok((Self::Drive(drive.to_ascii_uppercase().into()), rest))
            }
            _ => Ok((Self::Relative, text)),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Relative => "relative",
            Self::Home => "in the home directory",
            Self::Root | Self::Drive(_) => "absolute",
        }
    }
}

impl PathPattern {
    /// The names of a path from the start of the pattern. `None` if the path is outside the
    /// directory where the pattern starts.
    fn names_of(&self, path: Path) -> Result<Option<String>, ArgumentMatch> {
        if path.start == self.glob.start {
            return Ok(Some(path.names));
        }
        match &self.directory {
            Some(directory)
                if self.glob.start == Start::Relative && path.start == directory.start =>
            {
                Ok(below(directory, &path.names).map(str::to_owned))
            }
            Some(directory)
                if self.glob.start == directory.start && path.start == Start::Relative =>
            {
                let names = format!("{}/{}", directory.names, path.names);
                Ok(Some(names.trim_matches('/').to_owned()))
            }
            _ => Err(ArgumentMatch::Undecidable(format!(
                "the path is {}, and the pattern `{}` is {}",
                path.start.words(),
                self.text,
                self.glob.start.words()
            ))),
        }
    }
}

/// The rest of the names in a directory.
fn below<'a>(directory: &Path, names: &'a str) -> Option<&'a str> {
    let rest = names.strip_prefix(directory.names.as_str())?;
    let is_whole = directory.names.is_empty() || rest.is_empty() || rest.starts_with('/');
    is_whole.then(|| rest.trim_start_matches('/'))
}

impl Matcher for PathPattern {
    fn matches(&self, text: &str) -> ArgumentMatch {
        let path = match Path::parse(text) {
            Ok(path) => path,
            Err(problem) => return ArgumentMatch::Undecidable(format!("the path {problem}")),
        };
        let names = match self.names_of(path) {
            Ok(Some(names)) => names,
            Ok(None) => return ArgumentMatch::No,
            Err(undecidable) => return undecidable,
        };
        let glob = &self.glob.names;
        if fast_glob::glob_match(glob, &names) {
            return ArgumentMatch::Yes;
        }
        // File systems of macOS and Windows do not distinguish case.
        if fast_glob::glob_match(glob.to_lowercase(), names.to_lowercase()) {
            return ArgumentMatch::Undecidable(format!(
                "the path differs from the pattern `{}` only in case",
                self.text
            ));
        }
        // Those of macOS do not distinguish composed letters, and tools find names that look like the given one.
        let [glob, names] = [glob, &names].map(|text| look_alike(text).to_lowercase());
        match fast_glob::glob_match(glob, names) {
            true => ArgumentMatch::Undecidable(format!(
                "the path differs from the pattern `{}` only in characters that look alike, such as spaces and composed letters",
                self.text
            )),
            false => ArgumentMatch::No,
        }
    }
}
