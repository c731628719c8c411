//! The check of one call's arguments.

use crate::vocabulary::error::{CallError, ErrorClass};
use crate::vocabulary::matching::{ArgumentMatch, CallRule, MatchedArgument, Matcher, text_of};

/// The calls of a tool that a declaration is about.
pub(super) struct Limit {
    pub(super) declaration: String,
    pub(super) matcher: Box<dyn Matcher>,
}

/// The limits on the calls of one tool.
pub(super) struct ArgumentRule {
    pub(super) tool: String,
    pub(super) argument: MatchedArgument,
    /// Calls that are allowed; all if this is empty.
    pub(super) allow: Vec<Limit>,
    /// Calls that are denied, even if they are allowed.
    pub(super) deny: Vec<Limit>,
}

impl CallRule for ArgumentRule {
    fn check(&self, arguments: &str) -> Result<(), CallError> {
        let name = &self.argument.name;
        let text = text_of(arguments, &self.argument)
            .map_err(|problem| self.refuse(&format!("`{name}` {problem}")))?;
        for Limit { declaration, matcher } in &self.deny {
            match matcher.matches(&text) {
                ArgumentMatch::No => {}
                ArgumentMatch::Yes => {
                    return Err(
                        self.refuse(&format!("`{name}` matches `{declaration}`, which is denied"))
                    );
                }
                ArgumentMatch::Undecidable(reason) => {
                    return Err(self.refuse(&format!("`{declaration}` is denied, and {reason}")));
                }
            }
        }
        self.check_allowed(&text)
    }
}

impl ArgumentRule {
    fn check_allowed(&self, text: &str) -> Result<(), CallError> {
        let Some(first) = self.allow.first() else { return Ok(()) };
        let parts = first.matcher.parts(text);
        let mut needed = parts.iter().filter(|part| !part.is_harmless);
        needed.try_for_each(|part| {
            self.check_part(part.text).map_err(|reason| {
                let name = &self.argument.name;
                self.refuse(&match parts.len() {
                    1 => format!("`{name}` {reason}"),
                    _ => format!("`{}` in `{name}` {reason}", part.text),
                })
            })
        })
    }

    /// # Errors
    /// The reason why no limit allows the text, as a phrase about it.
    fn check_part(&self, text: &str) -> Result<(), String> {
        let mut reasons = Vec::new();
        for limit in &self.allow {
            match limit.matcher.matches(text) {
                ArgumentMatch::Yes => return Ok(()),
                ArgumentMatch::No => {}
                ArgumentMatch::Undecidable(reason) => reasons.push(reason),
            }
        }
        let allowed: Vec<String> =
            self.allow.iter().map(|limit| format!("`{}`", limit.declaration)).collect();
        let reason = reasons.first().map(|reason| format!("; {reason}")).unwrap_or_default();
        Err(format!("does not match {}{reason}", allowed.join(" or ")))
    }

    fn refuse(&self, reason: &str) -> CallError {
        let text = format!("the call to `{}` is not allowed: {reason}", self.tool);
        CallError::new(ErrorClass::Denied, text)
    }
}
