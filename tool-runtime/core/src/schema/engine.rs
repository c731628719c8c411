//! Checks of `pattern` and `format`, in binaries whose schemas may contain them.
//!
//! Regular expressions and the parsers of formats are a sixth of a small binary, and most tools
//! need neither. Only [`enable`] refers to them, and only code that creates schemas with these
//! keywords calls it: a binary without such a schema is linked without them. Without the engine, a
//! schema with these keywords rejects every value.

use super::format;
use crate::schema::plain::is_plain;
use crate::vocabulary::regex::Regex;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::sync::{Arc, OnceLock};

/// A pattern, compiled. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Pattern {
    text: Arc<str>,
    is_match: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

impl Pattern {
    /// Whether the expression matches anywhere in the text.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        (self.is_match)(text)
    }

    /// The pattern as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

/// The two functions, which are not linked into binaries that do not need them.
#[derive(Debug)]
pub(crate) struct Engine {
    compile: fn(&str) -> Result<Pattern, String>,
    conforms: fn(&str, &str) -> Option<bool>,
}

static ENGINE: OnceLock<Engine> = OnceLock::new();

/// Links the engine. Called by all code that builds a schema that may contain `pattern` or `format`.
pub(crate) fn enable() -> &'static Engine {
    ENGINE.get_or_init(|| Engine { compile, conforms: format::conforms })
}

/// The engine, if it is linked. Otherwise a check of patterns and formats must fail.
pub(crate) fn linked() -> Option<&'static Engine> {
    ENGINE.get()
}

impl Engine {
    /// The pattern, if it compiles.
    ///
    /// # Errors
    /// The error text of crate `regex`.
    pub(crate) fn compile(&self, pattern: &str) -> Result<Pattern, String> {
        (self.compile)(pattern)
    }

    /// Whether `text` conforms to `format`; `None` for a format that is not enforced.
    pub(crate) fn conforms(&self, format: &str, text: &str) -> Option<bool> {
        (self.conforms)(format, text)
    }
}

fn compile(pattern: &str) -> Result<Pattern, String> {
    let regex = Regex::new(pattern)?;
    Ok(Pattern { text: pattern.into(), is_match: Arc::new(move |text| regex.is_match(text)) })
}

/// The schema of an argument's type, which may hold anything unless the type is plain.
pub(crate) fn subschema_for<T: JsonSchema + 'static>(generator: &mut SchemaGenerator) -> Schema {
    if !is_plain::<T>() {
        enable();
    }
    generator.subschema_for::<T>()
}
