//! Paths in strings: one file has many spellings.

/// The longest string that is read as a path, in bytes. No file has a longer path, but a name in it may.
const MAX_PATH: usize = 256 << 10;

/// How a string reads as a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// As it is written, or it is no path.
    Plain,
    /// As another one: without `.`, `//` and `/` at its end.
    Other(String),
    /// It depends on links: a name is followed by `..`.
    Uncertain,
}

/// How a string reads as a path. Lines and URLs are compared as they are written and in plain form; one with `..` after a
/// name may be any path.
pub(super) fn reading(text: &str) -> Reading {
    if !text.contains('/') {
        return Reading::Plain;
    }
    let is_odd = |name: &str| matches!(name, "" | "." | "..");
    let mut inner = text.strip_prefix('/').unwrap_or(text).split('/');
    if !inner.clone().any(is_odd) {
        return Reading::Plain;
    }
    let has_parent = inner.any(|name| name == "..");
    if text.contains("://") && !has_parent {
        return Reading::Plain;
    }
    if text.len() > MAX_PATH {
        return Reading::Uncertain;
    }
    let (mut names, mut climbs) = (Vec::new(), false);
    for name in text.split('/') {
        match (name, names.last()) {
            ("" | ".", _) => {}
            ("..", Some(&last)) if last != ".." => {
                climbs = true;
                names.pop();
            }
            // Nothing is above the root.
            ("..", None) if text.starts_with('/') => {}
            _ => names.push(name),
        }
    }
    // A file may be written with relative imports in it.
    if climbs && !text.contains('\n') {
        return Reading::Uncertain;
    }
    let root = if text.starts_with('/') { "/" } else { "" };
    match format!("{root}{}", names.join("/")) {
        empty if empty.is_empty() => Reading::Other(".".to_owned()),
        plain if plain == text => Reading::Plain,
        plain => Reading::Other(plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_path_have_one_form() {
        let other = |text: &str| Reading::Other(text.to_owned());
        for text in ["a.key/", "a.key/.", "./a.key", "a.key//", "././a.key"] {
            assert_eq!(reading(text), other("a.key"), "{text}");
        }
        assert_eq!(reading("/../etc//x"), other("/etc/x"));
        assert_eq!(reading("../../x/"), other("../../x"));
        assert_eq!(reading("./"), other("."));
        assert_eq!(reading("import './a/../b'\n//"), other("import './b'\n"));
        for text in ["a.key", "/etc/x", "../x", "https://a//b/./c", "no path", "/", ""] {
            assert_eq!(reading(text), Reading::Plain, "{text}");
        }
        for text in ["pub/../a", "a/..", "pub/x://../../../secret", "/a/../b"] {
            assert_eq!(reading(text), Reading::Uncertain, "{text}");
        }
        let long = format!("pub/{}a", "./".repeat(MAX_PATH));
        assert_eq!(reading(&long), Reading::Uncertain);
    }
}
