//! Marks in the output of a terminal's shell: the end of a command, with its exit code and the directory.
//!
//! The shell writes `ESC ] 7337 ; TOKEN ; CODE ; DIRECTORY BEL` before each prompt, a sequence that terminals ignore.
//! The token is random, so that no output of a command looks like it.

use std::path::PathBuf;

/// Bytes of a mark after which it is not one.
const MAX_MARK: usize = 8 << 10;

/// The end of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prompt {
    pub(super) exit_code: i32,
    pub(super) directory: PathBuf,
}

/// Takes the marks out of an output.
pub(super) struct Marker {
    start: Vec<u8>,
    /// The end of the output that may begin a mark.
    pending: Vec<u8>,
}

impl Marker {
    pub(super) fn new(token: &str) -> Self {
        Self { start: format!("\x1b]7337;{token};").into_bytes(), pending: Vec::new() }
    }

    /// A script that makes bash write the mark, and nothing else, before its prompts. It keeps the exit code.
    pub(super) fn prompt_script(token: &str) -> String {
        // The group hides the trace of `set -x`. The shell's own output may be elsewhere, after `exec >file`.
        let print = format!(
            r#"{{ builtin printf "\033]7337;{token};%d;%s\007" "$?" "$PWD" >/dev/tty; }} 2>/dev/null"#
        );
        [
            "tool_runtime_status=$?",
            "unset -v PROMPT_COMMAND PS0",
            &format!("PS1= PS2= PROMPT_COMMAND='{print}'"),
            "return $tool_runtime_status",
            "",
        ]
        .join("\n")
    }

    /// Passes output without marks on, and returns the last mark.
    pub(super) fn scan(&mut self, bytes: &[u8], mut output: impl FnMut(&[u8])) -> Option<Prompt> {
        self.pending.extend_from_slice(bytes);
        let mut last = None;
        while let Some(at) = find(&self.pending, &self.start) {
            let Some(end) = self.pending[at..].iter().position(|byte| *byte == b'\x07') else {
                break;
            };
            output(&self.pending[..at]);
            last = prompt(&self.pending[at + self.start.len()..at + end]).or(last);
            self.pending.drain(..=at + end);
        }
        let held = self.held();
        let passed = self.pending.len() - held;
        output(&self.pending[..passed]);
        self.pending.drain(..passed);
        last
    }

    /// Bytes at the end that may belong to a mark.
    fn held(&self) -> usize {
        let pending = &self.pending;
        if let Some(at) = find(pending, &self.start) {
            let length = pending.len() - at;
            return if length > MAX_MARK { 0 } else { length };
        }
        let longest = self.start.len().min(pending.len() + 1) - 1;
        (1..=longest).rev().find(|length| pending.ends_with(&self.start[..*length])).unwrap_or(0)
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

/// `CODE;DIRECTORY`
fn prompt(bytes: &[u8]) -> Option<Prompt> {
    let text = String::from_utf8_lossy(bytes);
    let (code, directory) = text.split_once(';')?;
    Some(Prompt { exit_code: code.parse().ok()?, directory: directory.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output and the last mark, with the bytes in pieces of a length.
    fn scan(text: &str, length: usize) -> (String, Option<Prompt>) {
        let (mut marker, mut output, mut last) = (Marker::new("t"), Vec::new(), None);
        for piece in text.as_bytes().chunks(length) {
            last = marker.scan(piece, |bytes| output.extend_from_slice(bytes)).or(last);
        }
        (String::from_utf8(output).unwrap(), last)
    }

    #[test]
    fn marks_are_taken_out_however_they_arrive() {
        let text = "a\x1b[1mb\x1b]7337;t;0;/x\x07c\x1b]7337;t;7;/y;z\x07d";
        for length in 1..text.len() {
            let (output, last) = scan(text, length);
            assert_eq!(output, "a\x1b[1mbcd", "{length}");
            assert_eq!(last, Some(Prompt { exit_code: 7, directory: "/y;z".into() }));
        }
    }

    #[test]
    fn other_sequences_stay() {
        let text = "\x1b]7337;other;0;/\x07 \x1b]0;title\x07.";
        assert_eq!(scan(text, 3), (text.to_owned(), None));
        let (output, _) = scan("\x1b]7337;t;x;/\x07.", 4);
        assert_eq!(output, ".");
    }
}
