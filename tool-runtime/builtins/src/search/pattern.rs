//! Patterns of models, compiled, with errors that say what to write instead.

use crate::workspace::Location;
use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use std::borrow::Cow;
use tool_runtime::ToolError;

/// Bytes that a compiled pattern may take.
const MAX_PATTERN_SIZE: usize = 10 << 20;

/// A regular expression as ripgrep reads it.
pub(super) fn regex(
    pattern: &str,
    ignore_case: bool,
    multiline: bool,
) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .case_insensitive(ignore_case)
        .dot_matches_new_line(multiline)
        .size_limit(MAX_PATTERN_SIZE)
        .line_terminator((!multiline).then_some(b'\n'));
    builder.build(pattern).map_err(|error| {
        let advice = match pattern {
            _ if error.to_string().contains("not allowed") => {
                "set `multiline` to match across lines"
            }
            _ => "escape characters that are meant literally, as in `foo\\(` or `\\{`",
        };
        ToolError::user(format!("`pattern` is not a valid regular expression: {error}\n{advice}"))
    })
}

/// A pattern of paths, in which only `**` crosses directories.
pub(super) fn glob(pattern: &str) -> Result<GlobMatcher, ToolError> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| {
        ToolError::user(format!(
            "`pattern` is not a valid glob: {error}; write a literal bracket as `[[]`"
        ))
    })
}

/// A pattern in which the leading names that exist, such as `app/[slug]`, stand for themselves.
pub(super) fn with_existing_names(pattern: &str, exists: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let Some(special) = pattern.find(['[', '{']) else { return Cow::Borrowed(pattern) };
    let mut escaped = String::new();
    let mut rest = pattern;
    let mut end = 0;
    for name in pattern.split_inclusive('/') {
        end += name.len();
        let is_wild = name.contains(['*', '?', '\\']);
        if is_wild || end > special && !exists(pattern[..end].trim_end_matches('/')) {
            break;
        }
        escaped.extend(name.chars().map(|character| match character {
            '[' | ']' | '{' | '}' => format!("[{character}]"),
            _ => character.to_string(),
        }));
        rest = &pattern[end..];
    }
    Cow::Owned(escaped + rest)
}

/// The remark on brackets of a pattern without a match.
pub(super) fn bracket_advice(pattern: &str) -> Option<&'static str> {
    let advice = "brackets mean one of the characters in them: write a literal `[` as `[[]`";
    pattern.contains('[').then_some(advice)
}

/// The option `--glob` of ripgrep: `*.rs`, `!target/**`.
///
/// Leading names that exist below the directory stand for themselves.
pub(super) fn file_globs(
    location: &Location,
    globs: &[String],
) -> Result<Option<Override>, ToolError> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut builder = OverrideBuilder::new(location.absolute());
    for glob in globs {
        let (sign, names) = match glob.strip_prefix('!') {
            Some(names) => ("!", names),
            None => ("", glob.as_str()),
        };
        let exists = |name: &str| {
            let path = location.path().join(name.trim_start_matches('/'));
            location.root().dir().symlink_metadata(path).is_ok()
        };
        let names = with_existing_names(names, exists);
        builder.add(&format!("{sign}{names}")).map_err(|error| {
            ToolError::user(format!("`glob` is not valid: {error}; write for instance `*.rs`"))
        })?;
    }
    let globs = builder.build().map_err(|error| ToolError::user(format!("`glob`: {error}")))?;
    Ok(Some(globs))
}

/// The option `--type` of ripgrep: `rust`, `py`.
pub(super) fn file_type(name: &str) -> Result<Types, ToolError> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    builder.select(name).build().map_err(|_| {
        let near = near_types(&mut builder, name);
        let near = if near.is_empty() { String::new() } else { format!(" ({near})") };
        ToolError::user(format!("`{name}` is not a known type of files{near}; use `glob` instead"))
    })
}

/// Types with this ending, then those whose names begin with it.
fn near_types(builder: &mut TypesBuilder, name: &str) -> String {
    let name = name.trim_start_matches('.').to_lowercase();
    let ending = format!("*.{name}");
    let mut types = builder.definitions();
    types.retain(|known| known.globs().contains(&ending) || known.name().starts_with(&name));
    types.sort_by_key(|known| !known.globs().contains(&ending));
    types.iter().take(3).map(|known| format!("`{}`", known.name())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_cross_directories_by_two_stars_alone() {
        let cases = [
            ("*.rs", "a.rs", true),
            ("*.rs", "src/a.rs", false),
            ("**/*.rs", "a.rs", true),
            ("**/*.rs", "src/deep/a.rs", true),
            ("**/x", "foox", false),
            ("**/x", "a/x", true),
            ("src/**", "src/a/b", true),
            ("?.rs", "a.rs", true),
            ("?.rs", "ab.rs", false),
            ("*.{rs,toml}", "Cargo.toml", true),
            ("[ab].rs", "b.rs", true),
            ("[!ab].rs", "b.rs", false),
            ("[[]x]", "[x]", true),
        ];
        for (pattern, path, expected) in cases {
            assert_eq!(glob(pattern).unwrap().is_match(path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn names_that_exist_stand_for_themselves() {
        let exists = |path: &str| ["app/[slug]", "app/[slug]/[id].tsx", "{a,b}"].contains(&path);
        for (pattern, expected) in [
            ("app/[slug]/*.tsx", "app/[[]slug[]]/*.tsx"),
            ("app/[slug]/[id].tsx", "app/[[]slug[]]/[[]id[]].tsx"),
            ("{a,b}/x", "[{]a,b[}]/x"),
            ("app/[ab]/x", "app/[ab]/x"),
            ("**/[slug]/*.tsx", "**/[slug]/*.tsx"),
            ("*.{ts,tsx}", "*.{ts,tsx}"),
        ] {
            assert_eq!(with_existing_names(pattern, exists), expected);
        }
        assert!(glob("app/[[]slug[]]/*.tsx").unwrap().is_match("app/[slug]/a.tsx"));
        assert!(glob("[{]a,b[}]/x").unwrap().is_match("{a,b}/x"));
    }

    #[test]
    fn errors_name_the_position_and_the_remedy() {
        let error = regex("a(b", false, false).unwrap_err();
        assert!(error.message().contains("a(b") && error.message().contains("unclosed group"));
        assert!(error.message().contains("`foo\\(`"), "{}", error.message());
        let error = regex("a\\nb", false, false).unwrap_err();
        assert!(error.message().contains("set `multiline`"), "{}", error.message());
        assert!(glob("a[").unwrap_err().message().contains("`[[]`"));
        let error = file_type("rs").unwrap_err();
        assert!(error.message().contains("`rust`"), "{}", error.message());
    }
}
