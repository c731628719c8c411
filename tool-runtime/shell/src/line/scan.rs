//! Finds the operators of a line outside quotes.

use super::heredoc::{self, Heredoc};
use super::redirection::{self, Redirection};
use crate::reason::Reason;
use crate::words::{Quotes, interpreted};

/// A part of a line between operators.
#[derive(Debug)]
pub(super) struct Segment<'t> {
    /// The words, without the redirections after them.
    pub(super) text: &'t str,
    /// Whether it reads the output of the segment before it.
    pub(super) is_piped: bool,
    pub(super) has_document: bool,
}

impl Segment<'_> {
    pub(super) fn has_input(&self) -> bool {
        self.is_piped || self.has_document
    }
}

/// What is between two segments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// `;` or a line break, after which nothing need follow.
    End,
    /// `&&` or `||`.
    List,
    Pipe,
}

struct Scanner<'t> {
    line: &'t str,
    at: usize,
    /// Here-documents whose text begins at the next line break.
    pending: Vec<Heredoc<'t>>,
}

/// # Errors
/// The line is more than lists and pipelines of words with harmless redirections.
pub(super) fn segments(line: &str) -> Result<Vec<Segment<'_>>, Reason> {
    let mut scanner = Scanner { line, at: 0, pending: Vec::new() };
    let mut segments = Vec::new();
    let mut operator = Operator::End;
    loop {
        scanner.skip_blanks()?;
        if scanner.rest().is_empty() {
            break;
        }
        let mut segment = scanner.segment()?;
        segment.is_piped = operator == Operator::Pipe;
        segments.push(segment);
        operator = scanner.operator()?;
    }
    match operator {
        _ if !scanner.pending.is_empty() => Err(heredoc::unfinished()),
        Operator::End => Ok(segments),
        _ => Err(Reason::Construct("an operator without a command after it")),
    }
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        &self.line[self.at..]
    }

    /// Skips spaces, line breaks, and the here-documents after these.
    fn skip_blanks(&mut self) -> Result<(), Reason> {
        loop {
            match self.rest().as_bytes().first() {
                Some(b' ') => self.at += 1,
                Some(b'\n') => self.line_break()?,
                _ => return Ok(()),
            }
        }
    }

    fn line_break(&mut self) -> Result<(), Reason> {
        self.at += 1;
        for document in std::mem::take(&mut self.pending) {
            self.at += document.length(self.rest())?;
        }
        Ok(())
    }

    /// Takes words and the redirections after them, up to an operator.
    fn segment(&mut self) -> Result<Segment<'t>, Reason> {
        let start = self.at;
        let (mut quotes, mut end, mut has_document) = (Quotes::default(), None, false);
        let mut is_word_start = true;
        while let Some(c) = self.rest().chars().next() {
            if !quotes.is_open() {
                if is_word_start
                    && let Some((redirection, length)) = redirection::read(self.rest())?
                {
                    end.get_or_insert(self.at);
                    has_document |= matches!(redirection, Redirection::Document(_));
                    self.pending.extend(redirection.document());
                    self.at += length;
                    is_word_start = false;
                    continue;
                }
                if matches!(c, ';' | '|' | '&' | '\n') {
                    break;
                }
                is_word_start = c == ' ';
                if is_word_start {
                    quotes.restart();
                    self.at += 1;
                    continue;
                }
                if end.is_some() {
                    return Err(Reason::Construct("a word after a redirection"));
                }
            }
            self.quoted_or_plain(c, &mut quotes)?;
        }
        if quotes.is_open() {
            return Err(Reason::Construct("an open quote"));
        }
        let text = self.line[start..end.unwrap_or(self.at)].trim_end_matches(' ');
        match text.is_empty() {
            true => Err(Reason::Construct("an operator or a redirection without a command")),
            false => Ok(Segment { text, is_piped: false, has_document }),
        }
    }

    fn quoted_or_plain(&mut self, c: char, quotes: &mut Quotes) -> Result<(), Reason> {
        if c == '\n' {
            return Err(Reason::ControlCharacter(c));
        }
        quotes.next(c).map_err(|what| interpreted(c, self.word(), what))?;
        self.at += c.len_utf8();
        Ok(())
    }

    /// The text from the beginning of the word at the present position.
    fn word(&self) -> &'t str {
        let start = self.line[..self.at].rfind([' ', '\n']).map_or(0, |at| at + 1);
        &self.line[start..]
    }

    fn operator(&mut self) -> Result<Operator, Reason> {
        let rest = self.rest();
        let (operator, length) = match rest.as_bytes() {
            [] => (Operator::End, 0),
            // The line break is skipped together with the here-documents after it.
            [b'\n', ..] => (Operator::End, 0),
            [b';', b';' | b'&', ..] => return Err(Reason::Construct("`;;`")),
            [b';', ..] => (Operator::End, 1),
            [b'&', b'&', ..] | [b'|', b'|', ..] => (Operator::List, 2),
            [b'|', b'&', ..] => return Err(Reason::Construct("`|&`")),
            [b'|', ..] => (Operator::Pipe, 1),
            _ => return Err(Reason::Construct("an `&`")),
        };
        self.at += length;
        Ok(operator)
    }
}
