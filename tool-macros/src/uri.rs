//! URI templates of resources.

/// The names of the variables in a template, in order: RFC 6570, level 1 and `{+name}`.
///
/// # Errors
/// A message about an invalid template.
pub(crate) fn variables(text: &str) -> Result<Vec<String>, String> {
    check_scheme(text)?;
    let (mut names, mut rest): (Vec<String>, &str) = (Vec::new(), text);
    while let Some(index) = rest.find(['{', '}']) {
        if rest[index..].starts_with('}') {
            return Err("`}` closes nothing; write `{name}` for a variable".to_owned());
        }
        let Some((inside, after)) = rest[index + 1..].split_once('}') else {
            return Err("`{` is not closed; write `{name}` for a variable".to_owned());
        };
        let name = name(inside)?;
        if index == 0 && !names.is_empty() {
            return Err(format!(
                "`{{{name}}}` directly follows another variable; write text between the two"
            ));
        }
        if names.contains(&name) {
            return Err(format!("`{{{name}}}` is used twice; rename one of the two"));
        }
        names.push(name);
        rest = after;
    }
    Ok(names)
}

fn name(inside: &str) -> Result<String, String> {
    let name = inside.strip_prefix('+').unwrap_or(inside);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    match is_name {
        true => Ok(name.to_owned()),
        false => Err(format!("`{{{inside}}}` is not a variable; write `{{name}}` or `{{+name}}`")),
    }
}

fn check_scheme(text: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(allowed)
    };
    match scheme.is_some_and(is_scheme) {
        true => Ok(()),
        false => Err("it has no scheme; write one, as in `notes://{id}`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn variables_are_found_in_order() {
        let found = |text| variables(text).expect("a template");
        assert_eq!(found("notes://{id}/at/{+path}"), ["id", "path"]);
        assert!(found("config://app").is_empty());
    }

    #[test]
    fn invalid_templates_are_rejected() {
        for (text, part) in [
            ("notes", "no scheme"),
            ("{a}:b", "no scheme"),
            ("a:{x}{y}", "write text between"),
            ("a:{x", "not closed"),
            ("a:x}", "closes nothing"),
            ("a:{?q}", "is not a variable"),
            ("a:{x}/{x}", "twice"),
        ] {
            let problem = variables(text).expect_err(text);
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }
}
