//! Ids of foreign tools: `server.tool`, in allowed characters.

use sha2::{Digest as _, Sha256};
use tool_runtime_core::seam::{MAX_LENGTH, hex, is_allowed};

/// The digits of a hash in a suffix.
const DIGITS: usize = 8;

/// The prefix of the ids of a server's tools: its name, with `_` for characters that are not
/// allowed in ids.
pub(super) fn prefix(server: &str) -> String {
    let prefix: String = server.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect();
    if prefix.chars().any(|c| c.is_ascii_alphanumeric()) {
        prefix
    } else {
        suffixed(&prefix, &[server])
    }
}

/// The id of a tool. A name that is not a valid id gets a suffix from its hash, so that ids stay
/// distinct. Without a prefix, dots are not allowed: the id could have the prefix of another
/// server.
pub(super) fn id(prefix: &str, tool: &str) -> String {
    let is_kept = |c| is_allowed(c) && !(c == '.' && prefix.is_empty());
    let name: String = tool.chars().map(|c| if is_kept(c) { c } else { '_' }).collect();
    let id = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
    let is_name = name.chars().any(|c| c.is_ascii_alphanumeric());
    if is_name && name == tool && id.len() <= MAX_LENGTH {
        id
    } else {
        suffixed(&id, &[prefix, tool])
    }
}

/// The id for the second of two tools with one id.
pub(super) fn distinct(id: &str, server: &str, tool: &str) -> String {
    suffixed(id, &[server, tool])
}

/// Adds the beginning of a SHA-256 hash, which is the same in every build.
fn suffixed(id: &str, of: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in of {
        hash.update(part);
        // UTF-8 does not contain this byte, so that different lists of parts have different bytes.
        hash.update([0xff]);
    }
    let digits = hex(&hash.finalize()[..DIGITS / 2]);
    let id: String = id.chars().take(MAX_LENGTH - DIGITS - 1).collect();
    format!("{id}-{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tool_runtime_core::seam::problem;

    #[test]
    fn plain_names_stay_as_they_are() {
        assert_eq!(id(&prefix("git"), "git_log"), "git.git_log");
        assert_eq!(id(&prefix("my-server.v2"), "a.b"), "my-server.v2.a.b");
        assert_eq!(id("", "search"), "search");
        assert_eq!(prefix("My Server"), "My_Server");
    }

    #[test]
    fn names_that_are_invalid_ids_stay_distinct() {
        assert_ne!(id("s", "a b"), id("s", "a_b"));
        assert_ne!(id("s", "a b"), id("s", "a/b"));
        assert_ne!(id("s", &"x".repeat(200)), id("s", &"x".repeat(201)));
        assert_ne!(prefix("файлы"), prefix("папки"));
        // An empty name and names of parent directories are not valid.
        assert_ne!(id("s", ""), "s.");
        assert_ne!(id("s", ".."), "s...");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        let id = id(&"ф".repeat(70), &"x".repeat(200));
        assert!(id.starts_with('ф') && id.chars().count() <= MAX_LENGTH, "{id}");
    }

    #[test]
    fn a_tool_without_prefix_cannot_have_the_id_of_another_server() {
        assert_eq!(id("", "push"), "push");
        assert!(!id("", "git.push").contains('.'));
    }

    #[test]
    fn suffixes_are_stable() {
        assert_eq!(id("s", "a b"), "s.a_b-10137eff");
    }

    proptest! {
        #![proptest_config(crate::property::cases(256))]

        #[test]
        fn every_name_gives_an_id(server in "\\PC{1,200}", tool in "\\PC{1,200}") {
            let id = id(&prefix(&server), &tool);
            prop_assert_eq!(problem(&id), None, "{}", id);
        }
    }
}
