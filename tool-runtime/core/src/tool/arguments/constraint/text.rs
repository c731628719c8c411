//! `pattern = "regex"` and `format = "date-time"`.

use super::Constraint;
use crate::schema::engine;
use schemars::Schema;
use std::borrow::Cow;
use std::sync::OnceLock;

/// String types, and options of them.
#[diagnostic::on_unimplemented(
    message = "`pattern` and `format` need text, and `{Self}` is not text",
    label = "not text",
    note = "write `String` or `Option<String>`, or put the constraint on the type's own schema"
)]
pub trait Textual {
    /// The text, if there is one.
    fn text(&self) -> Option<&str>;
}

macro_rules! textual {
    ($([$($generics:tt)*] $text:ty, $value:ident => $as_text:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Textual for $text {
            fn text(&self) -> Option<&str> {
                let $value = self;
                $as_text
            }
        }
    )*};
}

textual! {
    [] String, text => Some(text);
    [] Box<str>, text => Some(text);
    [] Cow<'_, str>, text => Some(text);
    [T: Textual] Option<T>, text => text.as_ref()?.text();
}

/// A regular expression, in the syntax of crate `regex`, that must be found in the text.
pub struct Pattern<T> {
    pattern: &'static str,
    compiled: OnceLock<engine::Pattern>,
    text: fn(&T) -> Option<&str>,
}

impl<T> Pattern<T> {
    fn engine(&self) -> &engine::Pattern {
        self.compiled.get_or_init(|| {
            let compiled = engine::enable().compile(self.pattern);
            compiled.expect("the macro has checked the pattern")
        })
    }
}

/// A pattern that the macro has already checked.
pub const fn pattern<T: Textual>(pattern: &'static str) -> Pattern<T> {
    Pattern { pattern, compiled: OnceLock::new(), text: T::text }
}

impl<T> Constraint<T> for Pattern<T> {
    fn describe(&self, schema: &mut Schema) {
        engine::enable();
        schema.insert("pattern".to_owned(), self.pattern.into());
    }

    fn admits(&self, value: &T) -> bool {
        (self.text)(value).is_none_or(|text| self.engine().is_match(text))
    }
}

/// A JSON Schema format. Unknown formats appear in the schema and are not enforced.
pub struct Format<T> {
    format: &'static str,
    engine: &'static engine::Engine,
    text: fn(&T) -> Option<&str>,
}

/// A format by its name.
pub fn format<T: Textual>(format: &'static str) -> Format<T> {
    Format { format, engine: engine::enable(), text: T::text }
}

impl<T> Constraint<T> for Format<T> {
    fn describe(&self, schema: &mut Schema) {
        schema.insert("format".to_owned(), self.format.into());
    }

    fn admits(&self, value: &T) -> bool {
        let conforms = |text| self.engine.conforms(self.format, text).unwrap_or(true);
        (self.text)(value).is_none_or(conforms)
    }
}
