//! Unified diffs for models.

use similar::TextDiff;
use std::time::Duration;

/// Limit on the characters of a diff.
const MAX_CHARACTERS: usize = 16_000;

/// Time after which a diff becomes coarser.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The changes of a file, cut with a notice. Empty if there are none.
pub(crate) fn unified(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let name = |side: &str, text: Option<&str>| match text {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let (old, new) = (name("a", before), name("b", after));
    let mut config = TextDiff::configure();
    let diff = config.timeout(TIMEOUT).diff_lines(before.unwrap_or(""), after.unwrap_or(""));
    cut(diff.unified_diff().context_radius(3).header(&old, &new).to_string())
}

fn cut(diff: String) -> String {
    let Some((end, _)) = diff.char_indices().nth(MAX_CHARACTERS) else { return diff };
    let end = diff[..end].rfind('\n').map_or(end, |at| at + 1);
    let rest = diff[end..].lines().count();
    format!("{}[{rest} more lines of the diff are not shown; read the file]\n", &diff[..end])
}
