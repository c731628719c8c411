//! The text of a terminal: lines as a person would have seen them, or the screen of a program that fills it.

use std::num::NonZeroU16;
use tool_runtime::__seam::escaped_text;

/// Size of the terminal.
pub(super) const ROWS: u16 = 40;
pub(super) const COLUMNS: u16 = 160;

/// The screen of a terminal.
pub(super) struct Screen(vt100::Parser);

impl Screen {
    pub(super) fn new() -> Self {
        let size = |cells| NonZeroU16::new(cells).unwrap_or(NonZeroU16::MIN);
        Self(vt100::Parser::new(size(ROWS), size(COLUMNS), 0))
    }

    pub(super) fn process(&mut self, bytes: &[u8]) {
        self.0.process(bytes);
    }

    /// The text of the screen, if a program such as an editor fills it.
    pub(super) fn of_program(&self) -> Option<String> {
        let screen = self.0.screen();
        screen.alternate_screen().then(|| escaped_text(&screen.contents()).into_owned())
    }
}

/// Sequences that clear a line from its beginning, and from the cursor.
const CLEAR_LINE: &str = "\x1b[2K";
const CLEAR_REST: [&str; 2] = ["\x1b[K", "\x1b[0K"];

/// Output as text: without escape sequences; a line that was written again counts once.
pub(super) fn plain(output: &str) -> String {
    let text = output.replace("\r\n", "\n");
    let text = text.split('\n').map(overwritten).collect::<Vec<_>>().join("\n");
    escaped_text(&text).into_owned()
}

/// A line as it looks after carriage returns: what is longer shows behind what was written over it.
fn overwritten(line: &str) -> String {
    let mut cells: Vec<char> = Vec::new();
    for part in line.split('\r') {
        let cleared = part.rsplit_once(CLEAR_LINE).map(|(_, after)| after);
        if cleared.is_some() || CLEAR_REST.iter().any(|clear| part.starts_with(clear)) {
            cells.clear();
        }
        let part = cleared.unwrap_or(part);
        for (column, letter) in strip_ansi_escapes::strip_str(part).chars().enumerate() {
            match cells.get_mut(column) {
                Some(cell) => *cell = letter,
                None => cells.push(letter),
            }
        }
    }
    cells.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_overwritten_lines_are_removed() {
        assert_eq!(plain("\x1b[31mred\x1b[0m\r\nplain\r\n"), "red\nplain\n");
        assert_eq!(plain("10%\r50%\r100%\r\ndone"), "100%\ndone");
        assert_eq!(plain("long line\rshort"), "shortline");
        assert_eq!(plain("long line\r\x1b[Kshort"), "short");
        assert_eq!(plain("long line\x1b[2K\rshort"), "short");
        assert_eq!(plain("\x1b]0;title\x07text"), "text");
    }

    #[test]
    fn a_program_that_fills_the_screen_shows_it() {
        let mut screen = Screen::new();
        screen.process(b"before\r\n");
        assert_eq!(screen.of_program(), None);
        screen.process(b"\x1b[?1049h\x1b[H\x1b[2Jtop\x1b[3;5Hbelow");
        assert_eq!(screen.of_program().unwrap().trim_end(), "top\n\n    below");
    }
}
