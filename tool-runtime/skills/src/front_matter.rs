//! Front matter: YAML between two lines `---` at the start of a file.

use crate::prose::quote_prose;
use crate::report::SkillProblem;
use serde_json::{Map, Value};

const FENCE: &str = "---";

/// The front matter of a file, and the text after it.
#[derive(Debug)]
pub(crate) struct FrontMatter {
    pub(crate) values: Map<String, Value>,
    pub(crate) body: String,
    /// The keys whose values were read as if they were quoted.
    pub(crate) repaired: Vec<&'static str>,
    yaml: String,
}

impl FrontMatter {
    /// Splits a file and parses its front matter. Prose without the quotation marks that YAML requires is accepted.
    ///
    /// # Errors
    /// The front matter is missing, not closed, or not a map in valid YAML.
    pub(crate) fn parse(text: &str) -> Result<Self, SkillProblem> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (yaml, body) = split(text)?;
        let (quoted, repaired) = quote_prose(yaml);
        let (values, repaired) = match parse_yaml(&quoted) {
            Ok(values) => (values, repaired),
            // The problem of the file as it is written.
            Err(_) => (parse_yaml(yaml)?, Vec::new()),
        };
        Ok(Self { values, repaired, yaml: yaml.to_owned(), body: body.trim().to_owned() })
    }

    /// The line of a key in the file, or of the innermost key of its path that is found.
    pub(crate) fn line(&self, path: &[&str]) -> Option<usize> {
        let (mut lines, mut found) = (self.yaml.lines().zip(2..), None);
        for (depth, key) in path.iter().enumerate() {
            let is_key = |line: &str| {
                let is_nested = line.starts_with([' ', '\t', '-', '{']);
                key_of(line) == Some(key) && (depth > 0) == is_nested
            };
            match lines.find(|(line, _)| is_key(line)) {
                Some((_, line)) => found = Some(line),
                None => break,
            }
        }
        found
    }
}

/// The YAML and the text after it.
fn split(text: &str) -> Result<(&str, &str), SkillProblem> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != FENCE {
        let text = "it has no front matter; begin with a line `---`, then `name: ..` and `description: ..`, then `---`";
        return Err(SkillProblem::at(Some(1), text));
    }
    let mut end = first.len();
    for line in lines {
        if line.trim_end() == FENCE {
            return Ok((&text[first.len()..end], &text[end + line.len()..]));
        }
        end += line.len();
    }
    Err(SkillProblem::at(Some(1), "its front matter is not closed; end it with a line `---`"))
}

fn parse_yaml(yaml: &str) -> Result<Map<String, Value>, SkillProblem> {
    // This type rejects duplicate keys.
    let parsed: serde_norway::Value = serde_norway::from_str(yaml).map_err(|error| {
        // The front matter starts at line 2 of the file.
        let line = error.location().map(|at| at.line() + 1);
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or_default();
        let help = "quote text that contains `: `, `#` or quotation marks";
        SkillProblem::at(line, format!("its front matter is not valid YAML: {reason}; {help}"))
    })?;
    match serde_json::to_value(parsed) {
        Ok(Value::Object(values)) => Ok(values),
        Ok(_) => Err(SkillProblem::at(
            Some(2),
            "its front matter is not a map; write `name: ..` and `description: ..`",
        )),
        Err(error) => {
            let text = format!("its front matter has a value that JSON cannot express: {error}");
            Err(SkillProblem::at(Some(2), text))
        }
    }
}

/// The key that a line of YAML begins with.
fn key_of(line: &str) -> Option<&str> {
    let line = line.trim_start_matches([' ', '\t', '-', '{']);
    let (key, _) = line.split_once(':')?;
    Some(key.trim().trim_matches(['"', '\'']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn problem(text: &str) -> String {
        FrontMatter::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn front_matter_and_text_are_separated() {
        for text in [
            "---\nname: a\n---\nText.\n---\nmore",
            "\u{feff}---\r\nname: a\r\n---\r\nText.\n---\nmore\r\n",
        ] {
            let front = FrontMatter::parse(text).unwrap();
            assert_eq!(front.values["name"], "a");
            assert_eq!(front.body, "Text.\n---\nmore");
        }
        assert_eq!(FrontMatter::parse("---\nname: a\n---").unwrap().body, "");
    }

    #[test]
    fn problems_have_their_line_in_the_file() {
        assert!(problem("name: a\n").starts_with("line 1: it has no front matter; begin with"));
        assert!(problem("---\nname: a\n").starts_with("line 1: its front matter is not closed"));
        let colon = "---\nname: a\ndescription: |\nmodel: b: c\n---\n";
        assert_eq!(
            problem(colon),
            "line 4: its front matter is not valid YAML: mapping values are not allowed in this context; quote text that contains `: `, `#` or quotation marks"
        );
        assert!(problem("---\nname: a\nname: b\n---\n").contains("duplicate entry"));
        assert!(problem("---\n- a\n---\n").starts_with("line 2: its front matter is not a map"));
        assert!(problem("---\n---\n").contains("is not a map"));
    }

    #[test]
    fn prose_is_read_without_quotation_marks() {
        for (written, description) in [
            (
                "Run tasks. Triggers on: writing, editing",
                "Run tasks. Triggers on: writing, editing",
            ),
            ("Use when: the user\n  says: now\n", "Use when: the user says: now"),
            ("@docs and `code`: both", "@docs and `code`: both"),
            ("[a] [b]", "[a] [b]"),
            ("\"Quoted\" words: yes", "\"Quoted\" words: yes"),
        ] {
            let text = format!("---\nname: a\ndescription: {written}\nlicense: MIT\n---\nText.");
            let front = FrontMatter::parse(&text).unwrap();
            assert_eq!(front.values["description"], description);
            assert_eq!((front.values["license"].as_str(), &*front.body), (Some("MIT"), "Text."));
            assert_eq!(front.repaired, ["description"]);
        }
    }

    #[test]
    fn only_prose_is_repaired() {
        for text in ["allowed-tools: Read: x", "description: |\n bad: \nindent", "metadata: a: b"] {
            assert!(problem(&format!("---\nname: a\n{text}\n---\n")).contains("not valid YAML"));
        }
    }

    #[test]
    fn keys_have_lines() {
        let text = "---\nname: fs\nmcpServers:\n  fs:\n    command: x\n    \"args\": []\n---\n";
        let front = FrontMatter::parse(text).unwrap();
        assert_eq!(front.line(&["name"]), Some(2));
        assert_eq!(front.line(&["mcpServers", "fs", "args"]), Some(6));
        assert_eq!(front.line(&["mcpServers", "fs", "url"]), Some(4));
        assert_eq!(front.line(&["fs"]), None);
    }

    proptest! {
        #![proptest_config(crate::property::cases(256))]

        #[test]
        fn parsing_never_panics(text in "\\PC*", yaml in "([a-z&*!|>{}\\[\\]:,'\"#\\-? \\t\n]|\\PC){0,80}") {
            for text in [text, yaml.clone(), format!("---\n{yaml}\n---\n{yaml}"), format!("---\r\n{yaml}")] {
                if let Ok(front) = FrontMatter::parse(&text) {
                    for key in front.values.keys() {
                        front.line(&[key]);
                    }
                }
            }
        }
    }
}
