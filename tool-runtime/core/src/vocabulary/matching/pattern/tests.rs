use super::*;
use std::collections::HashSet;

fn read(text: &str) -> ToolPattern {
    text.parse().unwrap()
}

fn problem(text: &str) -> PatternError {
    text.parse::<ToolPattern>().unwrap_err()
}

#[test]
fn an_id_matches_itself_only() {
    let pattern = read("fs.read");
    assert!(pattern.matches("fs.read"));
    for other in ["fs.read_all", "fs_read", "xfs.read", "FS.READ", ""] {
        assert!(!pattern.matches(other), "{other}");
    }
}

#[test]
fn an_exact_text_is_never_a_glob() {
    assert!(!ToolPattern::exact("fs.*").matches("fs.read"));
    assert!(ToolPattern::exact("fs.*").matches("fs.*"));
}

#[test]
fn a_star_spans_dots() {
    assert!(read("fs.*").matches("fs.dir.read"));
    assert!(read("fs.*").matches("fs."));
    assert!(read("*.read").matches("fs.dir.read"));
    assert!(read("*").matches("a.b.c"));
    assert!(read("fs.**").matches("fs.dir.read"));
    assert!(!read("fs.*").matches("fsx.read"));
}

#[test]
fn classes_and_braces_match_alternatives() {
    assert!(read("fs.{read,list}").matches("fs.list"));
    assert!(!read("fs.{read,list}").matches("fs.write"));
    assert!(read("v[0-9]").matches("v7"));
    assert!(!read("v[!0-9]").matches("v7"));
    assert!(read("v?").matches("v7") && !read("v?").matches("v"));
}

/// The matcher is a third-party crate for paths: its results are compared with the documented rules.
#[test]
fn globs_match_as_documented() {
    let ids = ids();
    for glob in strings(b"ab*?[]!{},", 5) {
        let Ok(pattern) = ToolPattern::glob(glob.as_str()) else { continue };
        let meaning = Regex::new(&meaning(&glob)).unwrap();
        for id in &ids {
            assert_eq!(pattern.matches(id), meaning.is_match(id), "`{glob}` and `{id}`");
        }
    }
}

fn ids() -> Vec<String> {
    strings(b"ab.", 3)
}

/// All strings up to a length.
fn strings(alphabet: &[u8], longest: usize) -> Vec<String> {
    let mut strings = vec![String::new()];
    let mut last = strings.clone();
    for _ in 0..longest {
        let longer = |text: &String| {
            let text = text.clone();
            alphabet.iter().map(move |byte| format!("{text}{}", *byte as char))
        };
        last = last.iter().flat_map(longer).collect();
        strings.extend(last.iter().cloned());
    }
    strings
}

/// The glob as a regular expression.
fn meaning(glob: &str) -> String {
    let mut regex = String::from("^");
    let mut characters = glob.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            '{' => regex.push_str("(?:"),
            ',' => regex.push('|'),
            '}' => regex.push(')'),
            '[' => regex.push_str(&class(&mut characters)),
            other => regex.push_str(&regex_syntax::escape(&other.to_string())),
        }
    }
    regex + "$"
}

fn class(characters: &mut impl Iterator<Item = char>) -> String {
    let mut members = vec![characters.next().unwrap()];
    let is_negated = members[0] == '!';
    if is_negated {
        members[0] = characters.next().unwrap();
    }
    members.extend(characters.take_while(|character| *character != ']'));
    let members: String =
        members.iter().map(|member| format!("\\x{:02x}", *member as u8)).collect();
    format!("[{}{members}]", if is_negated { "^" } else { "" })
}

#[test]
fn a_regular_expression_is_searched_for() {
    assert!(read("/read/").matches("fs.read_all"));
    assert!(read(r"/^fs\./").matches("fs.read"));
    assert!(!read("/^read$/").matches("fs.read"));
}

#[test]
fn a_pattern_survives_its_text_form() {
    for text in ["fs.read", "fs.*", "{a,b}[!c]?", "/^a/b$/", "///"] {
        let pattern = read(text);
        assert_eq!(pattern.to_string(), text);
        assert_eq!(read(&pattern.to_string()), pattern);
        let json = serde_json::to_string(&pattern).unwrap();
        assert_eq!(json, serde_json::to_string(text).unwrap());
        assert_eq!(serde_json::from_str::<ToolPattern>(&json).unwrap(), pattern);
    }
    let regex = ToolPattern::regex("fs").unwrap();
    assert_eq!(read(&regex.to_string()), regex);
}

#[test]
fn an_invalid_pattern_in_json_is_explained() {
    let error = serde_json::from_str::<ToolPattern>(r#""fs.[ab""#).unwrap_err();
    assert!(error.to_string().contains("`[` at character 4 of `fs.[ab` is never closed"));
}

#[test]
fn patterns_are_equal_by_kind_and_text() {
    assert_eq!(ToolPattern::glob("fs.read").unwrap(), ToolPattern::exact("fs.read"));
    assert_ne!(ToolPattern::regex("fs").unwrap(), ToolPattern::exact("fs"));
    assert_ne!(ToolPattern::exact("a*"), ToolPattern::glob("a*").unwrap());
    let set: HashSet<ToolPattern> =
        [read("a*"), read("a*"), read("/a*/"), read("a")].into_iter().collect();
    assert_eq!(set.len(), 3);
}

#[test]
fn rejects_empty_patterns() {
    assert_eq!(problem(""), PatternError::Empty);
    assert_eq!(problem("//"), PatternError::Empty);
    assert_eq!(ToolPattern::glob(""), Err(PatternError::Empty));
    assert_eq!(ToolPattern::regex(""), Err(PatternError::Empty));
}

#[test]
fn an_unclosed_bracket_is_located() {
    for (text, at, open, closing) in [
        ("fs.[ab", 4, '[', ']'),
        ("{a,b", 1, '{', '}'),
        ("a{b,{c}", 2, '{', '}'),
        ("/a", 1, '/', '/'),
    ] {
        let problem = problem(text);
        let expected = PatternError::Unclosed { pattern: text.to_owned(), at, open };
        assert_eq!(problem, expected);
        assert!(problem.to_string().ends_with(&format!("add `{closing}`")), "{problem}");
    }
}

#[test]
fn a_pattern_that_can_match_no_id_is_rejected() {
    for (text, at, character) in [
        ("fs/*", 3, '/'),
        ("fs read", 3, ' '),
        ("!fs.*", 1, '!'),
        ("a,b", 2, ','),
        ("*a}", 3, '}'),
        ("*a]", 3, ']'),
        (r"a\*", 2, '\\'),
        (r"[\]]", 2, '\\'),
        ("{é}", 2, 'é'),
        ("é/", 1, 'é'),
        ("[é]/", 4, '/'),
    ] {
        let expected = PatternError::Foreign { pattern: text.to_owned(), at, character };
        assert_eq!(problem(text), expected);
    }
}

#[test]
fn a_class_may_contain_characters_invalid_in_ids() {
    assert!(read("a[]/!]").matches("a]"));
    assert!(read("[!é]").matches("x"));
    assert!(read("a[!]x]").matches("ay") && !read("a[!]x]").matches("ax"));
}

#[test]
fn more_braces_than_the_matcher_counts_are_rejected() {
    let problem = problem(&"{a,b}".repeat(11));
    assert!(matches!(problem, PatternError::Glob { at: 51, .. }), "{problem:?}");
}

#[test]
fn an_invalid_regular_expression_is_quoted_with_the_position() {
    let text = problem("/a(/").to_string();
    assert!(text.starts_with("bad regular expression `/a(/`"), "{text}");
    assert!(text.contains("unclosed group") && text.contains('^'), "{text}");
}
