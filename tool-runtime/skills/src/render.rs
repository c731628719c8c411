//! The text of a skill, as a model reads it.

use crate::skill::Skill;

impl Skill {
    /// The instructions with the path of the folder, and placeholders replaced.
    ///
    /// | Placeholder | Replaced by |
    /// |---|---|
    /// | `$ARGUMENTS` | the arguments |
    /// | `$ARGUMENTS[0]` | the first word of the arguments, and so on |
    /// | `${SKILL_ROOT}`, `${CLAUDE_SKILL_DIR}` | the path of the folder |
    ///
    /// Arguments of a string without `$ARGUMENTS` are appended. Commands in the text are not run.
    pub fn render(&self, arguments: &str) -> String {
        let folder = self.folder.display().to_string();
        let (text, has_arguments) = substitute(&self.text, arguments, &folder);
        let mut rendered = format!("Base directory of this skill: {folder}\n\n{text}");
        if !has_arguments && !arguments.trim().is_empty() {
            rendered.push_str("\n\nARGUMENTS: ");
            rendered.push_str(arguments);
        }
        rendered
    }
}

/// Replaces placeholders in one pass, so that those in the arguments stay. Returns the text, and
/// whether it has placeholders of arguments.
fn substitute(text: &str, arguments: &str, folder: &str) -> (String, bool) {
    let (mut result, mut rest, mut has_arguments) = (String::new(), text, false);
    while let Some(start) = rest.find('$') {
        result.push_str(&rest[..start]);
        rest = &rest[start..];
        let roots = ["${SKILL_ROOT}", "${CLAUDE_SKILL_DIR}"];
        if let Some(after) = roots.iter().find_map(|root| rest.strip_prefix(root)) {
            result.push_str(folder);
            rest = after;
        } else if let Some((value, after)) = argument(rest, arguments) {
            has_arguments = true;
            result.push_str(value);
            rest = after;
        } else {
            result.push('$');
            rest = &rest[1..];
        }
    }
    result.push_str(rest);
    (result, has_arguments)
}

/// The value of the placeholder of arguments at the start, and the text after it.
fn argument<'a>(text: &'a str, arguments: &'a str) -> Option<(&'a str, &'a str)> {
    let after = text.strip_prefix("$ARGUMENTS")?;
    if after.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let indexed = after.strip_prefix('[').and_then(|after| after.split_once(']'));
    match indexed.and_then(|(index, after)| Some((index.parse::<usize>().ok()?, after))) {
        Some((index, after)) => {
            Some((arguments.split_whitespace().nth(index).unwrap_or_default(), after))
        }
        None => Some((arguments, after)),
    }
}

#[cfg(test)]
mod tests {
    use super::substitute;

    #[test]
    fn placeholders_are_replaced_once() {
        for (text, expected) in [
            ("Fix $ARGUMENTS.", "Fix a $ARGUMENTS[0] c."),
            ("$ARGUMENTS[0]+$ARGUMENTS[2]+$ARGUMENTS[9]", "a+c+"),
            ("$ARGUMENTS[x] $ARGUMENTS", "a $ARGUMENTS[0] c[x] a $ARGUMENTS[0] c"),
            ("${SKILL_ROOT}/a ${CLAUDE_SKILL_DIR}/b ${HOME}", "/s/a /s/b ${HOME}"),
            ("costs $5, $ARGUMENTS_X, $", "costs $5, $ARGUMENTS_X, $"),
        ] {
            assert_eq!(substitute(text, "a $ARGUMENTS[0] c", "/s").0, expected);
        }
    }

    #[test]
    fn placeholders_of_arguments_are_found() {
        assert!(substitute("$ARGUMENTS[1]", "", "/s").1);
        assert!(!substitute("${SKILL_ROOT} $ARGUMENTSX", "", "/s").1);
    }
}
