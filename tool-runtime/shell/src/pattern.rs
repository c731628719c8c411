//! Patterns: their syntax, and the comparison with words.

use crate::words::Quotes;
use crate::wrappers;
use std::fmt;
use std::str::FromStr;

/// A pattern of shell commands, such as `git *`. The syntax is on the [front page](crate#patterns).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellPattern {
    text: String,
    words: Vec<WordPattern>,
    /// Whether more words may follow.
    open: bool,
}

/// A text is not a valid pattern.
///
/// ```
/// # use tool_runtime_shell::ShellPattern;
/// let error = ShellPattern::parse("curl * | sh").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`curl * | sh` is not a valid shell pattern: `|` without quotes is a pipeline, which no plain command has; \
///      put it in single quotes"
/// );
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a valid shell pattern: {problem}")]
pub struct PatternError {
    pattern: String,
    problem: String,
}

tool_runtime_core::debug_as_message!(PatternError);

impl PatternError {
    /// The mistake, without the pattern.
    pub(crate) fn problem(&self) -> &str {
        &self.problem
    }
}

/// A word of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WordPattern {
    /// The literal text before, between and after the wildcards; never empty.
    parts: Vec<String>,
}

impl ShellPattern {
    /// Parses a pattern.
    ///
    /// ```
    /// # use tool_runtime_shell::ShellPattern;
    /// assert!(ShellPattern::parse("npm run test:*").is_ok());
    /// assert!(ShellPattern::parse("* install").is_err());
    /// ```
    ///
    /// # Errors
    /// The text is empty, begins with a wildcard or a keyword of the shell, or contains unquoted syntax
    /// of the shell, which no plain command has.
    pub fn parse(pattern: &str) -> Result<Self, PatternError> {
        read(pattern).map_err(|problem| PatternError {
            pattern: pattern.escape_debug().to_string(),
            problem,
        })
    }

    /// The first word, which is literal.
    pub(crate) fn program(&self) -> &str {
        self.words[0].prefix()
    }

    pub(crate) fn words(&self) -> &[WordPattern] {
        &self.words
    }

    /// Whether the words of a command match, independent of their effect on the program.
    pub(crate) fn describes(&self, words: &[String]) -> bool {
        self.program() == words[0] && self.describes_rest(words)
    }

    /// Whether the words match if only the name of the program counts, not its directory.
    pub(crate) fn describes_by_name(&self, words: &[String]) -> bool {
        wrappers::base_name(self.program()) == wrappers::base_name(&words[0])
            && self.describes_rest(words)
    }

    /// Whether options are written before the subcommand that the pattern names.
    pub(crate) fn has_options_before(&self, words: &[String]) -> bool {
        let subcommand = self.words.get(1).filter(|word| word.is_literal());
        let is_option = |word: &str| word.starts_with(['-', '+']);
        subcommand.map(WordPattern::prefix).is_some_and(|name| {
            wrappers::base_name(self.program()) == wrappers::base_name(&words[0])
                && !is_option(name)
                && words.get(1).is_some_and(|word| is_option(word))
                && words[1..].iter().any(|word| word == name)
        })
    }

    fn describes_rest(&self, words: &[String]) -> bool {
        let enough =
            words.len() == self.words.len() || (self.open && words.len() > self.words.len());
        let mut pairs = self.words.iter().zip(words).skip(1);
        enough && pairs.all(|(pattern, word)| pattern.matches(word))
    }
}

impl FromStr for ShellPattern {
    type Err = PatternError;

    fn from_str(pattern: &str) -> Result<Self, PatternError> {
        Self::parse(pattern)
    }
}

/// Shows the pattern as it was given.
impl fmt::Display for ShellPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl WordPattern {
    pub(crate) fn is_literal(&self) -> bool {
        self.parts.len() == 1
    }

    fn is_any(&self) -> bool {
        self.parts.len() > 1 && self.parts.iter().all(String::is_empty)
    }

    /// The text before the first wildcard.
    pub(crate) fn prefix(&self) -> &str {
        &self.parts[0]
    }

    fn matches(&self, word: &str) -> bool {
        if self.is_literal() {
            return self.prefix() == word;
        }
        self.is_any() || (!self.climbs(word) && in_order(&self.parts, word))
    }

    /// Whether a word has more components `..` than the pattern.
    fn climbs(&self, word: &str) -> bool {
        let allowed: usize = self.parts.iter().map(|part| parents(part)).sum();
        parents(word) > allowed
    }
}

fn parents(text: &str) -> usize {
    text.split(['/', '=', ':', ',', '\\']).filter(|component| *component == "..").count()
}

fn in_order(parts: &[String], word: &str) -> bool {
    let [first, middle @ .., last] = parts else { return false };
    let Some(mut rest) = word.strip_prefix(first.as_str()) else { return false };
    for part in middle {
        let Some(at) = rest.find(part.as_str()) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last.as_str())
}

fn read(pattern: &str) -> Result<ShellPattern, String> {
    let trimmed = pattern.trim_matches(' ');
    let (body, colon) = match trimmed.strip_suffix(":*") {
        Some(body) if !body.is_empty() && !body.ends_with(' ') => (body, true),
        _ => (trimmed, false),
    };
    let mut words = split(body)?;
    let star = !colon && words.len() > 1 && words.last().is_some_and(|word| word.parts == ["", ""]);
    if star {
        words.pop();
    }
    check_program(words.first().ok_or("it is empty; name a program")?)?;
    Ok(ShellPattern { text: pattern.to_owned(), words, open: star || colon })
}

fn check_program(word: &WordPattern) -> Result<(), String> {
    let name = word.prefix();
    if !word.is_literal() {
        return Err("its first word contains `*`; name the program, as in `git *`".to_owned());
    }
    if name.is_empty() || name.contains('=') {
        return Err("its first word is not the name of a program".to_owned());
    }
    if wrappers::is_keyword(name) {
        return Err(format!("`{name}` is a keyword of the shell, not a program"));
    }
    Ok(())
}

fn split(pattern: &str) -> Result<Vec<WordPattern>, String> {
    let mut words = Vec::new();
    let mut word: Option<WordPattern> = None;
    let mut quotes = Quotes::default();
    for c in pattern.chars() {
        if c.is_control() || (c != ' ' && c.is_whitespace()) {
            return Err(format!("it contains {c:?}; separate words by spaces"));
        }
        if c == ' ' && !quotes.is_open() {
            words.extend(word.take());
            quotes.restart();
            continue;
        }
        word.get_or_insert_with(WordPattern::empty).push(c, &mut quotes)?;
    }
    if quotes.is_open() {
        return Err("a quote is not closed".to_owned());
    }
    words.extend(word);
    Ok(words)
}

impl WordPattern {
    fn empty() -> Self {
        Self { parts: vec![String::new()] }
    }

    fn push(&mut self, c: char, quotes: &mut Quotes) -> Result<(), String> {
        if c == '*' && !quotes.is_open() {
            quotes.skip(c);
            self.parts.push(String::new());
            return Ok(());
        }
        let quoted = quotes.is_open();
        let decoded = quotes.next(c).map_err(|what| interpreted(c, quoted, what))?;
        if let (Some(c), Some(part)) = (decoded, self.parts.last_mut()) {
            part.push(c);
        }
        Ok(())
    }
}

fn interpreted(c: char, quoted: bool, what: &str) -> String {
    let context = if quoted { "in double quotes" } else { "without quotes" };
    format!("`{c}` {context} is {what}, which no plain command has; put it in single quotes")
}
