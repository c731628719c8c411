//! Descriptions: line comments, block comments, attributes, included files and options.

use tool_runtime::prelude::*;

#[doc = include_str!("included/look_up.md")]
#[tool]
async fn included(
    #[doc = concat!("The ", "word.")] _word: String,
    /// The language,
    #[doc = concat!("or ", "none.")]
    _language: Option<String>,
) {
}

/**
 * A block.
 *
 * With a column of stars.
 */
#[tool]
async fn block(
    /** A short block. */
    _a: String,
    #[doc = "An attribute."] _b: String,
    #[arg(undocumented)] _c: String,
) {
}

/// The first line
#[must_use]
/// and the second.
#[tool]
#[allow(unused)]
///
///     indented
async fn split() -> String {
    String::new()
}

#[tool(description = "CompletionContext as an option.")]
async fn option() {}

/// Not this.
#[tool(description = "But this.")]
async fn both() {}

/// Quotes " and \ and {braces} and `code` and ümlauts.
#[tool]
async fn characters() {}

#[doc(alias = "again")]
#[doc(hidden)]
/// Beside other doc attributes.
#[tool]
async fn beside() {}

#[test]
fn compiles_and_runs() {
    let description = |definition: ToolDefinition| definition.description;
    assert_eq!(
        description(IncludedAction::definition()),
        "Look a word up.\n\nIt is found in every dictionary."
    );
    let included = IncludedAction::definition();
    assert_eq!(included.argument("_word").unwrap()["description"], "The word.");
    assert_eq!(included.argument("_language").unwrap()["description"], "The language,\nor none.");
    let block = BlockAction::definition();
    assert_eq!(block.description, "A block.\n\nWith a column of stars.");
    assert_eq!(block.argument("_a").unwrap()["description"], "A short block.");
    assert_eq!(block.argument("_b").unwrap()["description"], "An attribute.");
    assert!(block.argument("_c").unwrap().get("description").is_none());
    assert_eq!(
        description(SplitAction::definition()),
        "The first line\nand the second.\n\n    indented"
    );
    assert_eq!(description(OptionAction::definition()), "CompletionContext as an option.");
    assert_eq!(description(BothAction::definition()), "But this.");
    assert_eq!(
        description(CharactersAction::definition()),
        r#"Quotes " and \ and {braces} and `code` and ümlauts."#
    );
    assert_eq!(description(BesideAction::definition()), "Beside other doc attributes.");
}
