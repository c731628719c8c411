//! Strings of arguments that are in files or come from standard input.

use std::borrow::Cow;
use std::io::{self, Read as _};

/// Reads standard input at most once.
#[derive(Default)]
pub(super) struct Sources {
    has_read_stdin: bool,
}

impl Sources {
    /// The text that a value means: `@FILE` that of a file, `@-` standard input, `@@text` is `@text`.
    ///
    /// # Errors
    /// It cannot be read, is not UTF-8, or standard input was read before.
    pub(super) fn text<'t>(&mut self, name: &str, value: &'t str) -> Result<Cow<'t, str>, String> {
        match value.strip_prefix('@') {
            None => Ok(value.into()),
            Some(literal) if literal.starts_with('@') => Ok(literal.into()),
            Some("-") => self.stdin(name).map(Cow::from),
            Some(path) => std::fs::read_to_string(path).map(Cow::from).map_err(|error| {
                format!(
                    "`{name}`: cannot read `{path}`: {error}; for text that begins with `@`, write `{name}=@{value}`"
                )
            }),
        }
    }

    fn stdin(&mut self, name: &str) -> Result<String, String> {
        if std::mem::replace(&mut self.has_read_stdin, true) {
            return Err(format!("`{name}`: standard input is given twice; give it once"));
        }
        stdin()
    }
}

/// The text of `--args`: a JSON object, `@FILE` that of a file, `-` standard input.
///
/// # Errors
/// It cannot be read.
pub(super) fn object(value: &str) -> Result<String, String> {
    match value.strip_prefix('@') {
        None if value == "-" => stdin(),
        None => Ok(value.to_owned()),
        Some("-") => stdin(),
        Some(path) => std::fs::read_to_string(path)
            .map_err(|error| format!("`--args`: cannot read `{path}`: {error}")),
    }
}

/// The text of standard input.
///
/// # Errors
/// It cannot be read, or is not UTF-8.
pub(super) fn stdin() -> Result<String, String> {
    let mut text = String::new();
    let read = io::stdin().read_to_string(&mut text);
    read.map_err(|error| format!("cannot read standard input: {error}")).map(|_| text)
}
