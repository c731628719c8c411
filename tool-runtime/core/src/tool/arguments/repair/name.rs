//! Repairs names of tools.

use super::fold_name;
use crate::vocabulary::wire_name::wire_name;

/// Prefixes that models add to names.
const PREFIXES: [&str; 8] =
    ["functions.", "function.", "default_api.", "default_api:", "tools.", "tool.", "api.", "mcp__"];

/// The only name that a malformed name can refer to. Call it after the lookup of the exact name.
pub(crate) fn nearest_name<'a>(
    written: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let bare = bare(written);
    let exact =
        |wanted: &str| names.clone().find(|name| *name == wanted || wire_name(name) == wanted);
    exact(&bare)
        .or_else(|| {
            let unprefixed = PREFIXES.iter().find_map(|prefix| bare.strip_prefix(prefix));
            unprefixed.and_then(|rest| exact(rest).or_else(|| only(rest, names.clone())))
        })
        .or_else(|| only(&bare, names.clone()))
}

/// The only name that differs by case and separators alone.
fn only<'a>(written: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = fold_name(written);
    let mut same = names.filter(|name| fold_name(name) == wanted);
    let found = same.next().filter(|_| !wanted.is_empty())?;
    same.next().is_none().then_some(found)
}

/// The name without XML, quotes and counters around it: `<function=add>`, `add</tool_name>`, `add:0`.
pub(super) fn bare(written: &str) -> String {
    let mut text = written.trim();
    if let Some((inner, _)) = text.split_once("</") {
        text = inner;
    }
    if let Some(inner) = text.strip_prefix('<') {
        // `<function=add>` or `<tool>add`.
        text = match inner.split_once('>') {
            Some((tag, "")) => tag.rsplit_once(['=', ' ']).map_or(tag, |(_, name)| name),
            Some((_, inner)) => inner,
            None => inner,
        };
    }
    let text = text.split(['<', '>', '(', '{', '\n']).next().unwrap_or_default();
    let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`'));
    match text.rsplit_once(':') {
        Some((name, count)) if count.parse::<u32>().is_ok() => name.to_owned(),
        _ => text.to_owned(),
    }
}
