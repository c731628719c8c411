//! Patches between `*** Begin Patch` and `*** End Patch`.

use super::{Anchor, FilePatch, Hunk};
use std::iter::Peekable;
use std::str::Lines;

pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
/// The lines that begin a file.
const FILES: [&str; 3] = [ADD, DELETE, UPDATE];
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

/// Lines with their numbers, without those around the patch.
struct Parser<'p> {
    lines: Peekable<std::iter::Enumerate<std::iter::Chain<Lines<'p>, Lines<'p>>>>,
}

pub(super) fn parse(patch: &str) -> Result<Vec<FilePatch>, String> {
    // The last line may be indented, which would make it a line of a hunk.
    let end = patch.trim_end().len();
    let start = patch[..end].rfind('\n').map_or(0, |feed| feed + 1);
    let (before, last) = (&patch[..start], &patch[start..]);
    let last = if last.trim() == END { END } else { last };
    let lines = before.lines().chain(last.lines()).enumerate().peekable();
    let mut parser = Parser { lines };
    let mut patches = Vec::new();
    // Some models write a pair of markers for each file.
    while parser.begin()? {
        parser.files(&mut patches)?;
    }
    Ok(patches)
}

impl Parser<'_> {
    /// Skips what is around the patch, to the line after the next begin. Returns false if there is none.
    ///
    /// # Errors
    /// A file begins there: it would be left out.
    fn begin(&mut self) -> Result<bool, String> {
        for (number, line) in self.lines.by_ref() {
            let line = line.trim();
            if line == BEGIN {
                return Ok(true);
            }
            if FILES.iter().any(|start| line.starts_with(start)) {
                return Err(format!(
                    "line {} of the patch, `{line}`, is not between `{BEGIN}` and `{END}`; move it and the lines of its file there",
                    number + 1
                ));
            }
        }
        Ok(false)
    }

    /// The files up to the end of the patch.
    fn files(&mut self, patches: &mut Vec<FilePatch>) -> Result<(), String> {
        loop {
            match self.lines.next() {
                None => return Err(format!("the patch does not end with `{END}`")),
                Some((_, line)) if line.trim() == END => return Ok(()),
                Some((_, line)) if line.trim().is_empty() => {}
                Some((number, line)) => patches.push(self.file(number, line)?),
            }
        }
    }

    fn file(&mut self, number: usize, header: &str) -> Result<FilePatch, String> {
        let path =
            |prefix: &str| header.trim().strip_prefix(prefix).map(|path| path.trim().to_owned());
        if let Some(path) = path(ADD) {
            return Ok(FilePatch::Add { path, content: self.read_added()? });
        }
        if let Some(path) = path(DELETE) {
            return Ok(FilePatch::Delete { path, hunks: None });
        }
        let Some(path) = path(UPDATE) else {
            return Err(format!(
                "line {} of the patch is `{header}`; write `*** Add File: path`, `*** Update File: path` or `*** Delete File: path`",
                number + 1
            ));
        };
        let move_to = self.next_if(|line| line.trim_start().starts_with(MOVE));
        let move_to = move_to.map(|line| line.trim_start()[MOVE.len()..].trim().to_owned());
        Ok(FilePatch::Update { path, move_to, hunks: self.hunks()? })
    }

    /// The next line, if it is part of the same file and meets a condition.
    fn next_if(&mut self, accepts: impl Fn(&str) -> bool) -> Option<&str> {
        self.lines.next_if(|(_, line)| accepts(line)).map(|(_, line)| line)
    }

    fn read_added(&mut self) -> Result<String, String> {
        let mut content = String::new();
        while let Some((number, line)) = self.lines.next_if(|(_, line)| !line.starts_with("***")) {
            match line.strip_prefix('+') {
                Some(line) => content.extend([line, "\n"]),
                // Between two files.
                None if line.trim().is_empty() => {}
                None => {
                    return Err(format!(
                        "line {} of the patch does not begin with `+`",
                        number + 1
                    ));
                }
            }
        }
        Ok(content)
    }

    fn hunks(&mut self) -> Result<Vec<Hunk>, String> {
        let is_header = |line: &str| line.starts_with("***") && line.trim() != END_OF_FILE;
        let mut hunks = Vec::new();
        let mut draft = Draft::default();
        while let Some((number, line)) = self.lines.next_if(|(_, line)| !is_header(line)) {
            if let Some(scope) = line.strip_prefix("@@") {
                hunks.extend(draft.take_whole());
                draft.scope(scope);
            } else if line.trim() == END_OF_FILE {
                draft.hunk.anchor = Anchor::End;
            } else {
                draft.line(line).map_err(|()| {
                    format!(
                        "line {} of the patch is `{line}`; begin it with a space, `+` or `-`",
                        number + 1
                    )
                })?;
            }
        }
        hunks.extend(draft.take_whole());
        for hunk in &mut hunks {
            // Lines without a header are appended.
            if hunk.old.is_empty() && hunk.scopes.is_empty() {
                hunk.anchor = Anchor::End;
            }
        }
        Ok(hunks)
    }
}

/// A hunk that is being read.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) hunk: Hunk,
    /// Empty lines without the space of context: context, or the gap to what follows.
    blank: usize,
}

impl Draft {
    pub(super) fn scope(&mut self, scope: &str) {
        let scope = scope.trim().trim_end_matches("@@").trim();
        if !scope.is_empty() {
            self.hunk.scopes.push(scope.to_owned());
        }
    }

    /// Adds a line.
    ///
    /// # Errors
    /// It begins with none of the three characters.
    pub(super) fn line(&mut self, line: &str) -> Result<(), ()> {
        if line.is_empty() {
            self.blank += 1;
            return Ok(());
        }
        let gap = "\n".repeat(std::mem::take(&mut self.blank));
        self.hunk.old.push_str(&gap);
        self.hunk.new.push_str(&gap);
        let (sides, rest) = line.split_at_checked(1).ok_or(())?;
        if !matches!(sides, " " | "+" | "-") {
            return Err(());
        }
        if sides != "+" {
            self.hunk.old.extend([rest, "\n"]);
        }
        if sides != "-" {
            self.hunk.new.extend([rest, "\n"]);
        }
        Ok(())
    }

    /// The hunk, if it has lines. Its scopes stay if it has none.
    pub(super) fn take_whole(&mut self) -> Option<Hunk> {
        self.blank = 0;
        let has_lines = !self.hunk.old.is_empty() || !self.hunk.new.is_empty();
        has_lines.then(|| std::mem::take(&mut self.hunk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_may_have_several_pairs_of_markers_and_no_file_outside_them() {
        let file = |name| format!("*** Add File: {name}\n+{name}\n");
        let pair = |name| format!("*** Begin Patch\n{}*** End Patch\n", file(name));
        assert_eq!(parse(&format!("First:\n{}Then:\n{}", pair("a"), pair("b"))).unwrap().len(), 2);
        for patch in [file("a") + &pair("b"), pair("b") + &file("a")] {
            let error = parse(&patch).unwrap_err();
            assert!(error.contains("`*** Add File: a`, is not between"), "{error}");
        }
    }

    #[test]
    fn a_patch_has_files_and_hunks() {
        let patch = "\
*** Begin Patch
*** Add File: new.txt
+one
+
*** Update File: a.rs
*** Move to: b.rs
@@ impl A {
@@ fn x() {
 keep
-old
+new

@@
-last
*** End of File
*** Delete File: c.rs
*** End Patch
";
        let hunk = |scopes: &[&str], old: &str, new: &str, anchor| Hunk {
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
            old: old.to_owned(),
            new: new.to_owned(),
            anchor,
        };
        let expected = [
            FilePatch::Add { path: "new.txt".into(), content: "one\n\n".into() },
            FilePatch::Update {
                path: "a.rs".into(),
                move_to: Some("b.rs".into()),
                hunks: vec![
                    hunk(&["impl A {", "fn x() {"], "keep\nold\n", "keep\nnew\n", Anchor::Anywhere),
                    hunk(&[], "last\n", "", Anchor::End),
                ],
            },
            FilePatch::Delete { path: "c.rs".into(), hunks: None },
        ];
        assert_eq!(parse(patch).unwrap(), expected);
    }

    #[test]
    fn mistakes_name_their_line() {
        let error = |patch: &str| parse(&format!("*** Begin Patch\n{patch}")).unwrap_err();
        assert_eq!(error("*** Delete File: a\n"), "the patch does not end with `*** End Patch`");
        assert!(error("a.rs\n").starts_with("line 2 of the patch is `a.rs`; write `*** Add File"));
        let patch = "*** Update File: a\n@@\nx\n*** End Patch";
        assert_eq!(error(patch), "line 4 of the patch is `x`; begin it with a space, `+` or `-`");
    }
}
