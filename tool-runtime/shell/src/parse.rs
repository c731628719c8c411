//! Parses a command line into the words of one plain command.
//!
//! [`words`](crate::words) rejects every character that the shell interprets. tree-sitter then gives
//! the structure: only node kinds in a list are taken, and the nodes must cover the whole text apart
//! from spaces.
//!
//! The grammar's scanner is C code that has crashed on unusual text, so it is given only plain ASCII
//! words and quotes.

use crate::reason::Reason;
use crate::words;
use tree_sitter::{Node, Parser};

/// Longest command that is parsed.
pub(crate) const MAX_COMMAND_BYTES: usize = 16 * 1024;

/// Returns the decoded words of one plain command, at least one.
///
/// # Errors
/// The reason why the text is not one plain command.
pub(crate) fn plain_command(text: &str) -> Result<Vec<String>, Reason> {
    check_characters(text)?;
    words::check(text)?;
    let tree = bash().parse(ascii(text), None).ok_or(Reason::Syntax)?;
    let root = tree.root_node();
    if root.has_error() {
        return Err(Reason::Syntax);
    }
    let command = only_command(root)?;
    let nodes = word_nodes(command)?;
    check_coverage(text, &nodes)?;
    let program = &text[nodes.first().ok_or(Reason::Empty)?.byte_range()];
    words::check_program(program)?;
    nodes.iter().map(|node| words::decode(&text[node.byte_range()])).collect()
}

fn bash() -> Parser {
    let mut parser = Parser::new();
    // A grammar of another version than the parser's leaves the parser without a language, and
    // `parse` then returns nothing.
    let _ = parser.set_language(&tree_sitter_bash::LANGUAGE.into());
    parser
}

fn check_characters(text: &str) -> Result<(), Reason> {
    if text.len() > MAX_COMMAND_BYTES {
        return Err(Reason::TooLong);
    }
    for c in text.chars() {
        if c.is_control() {
            return Err(Reason::ControlCharacter(c));
        }
        if c != ' ' && (c.is_whitespace() || c == '\u{feff}') {
            return Err(Reason::Whitespace(c));
        }
    }
    if text.trim().is_empty() { Err(Reason::Empty) } else { Ok(()) }
}

/// Replaces each byte of other characters, all of which are plain, by a letter.
fn ascii(text: &str) -> Vec<u8> {
    text.bytes().map(|byte| if byte.is_ascii() { byte } else { b'x' }).collect()
}

fn only_command(root: Node<'_>) -> Result<Node<'_>, Reason> {
    let mut cursor = root.walk();
    for child in root.children(&mut cursor) {
        if child.kind() != "command" {
            return Err(Reason::Construct(construct(child.kind())));
        }
    }
    match root.child(0) {
        Some(command) if root.child_count() == 1 => Ok(command),
        _ => Err(Reason::Syntax),
    }
}

fn word_nodes(command: Node<'_>) -> Result<Vec<Node<'_>>, Reason> {
    let mut cursor = command.walk();
    let mut nodes = Vec::new();
    for child in command.children(&mut cursor) {
        let name = nodes.is_empty() && child.kind() == "command_name";
        if !(name || is_word(child.kind())) {
            return Err(Reason::Construct(construct(child.kind())));
        }
        nodes.push(child);
    }
    Ok(nodes)
}

fn is_word(kind: &str) -> bool {
    matches!(kind, "word" | "number" | "string" | "raw_string" | "concatenation")
}

/// Everything outside the words must be spaces, and there must be some between two words.
fn check_coverage(text: &str, nodes: &[Node<'_>]) -> Result<(), Reason> {
    let mut end = 0;
    for (index, node) in nodes.iter().enumerate() {
        let range = node.byte_range();
        let gap = text.get(end..range.start).ok_or(Reason::Syntax)?;
        if !only_spaces(gap) || (index > 0 && gap.is_empty()) {
            return Err(Reason::Syntax);
        }
        end = range.end;
    }
    if only_spaces(&text[end..]) { Ok(()) } else { Err(Reason::Syntax) }
}

fn only_spaces(text: &str) -> bool {
    text.bytes().all(|byte| byte == b' ')
}

fn construct(kind: &str) -> &'static str {
    match kind {
        "variable_assignment" | "variable_assignments" => "an assignment",
        "declaration_command" | "unset_command" => "a change of variables",
        _ => "shell syntax beyond words",
    }
}
