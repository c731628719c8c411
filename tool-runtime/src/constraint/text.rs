//! `pattern = "regex"` and `format = "date-time"`.

use super::Constraint;
use crate::schema::format;
use regex::Regex;
use schemars::Schema;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::OnceLock;

/// A type that is text: strings and options of them.
#[diagnostic::on_unimplemented(
    message = "`pattern` and `format` need text, and `{Self}` is none",
    label = "no text here",
    note = "use `String` or `Option<String>`, or put the constraint on the type's own schema"
)]
pub trait Textual {
    /// The text, if there is one.
    fn text(&self) -> Option<&str>;
}

impl Textual for String {
    fn text(&self) -> Option<&str> {
        Some(self)
    }
}

impl Textual for Box<str> {
    fn text(&self) -> Option<&str> {
        Some(self)
    }
}

impl Textual for Cow<'_, str> {
    fn text(&self) -> Option<&str> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Textual> Textual for Option<T> {
    fn text(&self) -> Option<&str> {
        self.as_ref()?.text()
    }
}

/// A regular expression, in the syntax of crate `regex`, that must be found in the text.
pub struct Pattern<T: Textual> {
    pattern: &'static str,
    regex: OnceLock<Regex>,
    of: PhantomData<fn(T)>,
}

impl<T: Textual> Pattern<T> {
    /// From a pattern that the macro has already checked.
    pub const fn new(pattern: &'static str) -> Self {
        Self { pattern, regex: OnceLock::new(), of: PhantomData }
    }

    fn regex(&self) -> &Regex {
        self.regex
            .get_or_init(|| Regex::new(self.pattern).expect("the macro has checked the pattern"))
    }
}

impl<T: Textual> Constraint<T> for Pattern<T> {
    fn describe(&self, schema: &mut Schema) {
        schema.insert("pattern".to_owned(), self.pattern.into());
    }

    fn admits(&self, value: &T) -> bool {
        value.text().is_none_or(|text| self.regex().is_match(text))
    }
}

/// A format of JSON Schema; formats that nobody here knows are advertised and not enforced.
pub struct Format<T: Textual> {
    format: &'static str,
    of: PhantomData<fn(T)>,
}

impl<T: Textual> Format<T> {
    /// From the format's name.
    pub fn new(format: &'static str) -> Self {
        Self { format, of: PhantomData }
    }
}

impl<T: Textual> Constraint<T> for Format<T> {
    fn describe(&self, schema: &mut Schema) {
        schema.insert("format".to_owned(), self.format.into());
    }

    fn admits(&self, value: &T) -> bool {
        value.text().is_none_or(|text| format::conforms(self.format, text).unwrap_or(true))
    }
}
