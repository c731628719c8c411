//! Words of commands and of patterns: plain characters, single quotes, double quotes.

use crate::reason::Reason;

/// Checks that a string consists of plain and quoted words.
///
/// # Errors
/// It contains a character that the shell interprets.
pub(crate) fn check(text: &str) -> Result<(), Reason> {
    let mut quotes = Quotes::default();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        if c == ' ' && !quotes.is_open() {
            quotes.restart();
            start = at + 1;
        } else if let Err(what) = quotes.next(c) {
            return Err(interpreted(c, &text[start..], what));
        }
    }
    if quotes.is_open() { Err(Reason::Construct("an open quote")) } else { Ok(()) }
}

/// The reason for a character at the beginning of which a shell does something; `rest` begins with its word.
pub(crate) fn interpreted(c: char, rest: &str, what: &'static str) -> Reason {
    if "|&;<>()#".contains(c) {
        return Reason::Construct(what);
    }
    let word = rest.split(' ').next().unwrap_or(rest);
    Reason::Interpreted { word: word.to_owned(), what }
}

/// Decodes one word of a command.
///
/// # Errors
/// The word contains a character that the shell interprets.
pub(crate) fn decode(word: &str) -> Result<String, Reason> {
    let interpreted = |what| Reason::Interpreted { word: word.to_owned(), what };
    let mut decoded = String::with_capacity(word.len());
    let mut quotes = Quotes::default();
    for c in word.chars() {
        if let Some(c) = quotes.next(c).map_err(interpreted)? {
            decoded.push(c);
        }
    }
    if quotes.is_open() { Err(interpreted("an open quote")) } else { Ok(decoded) }
}

/// Checks the first word of a command, which must be plain.
pub(crate) fn check_program(word: &str) -> Result<(), Reason> {
    decode(word)?;
    if word.contains(['\'', '"']) {
        return Err(Reason::QuotedProgram(word.to_owned()));
    }
    if word.contains('=') {
        return Err(Reason::Construct("an assignment"));
    }
    Ok(())
}

/// Reads a word character by character.
#[derive(Debug, Default)]
pub(crate) struct Quotes {
    open: Option<char>,
    previous: Option<char>,
}

impl Quotes {
    /// Takes a character: `None` for a quote, the character itself otherwise.
    ///
    /// # Errors
    /// The shell interprets the character; its name.
    pub(crate) fn next(&mut self, c: char) -> Result<Option<char>, &'static str> {
        let previous = self.previous.replace(c);
        match (self.open, c) {
            (Some(open), _) if open == c => self.open = None,
            (None, '\'' | '"') => self.open = Some(c),
            (Some('\''), _) => return Ok(Some(c)),
            (Some(_), _) => return in_double_quotes(c).map_or(Ok(Some(c)), Err),
            (None, _) => return unquoted(c, previous).map_or(Ok(Some(c)), Err),
        }
        Ok(None)
    }

    /// Whether the position is within quotes.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Takes a plain character whose meaning the caller defines.
    pub(crate) fn skip(&mut self, c: char) {
        self.previous = Some(c);
    }

    /// Begins the next word.
    pub(crate) fn restart(&mut self) {
        self.previous = None;
    }
}

fn in_double_quotes(c: char) -> Option<&'static str> {
    match c {
        '$' | '`' => Some("an expansion"),
        '\\' => Some("a backslash"),
        '!' => Some("a `!`"),
        _ => None,
    }
}

fn unquoted(c: char, previous: Option<char>) -> Option<&'static str> {
    match c {
        ' ' => Some("a space"),
        '*' | '?' | '[' | ']' => Some("a pattern of file names"),
        '{' | '}' => Some("a brace"),
        '|' => Some("a pipeline"),
        '&' => Some("an `&`"),
        ';' => Some("a separator"),
        '<' | '>' => Some("a redirection"),
        '(' | ')' => Some("a parenthesis"),
        '#' if previous.is_none() => Some("a comment"),
        '~' if !previous.is_some_and(keeps_tilde) => Some("a tilde"),
        _ => in_double_quotes(c),
    }
}

/// Whether a tilde after the character is plain, as in `HEAD~1`.
fn keeps_tilde(previous: char) -> bool {
    previous.is_alphanumeric() || matches!(previous, '^' | '~' | '/')
}
