//! The table of arguments that `#[tool]` generates: the source of the schema, of optional arguments
//! and of secrets.

mod foreign;
mod json;

pub use foreign::{OfBytes, OfChrono, OfIndexmap, OfJiff, OfRustDecimal, OfSemver, OfUrl, OfUuid};
pub use json::{JsonOf, OmitJson, WriteJson, json_object, to_json};

use crate::schema::engine;
use crate::tool::arguments::probe::{self, Decode};
use crate::tool::arguments::schemas;
use crate::tool::arguments::{self, ArgumentReader, DecodeError};
use crate::vocabulary::matching::MatchAs;
use crate::vocabulary::need::Need;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

/// One argument of a tool.
#[derive(Clone, Copy)]
pub struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) is_flattened: bool,
    pub(crate) is_secret: bool,
    pub(crate) header: Option<&'static str>,
    pub(crate) match_as: Option<MatchAs>,
    pub(crate) has_default: bool,
    pub(crate) refine: fn(&mut Schema),
    pub(crate) values: fn(&mut Schema),
    schema: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) decode: Decode,
    pub(crate) allows_unknown_fields: bool,
    can_be_absent: fn() -> bool,
}

impl Parameter {
    /// Other names that are accepted and not advertised.
    #[must_use]
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// The fields of the value are arguments themselves, as with `#[serde(flatten)]`.
    #[must_use]
    pub const fn flattened(mut self) -> Self {
        self.is_flattened = true;
        self
    }

    /// The value of the argument is never shown.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }

    /// Clients repeat the value in a header of their request, for proxies.
    #[must_use]
    pub const fn header(mut self, name: &'static str) -> Self {
        self.header = Some(name);
        self
    }

    /// Patterns of declarations are about this argument, which is text of that kind.
    #[must_use]
    pub const fn matched_as(mut self, kind: MatchAs) -> Self {
        self.match_as = Some(kind);
        self
    }

    /// The argument has a default.
    #[must_use]
    pub const fn optional(mut self) -> Self {
        self.has_default = true;
        self
    }

    /// Writes its constraints into its schema.
    #[must_use]
    pub const fn refined(mut self, refine: fn(&mut Schema)) -> Self {
        self.refine = refine;
        self
    }

    /// Writes its default and its example into its schema. They are the user's own expressions,
    /// evaluated once per pool.
    #[must_use]
    pub const fn valued(mut self, values: fn(&mut Schema)) -> Self {
        self.values = values;
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

/// A type as an argument. Generated code makes one per argument, at the type's own
/// span, and takes everything else from it: a type that cannot be an argument is reported once,
/// by `ArgumentValue`.
pub struct ArgumentType<T> {
    schema: fn(&mut SchemaGenerator) -> Schema,
    decode: Decode,
    /// Whether keys that the type ignores in this value are allowed.
    allows_ignored: fn(&str) -> bool,
    allows_unknown_fields: bool,
    can_be_absent: fn() -> bool,
    read: Read<T>,
    end: End<T>,
}

/// A type that models can give a value of.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument",
    label = "derive `Deserialize` and `JsonSchema` for it",
    note = "the derives are `serde::Deserialize` and `schemars::JsonSchema`, also for the types inside; a type of another crate has them by a feature of that crate and one of `schemars`",
    note = "if it is state, borrow it as `&{Self}`",
    note = "nothing is extracted: write `T` for the argument `Json<T>`, and `&T` for the state `State<T>`"
)]
pub trait ArgumentValue: DeserializeOwned + JsonSchema + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + 'static> ArgumentValue for T {}

/// Types whose JSON is a string, and options of them.
#[diagnostic::on_unimplemented(
    message = "`match_as` needs text, and `{Self}` is not text",
    label = "not text",
    note = "write `String`, `PathBuf`, or an `Option` of them"
)]
pub trait MatchedText {}

#[diagnostic::do_not_recommend]
impl MatchedText for String {}
#[diagnostic::do_not_recommend]
impl MatchedText for Box<str> {}
#[diagnostic::do_not_recommend]
impl MatchedText for Cow<'_, str> {}
#[diagnostic::do_not_recommend]
impl MatchedText for PathBuf {}
#[diagnostic::do_not_recommend]
impl<T: MatchedText> MatchedText for Option<T> {}

/// The kind of an argument that is text.
pub const fn matched_text<T: MatchedText>(kind: MatchAs) -> MatchAs {
    kind
}

/// Rejects a parameter at compile time, at the call.
///
/// # Panics
/// Always.
#[track_caller]
pub const fn reject(message: &'static str) {
    panic!("{}", message)
}

/// Decodes the value of a key.
type Read<T> = fn(&mut ArgumentReader<'_, '_>, &mut Option<T>) -> Result<(), DecodeError>;

/// Makes a value when all keys are read.
type End<T> = fn(&mut ArgumentReader<'_, '_>, usize) -> Result<T, DecodeError>;

/// An argument that is not flattened.
pub const fn argument<T: ArgumentValue>() -> ArgumentType<T> {
    ArgumentType {
        schema: engine::subschema_for::<T>,
        decode: probe::decode::<T>,
        allows_ignored: schemas::allows_ignored::<T>,
        allows_unknown_fields: false,
        can_be_absent: || arguments::absent::<T>().is_some(),
        read: |reader, slot| reader.read(slot),
        end: |_, parameter| arguments::required(None, parameter),
    }
}

/// An argument with a default.
pub const fn defaulted<T: ArgumentValue>() -> ArgumentType<T> {
    ArgumentType {
        can_be_absent: || true,
        read: |reader, slot| reader.read_or_null(slot),
        end: |_, _| unreachable!("generated code makes the default"),
        ..argument()
    }
}

/// An argument whose fields are arguments themselves.
pub const fn flattened<T: ArgumentValue>() -> ArgumentType<T> {
    ArgumentType {
        read: |_, _| unreachable!("a flattened argument has no key"),
        end: |reader, parameter| reader.rest(parameter),
        ..argument()
    }
}

impl<T> ArgumentType<T> {
    /// Ignores unknown fields inside the value, as serde does.
    #[must_use]
    pub const fn allow_unknown_fields(mut self) -> Self {
        self.allows_ignored = |_| true;
        self.allows_unknown_fields = true;
        self
    }

    /// The entry in the table.
    pub const fn parameter(&self, name: &'static str, description: &'static str) -> Parameter {
        Parameter {
            name,
            description,
            aliases: &[],
            is_flattened: false,
            is_secret: false,
            header: None,
            match_as: None,
            has_default: false,
            refine: |_| {},
            values: |_| {},
            schema: self.schema,
            decode: self.decode,
            allows_unknown_fields: self.allows_unknown_fields,
            can_be_absent: self.can_be_absent,
        }
    }

    /// Decodes the value of a key.
    ///
    /// # Errors
    /// An invalid value, or a duplicate key.
    pub fn read(
        &self,
        reader: &mut ArgumentReader<'_, '_>,
        slot: &mut Option<T>,
    ) -> Result<(), DecodeError> {
        (self.read)(reader, slot)?;
        reader.reject_ignored(self.allows_ignored)
    }

    /// The value, when all keys are read.
    ///
    /// # Errors
    /// The value is missing or invalid.
    pub fn end(
        &self,
        slot: Option<T>,
        reader: &mut ArgumentReader<'_, '_>,
        parameter: usize,
    ) -> Result<T, DecodeError> {
        match slot {
            Some(value) => Ok(value),
            None => {
                let value = (self.end)(reader, parameter)?;
                reader.reject_ignored_rest(self.allows_ignored)?;
                Ok(value)
            }
        }
    }
}

/// Properties of a tool that the runtime needs and a model must not see.
#[derive(Clone, Copy)]
pub struct Settings {
    pub(crate) parameters: &'static [Parameter],
    pub(crate) needs: &'static [Need],
    pub(crate) timeout: Option<Duration>,
    pub(crate) schema: SchemaOrigin,
    /// The toolset that the action is a method of.
    pub(crate) toolset: Option<Need>,
}

/// The origin of the schema of a tool's arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaOrigin {
    /// The table of parameters.
    Table,
    /// `input_schema = EXPR`, besides the table.
    Given,
    /// A hand-written action, which has no table.
    HandWritten,
}

impl Settings {
    /// From the tables that the macro wrote.
    pub fn new(parameters: &'static [Parameter], needs: &'static [Need]) -> Self {
        Self { parameters, needs, timeout: None, schema: SchemaOrigin::Table, toolset: None }
    }

    /// The schema was given, and is unchanged.
    #[must_use]
    pub fn given_schema(mut self) -> Self {
        self.schema = SchemaOrigin::Given;
        self
    }

    /// The action is a method of a toolset.
    #[must_use]
    pub fn method_of<T: 'static>(mut self) -> Self {
        self.toolset = Some(Need::for_type::<T>());
        self
    }

    /// The tool's own time limit.
    #[must_use]
    pub fn timeout(mut self, seconds: u64, nanos: u32) -> Self {
        self.timeout = Some(Duration::new(seconds, nanos));
        self
    }
}

/// The settings of a hand-written action: no table, no needs, any schema.
impl Default for Settings {
    fn default() -> Self {
        engine::enable();
        Self { schema: SchemaOrigin::HandWritten, ..Self::new(&[], &[]) }
    }
}

/// `default` without an expression.
pub fn type_default<T: TypeDefault>() -> T {
    T::default()
}

/// A type with a default value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no default of its own",
    label = "this type is not `Default`",
    note = "write the value, as in `default = 1`, or derive `Default` for the type"
)]
pub trait TypeDefault: Default {}

#[diagnostic::do_not_recommend]
impl<T: Default> TypeDefault for T {}

/// A default or an example given as a string literal.
pub fn text_default<T: TextDefault<Kind>, Kind>(text: &'static str) -> T {
    T::from_text(text)
}

/// Marks types that are parsed from text.
pub struct Plain;

/// Marks options of such types.
pub struct Optional;

/// A type that a string literal can be the default of.
#[diagnostic::on_unimplemented(
    message = "a string literal is not a value of type `{Self}`",
    label = "expected an expression of type `{Self}`",
    note = "write a Rust expression of the parameter's type, as in `default = 1` or `default = Level::High`"
)]
pub trait TextDefault<Kind> {
    /// The value.
    fn from_text(text: &'static str) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: From<&'static str>> TextDefault<Plain> for T {
    fn from_text(text: &'static str) -> Self {
        Self::from(text)
    }
}

#[diagnostic::do_not_recommend]
impl<T: From<&'static str>> TextDefault<Optional> for Option<T> {
    fn from_text(text: &'static str) -> Self {
        Some(T::from(text))
    }
}

/// A default value, by reference.
pub struct DefaultOf<'a, T>(
    /// The value.
    pub &'a T,
);

/// Writes a default into the schema, where its type serialises.
pub trait AdvertiseDefault {
    /// Writes the value.
    fn advertise(&self, schema: &mut Schema);
}

impl<T: Serialize> AdvertiseDefault for &DefaultOf<'_, T> {
    fn advertise(&self, schema: &mut Schema) {
        match as_written(self.0) {
            // Null means the same as leaving the argument out.
            None | Some(Value::Null) => {}
            Some(value) => drop(schema.insert("default".to_owned(), value)),
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
    match as_written(example) {
        None | Some(Value::Null) => {}
        Some(value) => drop(schema.insert("examples".to_owned(), vec![value].into())),
    }
}

/// The value of its JSON text: `0.1` of an `f32` stays `0.1` and does not get the digits of an `f64`.
fn as_written<T: Serialize>(value: &T) -> Option<Value> {
    serde_json::from_str(&serde_json::to_string(value).ok()?).ok()
}

/// The return value of `visualize = path`, as text.
pub fn to_display(value: &impl Display) -> String {
    value.to_string()
}
