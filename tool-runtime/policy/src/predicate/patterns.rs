//! Compiles the patterns of predicates.

use crate::read::Fault;
use regex::{Regex, RegexBuilder};
use tool_runtime_core::vocabulary::matching::{
    ArgumentMatcher, MatchAs, Matcher, PathMatcher, UrlMatcher,
};

/// The largest compiled expression, in bytes. Searching is linear in text and expression.
const MAX_REGEX: usize = 1 << 20;

/// # Errors
/// Not a regular expression, or too large a one.
pub(crate) fn regex(text: &str, is_whole: bool, ignores_case: bool) -> Result<Regex, Fault> {
    let build = |text: &str| {
        RegexBuilder::new(text)
            .case_insensitive(ignores_case)
            .size_limit(MAX_REGEX)
            .dfa_size_limit(MAX_REGEX)
            .nest_limit(64)
            .build()
    };
    // Alone first: `a)(b` is not an expression, though it is one in parentheses.
    let built = build(text).and_then(|regex| match is_whole {
        true => build(&format!(r"\A(?:{text})\z")),
        false => Ok(regex),
    });
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => Fault::new(
            "the regular expression is too large when it is compiled",
            "use smaller repetitions, or `max_length`",
        ),
        error => {
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default().trim();
            let reason = reason.strip_prefix("error: ").unwrap_or(reason);
            Fault::new(
                format!("`{text}` is not a valid regular expression: {reason}"),
                "correct it; the syntax is that of the crate `regex`",
            )
        }
    })
}

/// Patterns of an argument, of which one must match.
pub(crate) struct Patterns {
    pub(super) kind: MatchAs,
    /// As they are written.
    pub(super) sources: Vec<String>,
    pub(super) matchers: Vec<Box<dyn Matcher>>,
}

impl std::fmt::Debug for Patterns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Patterns").field(&self.sources).finish()
    }
}

fn compiled(
    matcher: &dyn ArgumentMatcher,
    sources: &[String],
    patterns: &[String],
) -> Result<Patterns, Fault> {
    let compile = |pattern: &String| {
        matcher.compile(pattern).map_err(|error| Fault::new(error.to_string(), "correct it"))
    };
    let matchers = patterns.iter().map(compile).collect::<Result<_, _>>()?;
    Ok(Patterns { kind: matcher.kind(), sources: sources.to_vec(), matchers })
}

/// Directories, or globs of paths. A directory is the directory itself and everything below it.
pub(crate) fn paths(sources: &[String], directory: Option<&str>) -> Result<Patterns, Fault> {
    let matcher = match directory {
        Some(directory) => PathMatcher::new().in_directory(directory),
        None => PathMatcher::new(),
    };
    let mut patterns = Vec::new();
    if let Some(home) = sources.iter().find(|source| source.starts_with('~')) {
        let text = format!("`~` in `{home}` is not replaced by the home directory");
        return Err(Fault::new(text, "write the absolute path"));
    }
    for source in sources {
        patterns.push(source.clone());
        if !source.contains(['*', '?', '[', '{']) {
            patterns.push(format!("{}/**", source.trim_end_matches('/')));
        }
    }
    compiled(&matcher, sources, &patterns)
}

/// Every combination of schemes and hosts; `None` for any.
pub(crate) fn urls(schemes: &[String], hosts: &[String]) -> Result<Patterns, Fault> {
    let any = ["*".to_owned()];
    let hosts = if hosts.is_empty() { &any } else { hosts };
    let combined = |host: &String| -> Vec<String> {
        if schemes.is_empty() {
            return vec![host.clone()];
        }
        // A scheme without a host leaves the port open.
        let port = if host == "*" { ":*" } else { "" };
        schemes.iter().map(|scheme| format!("{scheme}://{host}{port}")).collect()
    };
    let patterns: Vec<String> = hosts.iter().flat_map(combined).collect();
    compiled(&UrlMatcher::new(), &patterns, &patterns)
}

/// Patterns of shell commands.
#[cfg(feature = "shell")]
pub(crate) fn shell(sources: &[String]) -> Result<Patterns, Fault> {
    compiled(&tool_runtime_shell::ShellMatcher, sources, sources)
}

/// Patterns of shell commands.
#[cfg(not(feature = "shell"))]
pub(crate) fn shell(_: &[String]) -> Result<Patterns, Fault> {
    let text = "this program cannot compare shell commands";
    Err(Fault::new(text, "build it with the feature `shell` of `tool-runtime`"))
}
