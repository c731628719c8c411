use super::*;
use proptest::prelude::*;

fn entries(text: &str) -> Vec<String> {
    Declarations::from(text).iter().map(ToString::to_string).collect()
}

#[test]
fn a_list_is_split_outside_of_parentheses() {
    for (text, expected) in [
        ("Read", vec!["Read"]),
        ("Read, Write", vec!["Read", "Write"]),
        ("Read Write\n\tGrep", vec!["Read", "Write", "Grep"]),
        (" ,Read ,, Write, ", vec!["Read", "Write"]),
        ("Bash(git add:*), Bash(a, b c)", vec!["Bash(git add:*)", "Bash(a, b c)"]),
        ("Edit(app/(group)/page.tsx) Read", vec!["Edit(app/(group)/page.tsx)", "Read"]),
        ("Bash (git *) Read", vec!["Bash (git *)", "Read"]),
        ("Bash\n(git *)", vec!["Bash\n(git *)"]),
        ("Bash(git *) (npm *)", vec!["Bash(git *) (npm *)"]),
        ("Bash(git *, Read", vec!["Bash(git *, Read"]),
        ("Bash(git *)Read, Write", vec!["Bash(git *)Read", "Write"]),
        ("", vec![]),
        (" \n", vec![]),
    ] {
        assert_eq!(entries(text), expected, "{text:?}");
    }
}

#[test]
fn malformed_declarations_have_a_reason() {
    for (text, reason) in [
        ("(git *)", "it has no name"),
        ("Bash(git *", "the parenthesis is not closed"),
        ("Bash((git *)", "the parenthesis is not closed"),
        ("Bash)", "the parenthesis is not opened"),
        ("Bash()", "its pattern is empty; write `Bash` for every call"),
        ("Bash( )", "its pattern is empty"),
        ("Bash(git *)x", "text follows the parenthesis"),
        ("Bash(git *) (npm *)", "text follows the parenthesis"),
        ("Read, Write", "its name contains a separator"),
        ("fs.[", "`[` at character 4 of `fs.[` is never closed"),
        ("a/*", "'/' at character 2"),
        ("", "it has no name"),
    ] {
        let declaration = Declaration::from(text);
        let problem = declaration.problem().unwrap_or("nothing");
        assert!(problem.starts_with(reason), "{text}: {problem}");
    }
    for text in ["Read", "Bash (git *)", "Bash(a(b)c)", "mcp__a__b", "Ünknown!", "fs.*"] {
        assert_eq!(Declaration::from(text).problem(), None, "{text}");
    }
}

#[test]
fn a_list_keeps_its_form() {
    for json in [r#""Read, Bash(git *)""#, r#"["Read","Bash(git *)"]"#, "[]", r#""""#] {
        let list: Declarations = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&list).unwrap(), json);
    }
    let error = serde_json::from_str::<Declarations>("[1]").unwrap_err();
    assert!(error.to_string().contains("expected a string"), "{error}");
    let error = serde_json::from_str::<Declarations>("{}").unwrap_err();
    assert!(error.to_string().contains("expected a string as `Read, Bash(git *)`"), "{error}");
}

proptest! {
    #![proptest_config(crate::property::cases(256))]

    #[test]
    fn parsing_loses_nothing(text in "([ ,\n()*:A-Za-z_é]|Bash|\\PC){0,40}") {
        let list = Declarations::from(text.as_str());
        prop_assert_eq!(list.to_string(), text.as_str());
        let mut rest = text.as_str();
        for entry in &list {
            let (between, after) = rest.split_once(entry.as_str()).unwrap();
            prop_assert!(between.chars().all(|c| c == ',' || c.is_whitespace()), "{:?}", between);
            prop_assert!(entry.as_str().starts_with(entry.name()));
            rest = after;
        }
        prop_assert!(rest.chars().all(|c| c == ',' || c.is_whitespace()), "{:?}", rest);
    }

    #[test]
    fn every_sound_list_gives_its_entries_back(
        written in prop::collection::vec(("[A-Za-z][A-Za-z_.]{0,8}", prop::option::of("[a-z*:/.][a-z ,*:/.]{0,10}")), 0..6),
        separator in "(, ?| |\n  )",
    ) {
        let strings: Vec<String> = written
            .iter()
            .map(|(name, pattern)| pattern.as_ref().map_or_else(|| name.clone(), |p| format!("{name}({p})")))
            .collect();
        let list = Declarations::from(strings.join(&separator).as_str());
        let read: Vec<_> = list.iter().map(|d| (d.name().to_owned(), d.pattern().map(str::to_owned))).collect();
        prop_assert_eq!(read, written);
        prop_assert!(list.iter().all(|declaration| declaration.problem().is_none()));
    }
}
