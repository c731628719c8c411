//! The opinion of brush-parser on a command.

use brush_parser::ast::{
    Command, CommandPrefixOrSuffixItem, IoFileRedirectTarget, IoRedirect, Pipeline, Program,
    SeparatorOperator, SimpleCommand, Word,
};
use brush_parser::word::{self, BraceExpressionOrText, WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions};

pub(crate) enum Opinion {
    /// Lists and pipelines of simple commands without assignments and expansions, and with redirections that touch no
    /// file: the decoded words of each.
    Plain(Vec<Vec<String>>),
    /// Something else, or a syntax error.
    Other(String),
}

impl Opinion {
    pub(crate) fn is_other(&self) -> bool {
        matches!(self, Self::Other(_))
    }
}

pub(crate) fn opinion(command: &str) -> Opinion {
    let mut parser = Parser::new(command.as_bytes(), &options());
    let program = parser.parse_program().map_err(|error| format!("{error:?}"));
    match program.and_then(|program| plain(&program)) {
        Ok(words) => Opinion::Plain(words),
        Err(what) => Opinion::Other(what),
    }
}

fn options() -> ParserOptions {
    ParserOptions { tilde_expansion_after_colon: true, ..ParserOptions::default() }
}

fn plain(program: &Program) -> Result<Vec<Vec<String>>, String> {
    let items = program.complete_commands.iter().flat_map(|list| &list.0);
    let mut commands = Vec::new();
    for item in items {
        if !matches!(item.1, SeparatorOperator::Sequence) {
            return Err("a command in the background".into());
        }
        for (_, pipeline) in &item.0 {
            commands.extend(self::pipeline(pipeline)?);
        }
    }
    if commands.is_empty() { Err("no command".into()) } else { Ok(commands) }
}

fn pipeline(pipeline: &Pipeline) -> Result<Vec<Vec<String>>, String> {
    if pipeline.bang || pipeline.timed.is_some() {
        return Err("a negation or a timed pipeline".into());
    }
    let simple = |command: &Command| match command {
        Command::Simple(command) => simple(command),
        _ => Err("a compound command".into()),
    };
    pipeline.seq.iter().map(simple).collect()
}

fn is_harmless(redirection: &IoRedirect) -> bool {
    let is_null = |word: &Word| word.value == "/dev/null";
    match redirection {
        IoRedirect::OutputAndError(word, _) => is_null(word),
        IoRedirect::File(_, _, IoFileRedirectTarget::Filename(word)) => is_null(word),
        IoRedirect::File(_, _, IoFileRedirectTarget::Fd(_)) => true,
        IoRedirect::File(_, _, IoFileRedirectTarget::Duplicate(word)) => {
            matches!(&*word.value, "1" | "2")
        }
        IoRedirect::HereDocument(_, document) => {
            !document.requires_expansion || !document.doc.value.contains(['$', '`', '\\'])
        }
        _ => false,
    }
}

fn simple(command: &SimpleCommand) -> Result<Vec<String>, String> {
    if command.prefix.is_some() {
        return Err("an assignment or a redirection before the command".into());
    }
    let name = command.word_or_name.as_ref().ok_or("a command without a name")?;
    let mut words = vec![decode(&name.value)?];
    for item in command.suffix.iter().flat_map(|suffix| &suffix.0) {
        match item {
            // An argument such as `a=b` does not assign.
            CommandPrefixOrSuffixItem::Word(word)
            | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                words.push(decode(&word.value)?);
            }
            CommandPrefixOrSuffixItem::IoRedirect(redirection) if is_harmless(redirection) => {}
            other => return Err(format!("{other:?}")),
        }
    }
    Ok(words)
}

fn decode(word: &str) -> Result<String, String> {
    let braces =
        word::parse_brace_expansions(word, &options()).map_err(|error| error.to_string())?;
    if braces.iter().flatten().any(|part| matches!(part, BraceExpressionOrText::Expr(_))) {
        return Err(format!("braces in {word}"));
    }
    let pieces = word::parse(word, &options()).map_err(|error| error.to_string())?;
    pieces.iter().map(unquoted).collect()
}

fn unquoted(piece: &WordPieceWithSource) -> Result<String, String> {
    match &piece.piece {
        WordPiece::Text(text) if text.contains(['*', '?', '[']) => Err(format!("a glob in {text}")),
        WordPiece::Text(text) | WordPiece::SingleQuotedText(text) => Ok(text.clone()),
        WordPiece::DoubleQuotedSequence(pieces) => pieces.iter().map(quoted).collect(),
        other => Err(format!("{other:?}")),
    }
}

fn quoted(piece: &WordPieceWithSource) -> Result<String, String> {
    match &piece.piece {
        WordPiece::Text(text) => Ok(text.clone()),
        other => Err(format!("{other:?}")),
    }
}
