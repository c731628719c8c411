//! Words that the sources had before they used the terms of the field, and what is written instead.

use super::floors::sources;
use std::fs;
use std::path::Path;

/// A word, and what is written instead.
const GONE: &[(&str, &str)] = &[
    ("a text", "a string; text is what a person or a model reads"),
    ("fn of(", "`from_..`, `for_..` or `new`"),
    ("struct Shared", "`Inner`, or the noun"),
    ("struct Found", "what was found"),
    ("enum Found", "what was found"),
    ("struct Shown", "`ToolOutput`"),
    ("Courier", "`WebhookClient`"),
    ("Parcel", "`Delivery`"),
    ("goes_on:", "`allow_on_store_error`"),
    ("of another issuer", "wrong issuer"),
    ("difference of clocks", "clock skew"),
    ("HookedCall", "`CallView` borrows a call, `HookCall` owns it"),
    ("ask_hooks", "`before_hooks`"),
    ("Seams", "`Governors`"),
    ("in the place of", "instead of"),
    ("takes the place of", "replaces"),
    ("fn place(", "`path`, `position`, `entry`, `permit`: the noun that is meant"),
    ("mod place", "`path`, `position`, `entry`, `permit`: the noun that is meant"),
    ("struct Place", "`DirEntry`, or the noun that is meant"),
    ("CellPlace", "`CellPosition`"),
    ("TooManyPlaces", "`TooManyMatches`"),
    ("into_texts", "`into_strings`"),
    ("fn shown(", "`render`, `to_display` or `redacted`"),
    (".shown()", "`render`, `to_display` or `redacted`"),
    ("fn shown_by", "`visualize_with`"),
    ("fn described(", "`metadata` or `description`"),
    ("fn shown_arguments(&self", "`display_arguments`"),
    ("AnswerStream", "`ResponseStream`"),
    ("check_place", "`check_storage` or `check_main`"),
    ("inside of", "inside"),
    ("outside of", "outside"),
    ("/// The same, ", "what it is: a reader sees only this line"),
    ("/// The same with ", "what it is: a reader sees only this line"),
    ("/// The same for ", "what it is: a reader sees only this line"),
    ("/// The same without ", "what it is: a reader sees only this line"),
];

/// A word that stays, by the end of its file's path and a part of its line.
const EXCEPTIONS: &[(&str, &str)] = &[
    // Text of a person or a model: a kind of file, of content or of resource.
    (".rs", "a text block"),
    (".rs", "a text file"),
    (".rs", "a text resource"),
    // Descriptions of tools for models.
    ("quickstart/src/main.rs", "Find notes that contain a text"),
    ("fleet/src/search.rs", "Find pages that contain a text"),
    ("store/tests.rs", "This is a text, and longer"),
    // Results of tools in examples, and in a schema.
    ("tool/results/observation.rs", "/// struct Found {"),
    ("quickstart/src/main.rs", "struct Found {"),
    ("search/src/tool.rs", "struct Found {"),
    // Bytes of JSON.
    ("call/wire.rs", "a text\"\"#"),
    // Modules that only moves may touch.
    ("browser/proxy.rs", "struct Shared"),
    ("builtins/src/workspace.rs", "struct Shared"),
    ("schema/check/", "fn of("),
    ("schema/check/", "/// The same for "),
    // Helpers of tests.
    ("/tests/", "fn of("),
];

#[test]
fn no_word_comes_back() {
    // Without the path of this crate, which would be an exception.
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("a folder");
    let folders = ["tool-macros", "tool-runtime", "examples"].map(|folder| root.join(folder));
    let mut found = Vec::new();
    for file in folders.iter().flat_map(|folder| sources(folder)) {
        let path = file.to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&file).expect("a readable source");
        for (index, line) in text.lines().enumerate() {
            for (word, instead) in GONE.iter().filter(|(word, _)| has_word(line, word)) {
                if !is_exception(&path, line) {
                    found.push(format!("{path}:{}: `{word}`; write {instead}", index + 1));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Whether a line has a word, not as a part of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(start, _)| {
        let (before, after) = (&line[..start], &line[start + word.len()..]);
        let ends_in_letter = word.ends_with(is_letter);
        let is_longer = ends_in_letter && after.starts_with(is_letter);
        !(before.ends_with(is_letter) || is_longer)
    })
}

fn is_exception(path: &str, line: &str) -> bool {
    EXCEPTIONS.iter().any(|(file, part)| path.contains(file) && line.contains(part))
}

#[test]
fn a_word_is_found_and_a_part_of_one_is_not() {
    assert!(has_word("/// Parses a text.", "a text"));
    assert!(!has_word("/// Parses a textual form.", "a text"));
    assert!(!has_word("extra text", "a text"));
    assert!(has_word("    fn of(text: &str)", "fn of("));
}
