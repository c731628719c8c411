//! Command lines to the words of one plain command.
//!
//! tree-sitter gives the structure. Only node kinds in a list are taken, the nodes must cover the whole
//! text apart from spaces, and [`words`](crate::words) decodes each word again by rules of its own.

use crate::reason::Reason;
use crate::words;
use tree_sitter::{Node, Parser};

/// Longest command that is parsed.
pub(crate) const MAX_COMMAND_BYTES: usize = 16 * 1024;

/// Returns the decoded words of one plain command, at least one.
///
/// # Errors
/// The text is something else, with the reason.
pub(crate) fn plain_command(text: &str) -> Result<Vec<String>, Reason> {
    check_characters(text)?;
    let tree = bash().parse(text, None).ok_or(Reason::Syntax)?;
    let root = tree.root_node();
    if root.has_error() {
        return Err(explain_error(text));
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
    // `parse` then gives nothing.
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

/// Names the first character that explains why the text does not parse.
fn explain_error(text: &str) -> Reason {
    let mut quotes = words::Quotes::default();
    for c in text.chars() {
        if c == ' ' && !quotes.is_open() {
            quotes.restart();
        } else if let Err(what) = quotes.next(c) {
            return Reason::Construct(what);
        }
    }
    if quotes.is_open() { Reason::Construct("an open quote") } else { Reason::Syntax }
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
        _ => Err(Reason::Construct("a separator")),
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

/// Everything outside of the words must be spaces, and there must be some between two words.
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
        "pipeline" => "a pipeline",
        "list" => "a list of commands (`&&` or `||`)",
        ";" | ";;" => "a separator",
        "&" => "a command in the background",
        "comment" => "a comment",
        "redirected_statement" | "file_redirect" => "a redirection",
        "heredoc_redirect" | "herestring_redirect" => "a redirection",
        "variable_assignment" | "variable_assignments" => "an assignment",
        "declaration_command" | "unset_command" => "a change of variables",
        "negated_command" => "a negation (`!`)",
        "test_command" => "a test (`[` or `[[`)",
        "subshell" => "a subshell",
        "compound_statement" => "a group of commands",
        "function_definition" => "a definition of a function",
        "command_substitution" | "process_substitution" => "a substitution",
        "simple_expansion" | "expansion" | "arithmetic_expansion" | "$" => "an expansion",
        "ansi_c_string" | "translated_string" => "quotes with `$`",
        "brace_expression" => "a brace",
        "extglob_pattern" | "regex" => "a pattern of file names",
        _ => "shell syntax beyond words",
    }
}
