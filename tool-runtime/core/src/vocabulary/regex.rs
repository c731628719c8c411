//! Regular expressions, with the syntax and the error messages of crate `regex`.
//!
//! Only a search in short strings is needed. Crate `regex` would link more engines, twice the code.

use regex_automata::nfa::thompson::pikevm::{Cache, PikeVM};
use regex_automata::nfa::thompson::{Compiler, NFA, WhichCaptures};
use regex_syntax::hir::Hir;
use std::sync::Mutex;

/// The limit of crate `regex` on the size of a compiled expression.
const SIZE_LIMIT: usize = 10 << 20;

/// A regular expression, compiled.
pub(crate) struct Regex {
    machine: PikeVM,
    cache: Mutex<Cache>,
}

impl Regex {
    /// Compiles an expression.
    ///
    /// # Errors
    /// The error text of crate `regex`.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let parsed = regex_syntax::parse(pattern).map_err(|error| error.to_string())?;
        let machine =
            PikeVM::new_from_nfa(compiled(&parsed)?).map_err(|error| error.to_string())?;
        Ok(Self { cache: Mutex::new(machine.create_cache()), machine })
    }

    /// Whether the expression matches anywhere in the text.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        match self.cache.try_lock() {
            Ok(mut cache) => self.machine.is_match(&mut cache, text),
            // Another thread uses the cache.
            Err(_) => self.machine.is_match(&mut self.machine.create_cache(), text),
        }
    }
}

fn compiled(parsed: &Hir) -> Result<NFA, String> {
    let config = NFA::config().which_captures(WhichCaptures::None).nfa_size_limit(Some(SIZE_LIMIT));
    let nfa = Compiler::new().configure(config).build_from_hir(parsed);
    nfa.map_err(|error| match error.size_limit() {
        Some(limit) => format!("Compiled regex exceeds size limit of {limit} bytes."),
        None => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_matches_anywhere_unless_anchored() {
        for (pattern, text, is_match) in [
            ("b+", "abbc", true),
            ("^b+$", "abbc", false),
            ("^a.c$", "abc", true),
            (r"\bto\b", "what to do", true),
            (r"\bto\b", "tomorrow", false),
            (r"^\p{Lu}\w+$", "\u{c9}mile", true),
            ("(?i)^stra\u{df}e$", "STRA\u{1e9e}E", true),
            (r"^[\p{L}&&[^x]]$", "x", false),
            ("", "", true),
        ] {
            let regex = Regex::new(pattern).expect("it compiles");
            assert_eq!(regex.is_match(text), is_match, "{pattern} {text}");
        }
    }

    #[test]
    fn errors_have_the_text_of_the_crate() {
        let words = |pattern: &str| Regex::new(pattern).err().expect("it is wrong");
        assert!(words("(").contains("unclosed group"));
        assert_eq!(words(r"\w{2000}"), "Compiled regex exceeds size limit of 10485760 bytes.");
    }
}
