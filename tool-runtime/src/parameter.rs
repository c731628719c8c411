//! The table that `#[tool]` leaves of a tool's arguments: the one source of the schema, of
//! what is optional, and of what must never be shown.

use crate::context::Need;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::time::Duration;

/// One argument of a tool.
#[derive(Clone, Copy)]
pub struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) is_flattened: bool,
    pub(crate) is_secret: bool,
    pub(crate) has_default: bool,
    pub(crate) refine: fn(&mut Schema),
    schema: fn(&mut SchemaGenerator) -> Schema,
    can_be_absent: fn() -> bool,
}

impl Parameter {
    /// An argument of type `T`.
    pub const fn new<T: ArgumentType>(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            description,
            aliases: &[],
            is_flattened: false,
            is_secret: false,
            has_default: false,
            refine: |_| {},
            schema: T::schema,
            can_be_absent: T::can_be_absent,
        }
    }

    /// Other names that are accepted and not advertised.
    #[must_use]
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Its fields stand among the other arguments.
    #[must_use]
    pub const fn flattened(mut self) -> Self {
        self.is_flattened = true;
        self
    }

    /// Its value is never shown.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }

    /// It has a default.
    #[must_use]
    pub const fn optional(mut self) -> Self {
        self.has_default = true;
        self
    }

    /// What writes defaults, examples and constraints into its schema.
    #[must_use]
    pub const fn refined(mut self, refine: fn(&mut Schema)) -> Self {
        self.refine = refine;
        self
    }

    /// The schema of its type alone.
    pub(crate) fn type_schema(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.schema)(generator)
    }

    /// Whether a call without it is complete.
    pub(crate) fn is_optional(&self) -> bool {
        self.has_default || (self.can_be_absent)()
    }
}

/// A type that an argument may have.
///
/// It has no blanket error message on purpose: rustc's own words for `Deserialize` and
/// `JsonSchema` name the derive to add.
pub trait ArgumentType {
    /// Its schema.
    fn schema(generator: &mut SchemaGenerator) -> Schema;
    /// Whether absence decodes, as it does for `Option`.
    fn can_be_absent() -> bool;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> ArgumentType for T {
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<T>()
    }

    fn can_be_absent() -> bool {
        crate::arguments::absent::<T>().is_some()
    }
}

/// What the runtime must know of a tool and a model must not.
#[derive(Clone, Copy)]
pub struct Settings {
    pub(crate) parameters: &'static [Parameter],
    pub(crate) needs: &'static [Need],
    pub(crate) timeout: Option<Duration>,
}

impl Settings {
    /// From the tables that the macro wrote.
    pub fn new(parameters: &'static [Parameter], needs: &'static [Need]) -> Self {
        Self { parameters, needs, timeout: None }
    }

    /// The tool's own time limit.
    #[must_use]
    pub fn timeout(mut self, seconds: u64, nanos: u32) -> Self {
        self.timeout = Some(Duration::new(seconds, nanos));
        self
    }
}

/// A hand-written action has no table and needs nothing.
impl Default for Settings {
    fn default() -> Self {
        Self::new(&[], &[])
    }
}

/// A default given as a string literal.
///
/// # Panics
/// Never.
pub fn text_default<T: TextDefault>(text: &'static str) -> T {
    T::from(text)
}

/// A type that a string literal can be the default of.
#[diagnostic::on_unimplemented(
    message = "a string literal is no default for `{Self}`",
    label = "expected an expression of type `{Self}`",
    note = "write a Rust expression of the parameter's type: `default = 1`, `default = Some(\"a\".into())`"
)]
pub trait TextDefault: From<&'static str> {}

#[diagnostic::do_not_recommend]
impl<T: From<&'static str>> TextDefault for T {}

/// A default value, by reference.
pub struct DefaultOf<'a, T>(
    /// The value.
    pub &'a T,
);

/// Writes a default into the schema, where its type serialises.
pub trait AdvertiseDefault {
    /// Writes it.
    fn advertise(&self, schema: &mut Schema);
}

impl<T: Serialize> AdvertiseDefault for &DefaultOf<'_, T> {
    fn advertise(&self, schema: &mut Schema) {
        if let Ok(value) = serde_json::to_value(self.0) {
            schema.insert("default".to_owned(), value);
        }
    }
}

/// Leaves a default out of the schema, where its type does not serialise.
pub trait OmitDefault {
    /// Does nothing.
    fn advertise(&self, schema: &mut Schema);
}

impl<T> OmitDefault for DefaultOf<'_, T> {
    fn advertise(&self, _: &mut Schema) {}
}

/// Writes an example into the schema.
pub fn advertise_example<T: Serialize>(schema: &mut Schema, example: &T) {
    if let Ok(value) = serde_json::to_value(example) {
        schema.insert("examples".to_owned(), vec![value].into());
    }
}

/// What `visualize = path` returns, as text.
pub fn shown(value: &impl Display) -> String {
    value.to_string()
}
