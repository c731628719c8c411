//! Rules for the argument that patterns of declarations are about.

use crate::diagnostics::Diagnostics;
use crate::kind::Kind;
use crate::model::{Argument, Model};
use proc_macro2::Span;

/// The variant of `MatchAs` for each value.
const KINDS: [(&str, &str); 3] = [("shell", "Shell"), ("path", "Path"), ("url", "Url")];

/// The variant of `MatchAs` that an argument names.
pub(crate) fn variant(argument: &Argument<'_>) -> Option<(Span, &'static str)> {
    let written = argument.options.match_as.as_ref()?;
    let kind = KINDS.iter().find(|(kind, _)| *kind == written.value())?;
    Some((written.span(), kind.1))
}

pub(super) fn match_as(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    let marked = || model.arguments().filter(|argument| argument.options.match_as.is_some());
    for argument in marked() {
        for (span, message) in mistakes(model.kind, argument) {
            diagnostics.error_at(span, message);
        }
    }
    for second in marked().skip(1).filter_map(|argument| argument.options.match_as.as_ref()) {
        diagnostics.error_at(
            second.span(),
            "a pattern is about one argument of a tool; remove `match_as` from the others",
        );
    }
}

fn mistakes(kind: Kind, argument: &Argument<'_>) -> Vec<(Span, String)> {
    let Some(written) = &argument.options.match_as else { return Vec::new() };
    let (options, mut mistakes) = (&argument.options, Vec::new());
    if kind != Kind::Tool {
        mistakes.push("patterns are about arguments of tools; remove `match_as`".to_owned());
    }
    if variant(argument).is_none() {
        let value = written.value();
        mistakes.push(format!(
            "`{value}` is not a kind of pattern; write `match_as = \"shell\"`, `\"path\"` or `\"url\"`"
        ));
    }
    if options.flatten.is_present() {
        mistakes
            .push("a flattened parameter is not one text to match; remove `match_as`".to_owned());
    }
    if options.secret.is_present() {
        mistakes
            .push("refusals quote words of the value; remove `match_as` or `secret`".to_owned());
    }
    mistakes.into_iter().map(|message| (written.span(), message)).collect()
}
