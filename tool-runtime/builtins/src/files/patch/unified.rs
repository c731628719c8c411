//! Unified diffs, also those of git.

use super::begin_end::Draft;
use super::{Anchor, FilePatch, Hunk};

const NULL: &str = "/dev/null";
/// The prefixes of git: by default, and with `diff.mnemonicPrefix` of the commit, index and working tree that it compares.
const PREFIXES: [[&str; 2]; 5] =
    [["a/", "b/"], ["i/", "w/"], ["c/", "i/"], ["c/", "w/"], ["o/", "w/"]];

/// The file that is being read.
#[derive(Default)]
struct File {
    /// The line `diff --git`, with its number.
    header: Option<(usize, String)>,
    old: Option<String>,
    new: Option<String>,
    changes_mode: bool,
    /// Whether it is a symbolic link.
    is_link: bool,
    hunks: Vec<Hunk>,
    draft: Draft,
    /// Whether a hunk has begun.
    in_body: bool,
    /// Lines of the old and the new side that the current hunk still needs, as its header states them.
    missing: [usize; 2],
    /// Lines of the old and the new side that the last line is.
    last: [usize; 2],
}

pub(super) fn parse(patch: &str) -> Result<Vec<FilePatch>, String> {
    let lines: Vec<&str> = patch.lines().collect();
    let mut patches = Vec::new();
    let mut file = File::default();
    for (number, line) in lines.iter().enumerate() {
        let next = |distance: usize| lines.get(number + distance).copied().unwrap_or_default();
        let is_header = line.starts_with("--- ")
            && next(1).starts_with("+++ ")
            // The counts of models are often wrong. With [1, 1] they fit to these two lines.
            && (file.missing == [0; 2] || next(2).starts_with("@@") && file.missing != [1; 2]);
        if line.starts_with("diff --git ") || is_header && file.in_body {
            patches.extend(std::mem::take(&mut file).finish()?);
        }
        if line.starts_with("diff --git ") {
            file.header = Some((number + 1, (*line).to_owned()));
        }
        file.line(line, is_header).map_err(|()| {
            format!(
                "line {} of the patch is `{line}`; begin it with a space, `+` or `-`",
                number + 1
            )
        })?;
    }
    patches.extend(file.finish()?);
    Ok(patches)
}

impl File {
    fn line(&mut self, line: &str, is_header: bool) -> Result<(), ()> {
        let has_mode = ["old mode", "new mode", "new file mode", "deleted file mode", "index "];
        if !self.in_body && line.ends_with(" 120000") {
            self.is_link |= has_mode.iter().any(|start| line.starts_with(start));
        }
        if !self.in_body && (line.starts_with("old mode ") || line.starts_with("new mode ")) {
            self.changes_mode = true;
        } else if !self.in_body && line.starts_with("new file mode ") {
            self.changes_mode |= !line.ends_with("100644");
        } else if is_header || !self.in_body && line.starts_with("rename from ") {
            self.old = Some(path_of(line));
        } else if !self.in_body && (line.starts_with("+++ ") || line.starts_with("rename to ")) {
            self.new = Some(path_of(line));
        } else if let Some(scope) = line.strip_prefix("@@") {
            self.begin_hunk(line, scope);
        } else if line.starts_with("\\ ") {
            self.without_newline();
        } else if self.in_body && line == "-- " && self.missing == [0; 2] {
            // A mail of git ends with its version.
            self.in_body = false;
        } else if self.in_body {
            return self.body(line);
        }
        Ok(())
    }

    fn begin_hunk(&mut self, line: &str, scope: &str) {
        self.hunks.extend(self.draft.take_whole());
        self.in_body = true;
        match counts(line) {
            Some([old, new]) => {
                self.missing = [old.1, new.1];
                if old == (0, 0) {
                    self.draft.hunk.anchor = Anchor::Start;
                }
            }
            None => self.draft.scope(scope),
        }
    }

    fn body(&mut self, line: &str) -> Result<(), ()> {
        let sides = match line.as_bytes().first() {
            Some(b'-') => [1, 0],
            Some(b'+') => [0, 1],
            _ => [1, 1],
        };
        for (missing, count) in self.missing.iter_mut().zip(sides) {
            *missing = missing.saturating_sub(count);
        }
        self.last = sides;
        self.draft.line(line)
    }

    /// The line before has no newline, on its sides.
    fn without_newline(&mut self) {
        let Hunk { old, new, .. } = &mut self.draft.hunk;
        for (side, count) in [old, new].into_iter().zip(self.last) {
            if count == 1 && side.ends_with('\n') {
                side.pop();
            }
        }
    }

    fn finish(mut self) -> Result<Option<FilePatch>, String> {
        self.hunks.extend(self.draft.take_whole());
        let header =
            || self.header.as_ref().map_or(String::new(), |(_, line)| format!(" (`{line}`)"));
        if self.is_link {
            return Err(format!(
                "the patch is about a symbolic link{}, which this tool does not change; remove the section, and run `ln -s` or `rm` by a command",
                header()
            ));
        }
        if self.changes_mode {
            let header = header();
            return Err(format!(
                "the patch sets the mode of a file{header}, which this tool does not; remove the lines `old mode` and `new mode`, write `new file mode 100644`, and run `chmod` by a command"
            ));
        }
        let (Some(old), Some(new)) = (self.old, self.new) else {
            let Some((number, line)) = self.header else { return Ok(None) };
            return Err(format!(
                "line {number} of the patch, `{line}`, begins a section without lines; binary and empty files cannot be patched"
            ));
        };
        let [old, new] = without_prefixes(old, new);
        let patch = match (old.as_str(), new.as_str()) {
            (NULL, NULL) => return Err("both sides of the patch are `/dev/null`".to_owned()),
            (NULL, _) => {
                let content = self.hunks.iter().map(|hunk| hunk.new.as_str()).collect();
                FilePatch::Add { path: new, content }
            }
            (_, NULL) => FilePatch::Delete { path: old, hunks: Some(self.hunks) },
            _ => {
                let move_to = (old != new).then_some(new);
                FilePatch::Update { path: old, move_to, hunks: self.hunks }
            }
        };
        Ok(Some(patch))
    }
}

/// The path of a header, without its time.
fn path_of(line: &str) -> String {
    let prefixes = ["--- ", "+++ ", "rename from ", "rename to "];
    let path = prefixes.into_iter().find_map(|prefix| line.strip_prefix(prefix)).unwrap_or(line);
    let path = path.split('\t').next().unwrap_or_default().trim_end();
    unquote(path).unwrap_or_else(|| path.to_owned())
}

/// A path in quotes, as git writes those with characters outside ASCII: `"a/f\303\274.txt"`.
fn unquote(path: &str) -> Option<String> {
    let mut rest = path.strip_prefix('"')?.strip_suffix('"')?.bytes();
    let mut bytes = Vec::new();
    while let Some(byte) = rest.next() {
        let escaped = if byte == b'\\' { rest.next()? } else { 0 };
        bytes.push(match (byte, escaped) {
            (b'\\', b'0'..=b'3') => {
                let digits = [escaped, rest.next()?, rest.next()?];
                u8::from_str_radix(str::from_utf8(&digits).ok()?, 8).ok()?
            }
            (b'\\', b'a') => 0x07,
            (b'\\', b'b') => 0x08,
            (b'\\', b't') => b'\t',
            (b'\\', b'n') => b'\n',
            (b'\\', b'v') => 0x0b,
            (b'\\', b'f') => 0x0c,
            (b'\\', b'r') => b'\r',
            (b'\\', b'"' | b'\\') => escaped,
            (b'\\', _) => return None,
            _ => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// The paths without `a/` and `b/`.
fn without_prefixes(old: String, new: String) -> [String; 2] {
    let side = |path: &str, prefix| match path.strip_prefix(prefix) {
        Some(bare) => Some(bare.to_owned()),
        None => (path == NULL).then(|| path.to_owned()),
    };
    let pairs = PREFIXES.iter().map(|[from, to]| (side(&old, from), side(&new, to)));
    let bare = pairs.filter_map(|(old, new)| Some([old?, new?])).next();
    bare.unwrap_or([old, new])
}

/// The first line and the number of lines of both sides: `@@ -1,2 +3,4 @@`.
fn counts(header: &str) -> Option<[(usize, usize); 2]> {
    let mut parts = header.split(' ').skip(1);
    let mut count = |sign: char| {
        let range = parts.next()?.strip_prefix(sign)?;
        let (first, count) = range.split_once(',').unwrap_or((range, "1"));
        Some((first.parse().ok()?, count.parse().ok()?))
    };
    Some([count('-')?, count('+')?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(old: &str, new: &str) -> Hunk {
        Hunk { old: old.to_owned(), new: new.to_owned(), ..Hunk::default() }
    }

    fn update(path: &str, move_to: Option<&str>, hunks: Vec<Hunk>) -> FilePatch {
        FilePatch::Update { path: path.to_owned(), move_to: move_to.map(str::to_owned), hunks }
    }

    #[test]
    fn prefixes_of_git_are_removed() {
        for (old, new) in [("a/x", "b/x"), ("i/x", "w/x"), ("c/x", "i/x"), ("o/x", "w/x")] {
            let patches = parse(&format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n")).unwrap();
            assert_eq!(patches, [update("x", None, vec![hunk("a\n", "b\n")])]);
        }
    }

    #[test]
    fn a_diff_of_git_has_several_files() {
        let patch = "\
diff --git a/a.rs b/a.rs
index 1..2 100644
--- a/a.rs
+++ b/a.rs
@@ -1,2 +1,2 @@ fn x()
 keep
--- old
+++ new
@@ -9 +9,2 @@
 last
+more
diff --git a/b.rs b/c.rs
similarity index 90%
rename from b.rs
rename to c.rs
--- a/b.rs
+++ b/c.rs
@@ -3,1 +3,1 @@
-x
\\ No newline at end of file
+y
\\ No newline at end of file
diff --git a/n b/n
new file mode 100644
--- /dev/null
+++ b/n
@@ -0,0 +1 @@
+new
diff --git a/d b/d
--- a/d\t2026-01-01
+++ /dev/null
@@ -1 +0,0 @@
-gone
";
        let expected = [
            update(
                "a.rs",
                None,
                vec![hunk("keep\n-- old\n", "keep\n++ new\n"), hunk("last\n", "last\nmore\n")],
            ),
            update("b.rs", Some("c.rs"), vec![hunk("x", "y")]),
            FilePatch::Add { path: "n".into(), content: "new\n".into() },
            FilePatch::Delete { path: "d".into(), hunks: Some(vec![hunk("gone\n", "")]) },
        ];
        assert_eq!(parse(patch).unwrap(), expected);
    }

    #[test]
    fn a_rename_alone_has_no_hunks() {
        let patch = "diff --git a/b b/c\nrename from b\nrename to c\n";
        assert_eq!(parse(patch).unwrap(), [update("b", Some("c"), vec![])]);
    }

    #[test]
    fn quoted_paths_of_git_are_read() {
        let patch = r#"diff --git "a/f\303\274 \"x\".txt" "b/tab\there"
rename from "f\303\274 \"x\".txt"
rename to "tab\there"
"#;
        let expected = update("fü \"x\".txt", Some("tab\there"), vec![]);
        assert_eq!(parse(patch).unwrap(), [expected]);
        let patch = "--- \"a/\\303\\274\"\n+++ \"b/\\303\\274\"\n@@ -1 +1 @@\n-a\n+b\n";
        let expected = update("ü", None, vec![hunk("a\n", "b\n")]);
        assert_eq!(parse(patch).unwrap(), [expected]);
        for path in [r#""a\x""#, r#""a\30""#, r#""a\377""#, r#""a\""#, r#"""#, "a\""] {
            assert_eq!(unquote(path), None, "{path}");
        }
    }

    #[test]
    fn counts_of_headers_may_be_wrong() {
        let patch =
            "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\n+b\n\n--- a/y\n+++ b/y\n@@ @@\n-c\n+d\n";
        let parsed = parse(patch).unwrap();
        let expected = [
            update("x", None, vec![hunk("a\n", "b\n")]),
            update("y", None, vec![hunk("c\n", "d\n")]),
        ];
        assert_eq!(parsed, expected);
    }
}
