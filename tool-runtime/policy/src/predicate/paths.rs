//! Paths in texts: one file has many spellings.

/// The longest string that is taken for a path, in bytes, as in Linux.
const MAX_PATH: usize = 4096;

/// The plain form of a string that may be a path in another one: with `.`, `..`, `//` or a `/` at its end. `None`: it is plain,
/// or no path. What `..` leads to is judged by the names, as by the tools for files.
pub(super) fn plain_path(text: &str) -> Option<String> {
    let may_be_path = text.contains('/') && text.len() <= MAX_PATH && !text.contains(['\n', '\0']);
    if !may_be_path || text.contains("://") {
        return None;
    }
    let mut names = Vec::new();
    for name in text.split('/') {
        match (name, names.last()) {
            ("" | ".", _) => {}
            ("..", Some(&last)) if last != ".." => drop(names.pop()),
            // Nothing is above the root.
            ("..", None) if text.starts_with('/') => {}
            _ => names.push(name),
        }
    }
    let root = if text.starts_with('/') { "/" } else { "" };
    let plain = format!("{root}{}", names.join("/"));
    (plain != text).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::plain_path;

    #[test]
    fn spellings_of_a_path_have_one_form() {
        for text in ["a.key/", "a.key/.", "./a.key", "a.key//", "pub/../a.key", "b/./.././a.key"] {
            assert_eq!(plain_path(text).as_deref(), Some("a.key"), "{text}");
        }
        assert_eq!(plain_path("/../etc//x").as_deref(), Some("/etc/x"));
        assert_eq!(plain_path("../../x/").as_deref(), Some("../../x"));
        for text in ["a.key", "/etc/x", "../x", "https://a//b/../c", "no path", "a/b\n/./c", ""] {
            assert_eq!(plain_path(text), None, "{text}");
        }
    }
}
