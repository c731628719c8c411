use super::*;
use crate::test_time::ends;

fn edit(content: &str, old: &str, new: &str) -> Result<Replaced, EditError> {
    replace(content, Replace { old, new, all: false })
}

fn replace(content: &str, edit: Replace<'_>) -> Result<Replaced, EditError> {
    super::replace(content, edit, deadline())
}

#[track_caller]
fn applied(content: &str, old: &str, new: &str, step: MatchRule, expected: &str) {
    let replaced = edit(content, old, new).unwrap();
    assert_eq!(replaced.content, expected);
    assert_eq!(replaced.step, step);
}

#[test]
fn text_is_replaced_as_quoted() {
    applied("a b c", "b", "x", MatchRule::Exact, "a x c");
    applied("a\nb\nc\n", "b\n", "", MatchRule::Exact, "a\nc\n");
    applied("ünï", "n", "ö", MatchRule::Exact, "üöï");
}

#[test]
fn line_endings_of_the_file_are_kept() {
    applied("a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny", MatchRule::Exact, "a\r\nx\r\ny\r\nc\r\n");
    applied("a\r\nb\r\n", "a\r\nb", "a\r\nc", MatchRule::Exact, "a\r\nc\r\n");
    // A line that stays keeps its own ending in a file with both.
    applied("a\nb\r\nc\r\nd\r\n", "a\nb\nc", "a\nb\nx", MatchRule::Exact, "a\nb\r\nx\r\nd\r\n");
    // A new line has the ending of the one that it replaces or follows.
    let mixed = "a\nb\r\nc\nd\r\n";
    applied(mixed, "b\nc", "x\ny", MatchRule::Exact, "a\nx\r\ny\nd\r\n");
    applied(mixed, "b\nc", "b\nx\nc", MatchRule::Exact, "a\nb\r\nx\r\nc\nd\r\n");
    applied(mixed, "a\nb", "x\na\nb", MatchRule::Exact, "x\na\nb\r\nc\nd\r\n");
    applied(mixed, "c", "x\ny", MatchRule::Exact, "a\nb\r\nx\ny\nd\r\n");
    applied(mixed, "b\nc\n", "c\n", MatchRule::Exact, "a\nc\nd\r\n");
    applied("a\rb\r", "b", "x\ny", MatchRule::Exact, "a\rx\ry\r");
}

#[test]
fn spaces_at_the_ends_of_lines_do_not_matter() {
    let content = "fn a() {  \n    b();\t\n}\n";
    let old = "fn a() {\n    b();\n}";
    let expected = "fn a() {  \n    c();\n}\n";
    applied(content, old, "fn a() {\n    c();\n}", MatchRule::TrailingWhitespace, expected);
    applied("a\nb", "b\n", "c\n", MatchRule::TrailingWhitespace, "a\nc");
}

/// A line that moves keeps its bytes, and not the spaces with which the model quotes it.
#[test]
fn a_line_that_moves_is_that_of_the_file() {
    let (old, new) = ("a(); \nb();\nc();", "b();\nc();\na(); ");
    let step = MatchRule::TrailingWhitespace;
    applied("a();\nb();\nc();\n", old, new, step, "b();\nc();\na();\n");
    applied("a();\t\nb();\nc();\n", old, new, step, "b();\nc();\na();\t\n");
}

#[test]
fn new_lines_get_the_indentation_of_the_file() {
    let content = "mod m {\n    fn a() {\n        b();  \n    }\n}\n";
    let old = "fn a() {\n    b();\n}";
    let new = "fn a() {\n    b();\n    if c {\n        d();\n    }\n}";
    let expected = "mod m {\n    fn a() {\n        b();  \n        if c {\n            d();\n        }\n    }\n}\n";
    applied(content, old, new, MatchRule::ShiftedIndentation, expected);
    let tabs = "\tif a {\n\t\tb();\n\t}\n";
    let old = "    if a {\n        b();\n    }\n";
    let new = "    if a {\n        b();\n        c();\n    }\n";
    let expected = "\tif a {\n\t\tb();\n\t\tc();\n\t}\n";
    applied(tabs, old, new, MatchRule::ShiftedIndentation, expected);
}

#[test]
fn decomposed_letters_of_a_line_are_composed_ones() {
    let (content, step) = ("a\ncafe\u{301}\nb\n", MatchRule::TypographicCharacters);
    applied(content, "caf\u{e9}\nb", "caf\u{e9}\ntea", step, "a\ncafe\u{301}\ntea\n");
}

#[test]
fn typographic_characters_are_those_of_ascii() {
    let content = "say(“don’t”);\nother();\n";
    let step = MatchRule::TypographicCharacters;
    applied(
        content,
        "say(\"don't\");\nother();",
        "say(\"don't\");\nnext();",
        step,
        "say(“don’t”);\nnext();\n",
    );
    applied("wait… then go\n", "wait...", "stop", step, "stop then go\n");
    applied("a\u{a0}b = 1\n", "a b = 1", "a b = 2", step, "a b = 2\n");
}

#[test]
fn several_matches_are_refused_by_every_step() {
    let ambiguous = |content: &str, old: &str, new: &str| match edit(content, old, new) {
        Err(EditError::Ambiguous { step, lines }) => (step, lines),
        other => panic!("{other:?}"),
    };
    assert_eq!(ambiguous("a\nb\na\n", "a", "x"), (MatchRule::Exact, vec![1, 3]));
    assert_eq!(ambiguous("aaa", "aa", "x"), (MatchRule::Exact, vec![1, 1]));
    let step = MatchRule::TrailingWhitespace;
    assert_eq!(ambiguous("a  \nb\nc\na \nb\n", "a\nb\n", "x"), (step, vec![1, 4]));
    let step = MatchRule::ShiftedIndentation;
    assert_eq!(ambiguous("  a\n  b\n    a\n    b\n", "a\nb", "x\ny"), (step, vec![1, 3]));
    let step = MatchRule::TypographicCharacters;
    assert_eq!(ambiguous("“a”\n”a“\n", "\"a\"", "x"), (step, vec![1, 2]));
}

#[test]
fn all_matches_are_replaced_on_request() {
    let replaced = replace("a\r\nb\r\na", Replace { old: "a", new: "x\ny", all: true }).unwrap();
    assert_eq!(replaced.content, "x\r\ny\r\nb\r\nx\r\ny");
    assert_eq!(replaced.lines, [1, 3]);
    let replaced = replace("aaa", Replace { old: "aa", new: "x", all: true }).unwrap();
    assert_eq!(replaced.content, "xa");
}

#[test]
fn an_edit_that_was_made_is_recognised() {
    assert_eq!(
        edit("use b;\nuse c_long;\n", "use b;\n", "use b;\nuse c_long;\n").unwrap_err(),
        EditError::AlreadyApplied { line: 1 }
    );
    assert_eq!(
        edit("let renamed = 1;\n", "let original = 1;", "let renamed = 1;").unwrap_err(),
        EditError::AlreadyApplied { line: 1 }
    );
}

#[test]
fn what_is_not_found_is_compared_with_the_nearest_lines() {
    let content = "fn one() {\n    call(1);\n    end();\n}\nfn two() {\n    call(2);\n}\n";
    let error = edit(content, "fn one() {\n    call(3);\n    end();\n}", "x").unwrap_err();
    assert_eq!(
        error.to_string(),
        "is not in the file\n\
         nearest: lines 1 to 4, which first differ at line 2: the file has `    call(1);`, not `    call(3);`\n\
         read the file again and quote it exactly"
    );
    let error = edit(content, "    calls(1);", "x").unwrap_err();
    assert!(error.to_string().contains("first differ at line 2"), "{error}");
    assert_eq!(edit("", "a", "b").unwrap_err(), EditError::NotFound(Vec::new()));
}

#[test]
fn an_edit_that_changes_nothing_is_an_error() {
    assert_eq!(edit("a", "", "x").unwrap_err(), EditError::Empty);
    assert_eq!(edit("a", "a\r\n", "a\n").unwrap_err(), EditError::Identical);
}

#[test]
fn many_matches_are_all_replaced_or_none() {
    let all = |count: usize| {
        let content = "a\n".repeat(count);
        replace(&content, Replace { old: "a", new: "b", all: true })
    };
    assert_eq!(all(99_999).unwrap().content, "b\n".repeat(99_999));
    assert_eq!(all(100_001).unwrap_err(), EditError::TooManyMatches);
}

#[test]
fn a_match_that_overlaps_is_ambiguous() {
    let edit = |content| replace(content, Replace { old: "aa", new: "b", all: false });
    assert!(matches!(edit("aaa"), Err(EditError::Ambiguous { .. })));
    assert_eq!(edit("baab").unwrap().content, "bbb");
}

/// Each of these takes minutes if positions are compared one by one.
#[test]
fn repeated_lines_are_searched_in_linear_time() {
    let lines = |line: &str, count: usize| line.repeat(count);
    let cases = [
        (lines("a\n", 200_000), lines(" a\n", 60_000) + "b\n"),
        (lines("x", 800_000) + "’", lines("x", 200_000) + "'y"),
    ];
    for (text, old) in cases {
        let found = ends(move || replace(&text, Replace { old: &old, new: "z", all: false }));
        assert!(matches!(found, Err(EditError::NotFound(_))));
    }
}

/// Each match has as many lines as are quoted, and one indentation for each: comparing all of them takes minutes.
#[test]
fn a_long_quotation_of_equal_lines_is_not_compared_everywhere() {
    let (text, old) = ("  a\n".repeat(200_000), "a\n".repeat(100_000));
    let [one, all] =
        ends(move || [false, true].map(|all| replace(&text, Replace { old: &old, new: "x", all })));
    assert!(matches!(one, Err(EditError::Ambiguous { .. })));
    assert_eq!(all.unwrap_err(), EditError::TooManyMatches);
}

/// The lines of the new content would fill the memory.
#[test]
fn a_replacement_that_makes_a_file_very_large_is_refused() {
    let (text, new) = ("a".repeat(90_000), "b".repeat(100_000));
    let error = replace(&text, Replace { old: "a", new: &new, all: true }).unwrap_err();
    assert_eq!(error, EditError::TooManyMatches);
}

#[test]
fn time_that_is_up_is_an_error() {
    let edit = Replace { old: "a", new: "b", all: false };
    assert_eq!(super::replace("a", edit, Instant::now()).unwrap_err(), EditError::Expired);
}
