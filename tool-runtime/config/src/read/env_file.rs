//! Files of environment variables (`.env`): lines of `NAME=value`.

use crate::findings::ValueProblem;
use tool_runtime_core::vocabulary::Secret;

/// The variables of a file, the last of each name. Empty lines, `#` comments and `export` are
/// skipped; a value may be in quotes, in double ones with `\n`, `\t`, `\"` and `\\`. Nothing is
/// expanded.
///
/// # Errors
/// The first invalid line. The error does not show it.
pub(super) fn variables(text: &str) -> Result<Vec<(String, Secret)>, ValueProblem> {
    let mut variables = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (index, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let problem = |what: &str| {
            ValueProblem::new(
                format!("line {} of the file {what}", index + 1),
                "write `NAME=value`",
            )
        };
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').ok_or_else(|| problem("is not an assignment"))?;
        let name = name.trim_end();
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(problem("names no variable"));
        }
        let value = value_of(value.trim_start()).ok_or_else(|| problem("has an unclosed quote"))?;
        variables.push((name.to_owned(), Secret::from(value)));
    }
    // The first value of a name is used.
    variables.reverse();
    Ok(variables)
}

/// `None` if a quote is not closed.
fn value_of(text: &str) -> Option<String> {
    match text.chars().next() {
        Some('\'') => text[1..].split_once('\'').map(|(value, _)| value.to_owned()),
        Some('"') => unescaped(&text[1..]),
        _ => {
            let comment = text.find(" #").unwrap_or(text.len());
            Some(text[..comment].trim_end().to_owned())
        }
    }
}

fn unescaped(text: &str) -> Option<String> {
    let mut value = String::new();
    let mut characters = text.chars();
    loop {
        match characters.next()? {
            '"' => return Some(value),
            '\\' => match characters.next()? {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'r' => value.push('\r'),
                other @ ('"' | '\\' | '$') => value.push(other),
                other => value.extend(['\\', other]),
            },
            other => value.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn lines_are_assignments() {
        let text =
            "\u{feff}# people\n\nA=1\nexport B = two # said\nC='a # b'\nD=\"x\\ny\\\"\"\nE=\nA=3\n";
        let mut read: Vec<(String, String)> = variables(text)
            .unwrap_or_else(|problem| panic!("{}", problem.text))
            .into_iter()
            .map(|(name, value)| (name, value.expose().to_owned()))
            .collect();
        assert_eq!(read.first(), Some(&("A".to_owned(), "3".to_owned())));
        read.reverse();
        let values: Vec<&str> = read.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["1", "two", "a # b", "x\ny\"", "", "3"]);
    }

    #[test]
    fn an_invalid_line_is_reported_without_its_text() {
        for text in ["ok=1\nhunter2", "ok=1\nA=\"hunter2", "ok=1\nA='hunter2", "ok=1\nhunter 2=1"] {
            let problem = variables(text).expect_err(text);
            assert!(problem.text.starts_with("line 2 "), "{}", problem.text);
            assert!(!problem.text.contains("hunter"), "{}", problem.text);
        }
    }
}
