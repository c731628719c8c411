//! Keys of the resources that a call reads or writes, as in `reads("file:{path}")`.

use crate::diagnostics::Diagnostics;
use crate::item::plain_ident;
use crate::model::{Argument, Model};
use crate::names;
use proc_macro2::{Ident, Span};
use syn::{FnArg, LitStr};

/// One key: literals, and the arguments between them.
pub(crate) struct Key<'a> {
    /// One literal more than there are parts.
    pub(crate) literals: Vec<String>,
    pub(crate) parts: Vec<&'a Ident>,
    pub(crate) span: Span,
}

/// A key as written; its names are not resolved.
#[derive(Debug, PartialEq)]
struct Template {
    literals: Vec<String>,
    names: Vec<String>,
}

impl<'a> Key<'a> {
    /// Reads one key; reports each name that is not an argument's.
    pub(crate) fn parse(
        text: &LitStr,
        model: &'a Model<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let template = match Template::parse(&text.value()) {
            Ok(template) => template,
            Err(message) => {
                diagnostics.error_at(text.span(), message);
                return None;
            }
        };
        let mut parts = Vec::new();
        for name in &template.names {
            match part(name, model) {
                Ok(part) => parts.extend(part),
                Err(message) => diagnostics.error_at(text.span(), message),
            }
        }
        let is_whole = parts.len() == template.names.len();
        is_whole.then(|| Self { literals: template.literals, parts, span: text.span() })
    }
}

impl Template {
    fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("the key is empty; write a scheme and a name, as in `file:{path}`".into());
        }
        let template = Self::split(text)?;
        match template.has_scheme() {
            true => Ok(template),
            false => Err(format!(
                "key `{text}` does not say what kind of thing it names; begin it with a scheme, as in `file:{{path}}`"
            )),
        }
    }

    fn split(text: &str) -> Result<Self, String> {
        let (mut literals, mut names) = (Vec::new(), Vec::new());
        let mut literal = String::new();
        let mut rest = text;
        while let Some(index) = rest.find(['{', '}']) {
            literal.push_str(&rest[..index]);
            let brace = &rest[index..=index];
            rest = &rest[index + 1..];
            if let Some(behind) = rest.strip_prefix(brace) {
                literal.push_str(brace);
                rest = behind;
                continue;
            }
            let (name, behind) = placeholder(brace, rest)?;
            names.push(name);
            literals.push(std::mem::take(&mut literal));
            rest = behind;
        }
        literal.push_str(rest);
        literals.push(literal);
        Ok(Self { literals, names })
    }

    fn has_scheme(&self) -> bool {
        let scheme = self.literals.first().and_then(|first| first.split_once(':'));
        scheme.is_some_and(|(scheme, _)| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
            !scheme.is_empty() && scheme.chars().all(allowed)
        })
    }
}

/// The name after an opening brace, and the text after the closing brace.
fn placeholder<'t>(brace: &str, rest: &'t str) -> Result<(String, &'t str), String> {
    let named = rest.split_once('}').filter(|_| brace == "{");
    let Some((name, behind)) = named else {
        return Err(format!(
            "`{brace}` has no counterpart; write `{{path}}` for an argument, `{brace}{brace}` for the brace itself"
        ));
    };
    match syn::parse_str::<syn::Ident>(name).or_else(|_| syn::parse_str(&format!("r#{name}"))) {
        Ok(ident) => Ok((names::unraw(&ident), behind)),
        Err(_) => Err(format!(
            "`{{{name}}}` is not an argument's name; write `{{path}}`, or `{{{{` and `}}}}` for braces"
        )),
    }
}

/// The argument of a name, or the reason why it cannot be in a key. `None` for a parameter that
/// has already been rejected.
fn part<'a>(name: &str, model: &'a Model<'_>) -> Result<Option<&'a Ident>, String> {
    match model.arguments().find(|argument| names::unraw(argument.ident) == name) {
        Some(argument) => usable(name, argument).map(Some),
        None if is_injected(name, model) => Err(format!(
            "`{name}` is injected and not an argument; write the name of an argument in the key"
        )),
        None if is_parameter(name, model) => Ok(None),
        None => Err(unknown(name, model)),
    }
}

fn usable<'a>(name: &str, argument: &'a Argument<'_>) -> Result<&'a Ident, String> {
    let options = &argument.options;
    if options.secret.is_present() {
        return Err(format!(
            "`{name}` is secret and a key is shown; write a key without it, or remove `secret`"
        ));
    }
    if options.flatten.is_present() {
        return Err(format!(
            "`{name}` is flattened and not one value; write `access = path` with a function of the action"
        ));
    }
    Ok(argument.ident)
}

fn is_injected(name: &str, model: &Model<'_>) -> bool {
    let mut idents = model.injected().filter_map(|injected| plain_ident(&injected.typed.pat));
    idents.any(|ident| names::unraw(ident) == name)
}

/// Whether a name is that of a parameter that was rejected.
fn is_parameter(name: &str, model: &Model<'_>) -> bool {
    let mut inputs = model.function.signature.inputs.iter();
    inputs.any(|input| match input {
        FnArg::Typed(typed) => {
            plain_ident(&typed.pat).is_some_and(|ident| names::unraw(ident) == name)
        }
        FnArg::Receiver(_) => false,
    })
}

fn unknown(name: &str, model: &Model<'_>) -> String {
    let usable = model.arguments().filter(|argument| usable(name, argument).is_ok());
    let arguments: Vec<String> = usable.map(|argument| names::unraw(argument.ident)).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let problem = format!("the tool has no argument `{name}`");
    if arguments.is_empty() {
        return format!("{problem}; write a key without `{{{name}}}`");
    }
    match names::nearest(name, &arguments) {
        Some(near) => format!("{problem}; did you mean `{{{near}}}`?"),
        None => format!("{problem}; write one of `{{{}}}`", arguments.join("}`, `{")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> (Vec<String>, Vec<String>) {
        let template = Template::parse(text).expect("a good key");
        (template.literals, template.names)
    }

    #[test]
    fn literals_and_names_are_parsed_in_order() {
        let owned = |strings: &[&str]| strings.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(split("file:{path}"), (owned(&["file:", ""]), owned(&["path"])));
        assert_eq!(split("a:{b}{c}/d"), (owned(&["a:", "", "/d"]), owned(&["b", "c"])));
        assert_eq!(split("a:{{{r#type}}}"), (owned(&["a:{", "}"]), owned(&["type"])));
        assert_eq!(split("a:{type}"), (owned(&["a:", ""]), owned(&["type"])));
        assert_eq!(split("clock:"), (owned(&["clock:"]), owned(&[])));
    }

    #[test]
    fn invalid_keys_are_rejected() {
        for text in
            ["", " ", "path", "{path}", "{a}:b", ":b", "a b:c", "a:{", "a:}", "a:{}", "a:{b c}"]
        {
            let message = Template::parse(text).expect_err(text);
            assert!(message.contains("; "), "{message}");
        }
    }
}
