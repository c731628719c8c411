//! Expands `${VAR}` in strings, and opencode's `{env:VAR}`.

/// A reference to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reference<'a> {
    /// The name, without `env:`.
    pub(super) name: &'a str,
    /// Whether the reference is limited to the environment, by `env:`.
    pub(super) is_environment: bool,
    /// The value of an unset or empty variable.
    pub(super) default: Option<&'a str>,
}

/// The reason why a string cannot be expanded. Contains names only: values and defaults may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ExpandError<'a> {
    /// `${` without `}`.
    Unclosed,
    /// `${}`.
    Unnamed,
    /// `${A:?..}` and other unsupported shell forms, with the leading name.
    Form(&'a str),
    /// `${A:-${B}}`.
    Nested(&'a str),
    /// The value of this name contains `${`.
    Recursive(&'a str),
    /// No source has a value for this name.
    Unresolved(Reference<'a>),
}

/// opencode's form of `${env:`.
const ENV_PREFIX: &str = "{env:";

/// The text with its references replaced by what `look_up` finds, and `$${` by `${`. A lone `$`
/// and `$VAR` are unchanged.
///
/// # Errors
/// Everything that cannot be expanded.
pub(super) fn expand<'a>(
    text: &'a str,
    mut look_up: impl FnMut(&Reference<'a>) -> Option<String>,
) -> Result<String, Vec<ExpandError<'a>>> {
    let (mut expanded, mut mistakes) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some(start) = next(rest) {
        expanded.push_str(&rest[..start]);
        let here = &rest[start..];
        rest = if let Some(after) = here.strip_prefix("$${") {
            expanded.push_str("${");
            after
        } else if let Some(after) = here.strip_prefix("${").or_else(|| env_reference(here)) {
            let (body, after) = after.split_once('}').unwrap_or((after, ""));
            let is_closed = here.contains('}');
            match resolve(body, is_closed, &mut look_up) {
                Ok(value) => expanded.push_str(&value),
                Err(mistake) => mistakes.push(mistake),
            }
            after
        } else {
            // `$` or `{`.
            expanded.push_str(&here[..1]);
            &here[1..]
        };
    }
    expanded.push_str(rest);
    if mistakes.is_empty() { Ok(expanded) } else { Err(mistakes) }
}

/// The position of the next possible reference.
fn next(text: &str) -> Option<usize> {
    [text.find('$'), text.find(ENV_PREFIX)].into_iter().flatten().min()
}

/// The text after the opening brace of a closed `{env:VAR}`.
fn env_reference(here: &str) -> Option<&str> {
    let after = here.strip_prefix('{').filter(|_| here.starts_with(ENV_PREFIX))?;
    after.contains('}').then_some(after)
}

fn resolve<'a>(
    body: &'a str,
    is_closed: bool,
    mut look_up: impl FnMut(&Reference<'a>) -> Option<String>,
) -> Result<String, ExpandError<'a>> {
    if body.contains("${") {
        return Err(ExpandError::Nested(leading_name(body)));
    }
    if !is_closed {
        return Err(ExpandError::Unclosed);
    }
    let reference = reference(body)?;
    let value = look_up(&reference);
    match (value, reference.default) {
        (Some(value), Some(default)) if value.is_empty() => Ok(default.to_owned()),
        (Some(value), _) if value.contains("${") => Err(ExpandError::Recursive(reference.name)),
        (Some(value), _) => Ok(value),
        (None, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(ExpandError::Unresolved(reference)),
    }
}

fn reference(body: &str) -> Result<Reference<'_>, ExpandError<'_>> {
    let (name, default) = match body.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (body, None),
    };
    let env_reference = name.strip_prefix("env:");
    let (name, is_environment) = (env_reference.unwrap_or(name), env_reference.is_some());
    if name.is_empty() {
        return Err(ExpandError::Unnamed);
    }
    if !is_name(name) {
        return Err(ExpandError::Form(leading_name(name)));
    }
    Ok(Reference { name, is_environment, default })
}

/// Whether the text is a variable name, or an editor's placeholder with a kind, such as `input:api-key`.
fn is_name(name: &str) -> bool {
    let (kind, name) = name.split_once(':').unwrap_or(("", name));
    let is_kind = kind.is_empty() || kind.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_odd = |c: char| !kind.is_empty() && matches!(c, '-' | ' ' | ':');
    is_kind && !name.is_empty() && name.chars().all(|c| is_plain(c) || is_odd(c))
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/')
}

/// The leading characters of a reference that can only belong to a name, so that errors show no value.
fn leading_name(body: &str) -> &str {
    &body[..body.find(|c| !is_plain(c)).unwrap_or(body.len())]
}
