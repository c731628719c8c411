//! Classifies a function's return type, through type aliases.
//!
//! schemars implements `JsonSchema` for `Result`, so one blanket implementation for structured
//! values and one for results would overlap. Generated code therefore uses method resolution: a
//! first stage separates results from other types and passes on a probe of the success type; a
//! second prefers `IntoObservation` over a structured value and rejects results inside a
//! structured value; the last level reports an unsupported type by one error.

#![allow(
    clippy::extra_unused_type_parameters,
    reason = "`accept` takes the return type for all kinds, and only the unsupported kinds have a bound on it"
)]

use crate::tool::results::observation::{IntoObservation, Json, Observation};
use crate::vocabulary::error::ToolError;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::marker::PhantomData;

/// Makes the schema of an output; `None` for one without.
pub(crate) type OutputSchema = fn(&mut SchemaGenerator) -> Option<Schema>;

/// The conversion of a return type into an observation, and its schema.
pub struct Output<T> {
    observe: fn(T) -> Result<Observation, ToolError>,
    schema: OutputSchema,
}

impl<T> Output<T> {
    /// Converts a value.
    ///
    /// # Errors
    /// The tool's own error.
    pub fn observe(&self, value: T) -> Result<Observation, ToolError> {
        (self.observe)(value)
    }

    /// Makes the schema of the structured value.
    pub fn schema(&self) -> fn(&mut SchemaGenerator) -> Option<Schema> {
        self.schema
    }
}

/// A probe of a return type.
pub struct Returned<T>(PhantomData<fn() -> T>);

impl<T> Returned<T> {
    /// The probe.
    pub const NEW: Self = Self(PhantomData);
}

impl<T, E> Returned<Result<T, E>> {
    /// The type is a result, by whatever alias.
    pub const IS_RESULT: bool = true;
}

impl<T, E> Returned<Option<Result<T, E>>> {
    /// The type has a result in it, by whatever alias.
    pub const IS_RESULT: bool = true;
}

/// The default of `Returned::IS_RESULT`, for every type that is no result.
pub trait NotResult {
    /// The type is no result.
    const IS_RESULT: bool = false;
}

impl<T> NotResult for Returned<T> {}

/// A probe of a success type.
pub struct Success<T>(PhantomData<fn() -> T>);

/// A probe of an error type.
pub struct Failure<E>(PhantomData<fn() -> E>);

/// The return type has no error type.
pub struct NoFailure;

impl NoFailure {
    /// The error type of `Failure`.
    pub fn kind(&self) -> Self {
        Self
    }
}

/// Kinds that accept every return type.
macro_rules! accept_all {
    ($($kind:ident)*) => {$(
        impl $kind {
            /// Accepts the return type.
            pub fn accept<O>(self) -> Self {
                self
            }
        }
    )*};
}

accept_all! { NoFailure Direct Flattened Structured Reported Convertible Printable }

/// Stage one: inherent methods win over those of `PlainKind`, so results are found first.
impl<T, E> Returned<Result<T, E>> {
    /// The probe of `T`.
    pub fn success(&self) -> Success<T> {
        Success(PhantomData)
    }

    /// The probe of `E`.
    pub fn failure(&self) -> Failure<E> {
        Failure(PhantomData)
    }

    /// Combines the two kinds.
    pub fn with<S: SuccessKind<T>, F: FailureKind<E>>(&self, _: S, _: F) -> Output<Result<T, E>> {
        Output { observe: |result| S::observe(result.map_err(F::convert)?), schema: S::schema }
    }
}

/// Stage one for every type that is not a `Result`.
pub trait PlainKind<T> {
    /// The probe of the type itself.
    fn success(&self) -> Success<T> {
        Success(PhantomData)
    }

    /// The return type has no error type.
    fn failure(&self) -> NoFailure {
        NoFailure
    }

    /// Takes the one kind.
    fn with<S: SuccessKind<T>>(&self, _: S, _: NoFailure) -> Output<T> {
        Output { observe: S::observe, schema: S::schema }
    }
}

impl<T> PlainKind<T> for Returned<T> {}

/// The conversion of a success into an observation.
pub trait SuccessKind<T> {
    /// Converts the value.
    ///
    /// # Errors
    /// The tool's own error.
    fn observe(value: T) -> Result<Observation, ToolError>;
    /// The schema of the observation.
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema>;
}

/// Stage two, first choice: `IntoObservation`.
pub struct Direct;

impl<T: IntoObservation> SuccessKind<T> for Direct {
    fn observe(value: T) -> Result<Observation, ToolError> {
        value.into_observation()
    }

    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        T::output_schema(generator)
    }
}

/// Stage two, second choice: a result as the success value, whose error becomes that of the call.
pub struct Flattened;

impl<T: Serialize + JsonSchema, E: Into<ToolError>> SuccessKind<Result<T, E>> for Flattened {
    fn observe(value: Result<T, E>) -> Result<Observation, ToolError> {
        <Structured as SuccessKind<T>>::observe(value.map_err(Into::into)?)
    }

    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        <Structured as SuccessKind<T>>::schema(generator)
    }
}

impl<T: Serialize + JsonSchema, E: Into<ToolError>> SuccessKind<Option<Result<T, E>>>
    for Flattened
{
    fn observe(value: Option<Result<T, E>>) -> Result<Observation, ToolError> {
        <Structured as SuccessKind<Option<T>>>::observe(value.transpose().map_err(Into::into)?)
    }

    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        <Structured as SuccessKind<Option<T>>>::schema(generator)
    }
}

/// Stage two, third choice: results elsewhere, which serde would write as `{"Err": ..}`.
/// Never created, because `accept` does not compile.
pub struct NestedResult<T>(PhantomData<fn() -> T>);

impl<T> NestedResult<T> {
    /// Reports the error at the return type `O` as the user wrote it.
    pub fn accept<O: ContainsNoResult<T>>(self) -> Self {
        self
    }
}

impl<T> SuccessKind<T> for NestedResult<T> {
    fn observe(_: T) -> Result<Observation, ToolError> {
        unreachable!("`accept` does not compile")
    }

    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        None
    }
}

/// Not implemented for any type: required only of a return type with results `T` that would be
/// reported as successes.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return the results inside `{T}`",
    label = "an `Err` in it would be reported as a success",
    note = "return `Result<.., E>` around the whole, for instance by `collect::<Result<Vec<_>, _>>()` or `?`, with an `E` that is an error or text; write `Json<..>` around the type if `{{\"Err\": ..}}` is the data you mean"
)]
pub trait ContainsNoResult<T> {}

/// Types that visibly contain a result.
pub trait ContainsResult {}

impl<T, E> ContainsResult for Result<T, E> {}
impl<T: ContainsResult> ContainsResult for Option<T> {}
impl<T: ContainsResult> ContainsResult for Box<T> {}
impl<T: ContainsResult> ContainsResult for Vec<T> {}
impl<T: ContainsResult, const N: usize> ContainsResult for [T; N] {}
impl<K, T: ContainsResult> ContainsResult for BTreeMap<K, T> {}
impl<K, T: ContainsResult, S> ContainsResult for HashMap<K, T, S> {}

/// Stage two, fourth choice: a structured value.
pub struct Structured;

impl<T: Serialize + JsonSchema> SuccessKind<T> for Structured {
    fn observe(value: T) -> Result<Observation, ToolError> {
        Json(value).into_observation()
    }

    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Json::<T>::output_schema(generator)
    }
}

/// Stage two, no match: never created, because `accept` does not compile.
pub struct Unsupported<T>(PhantomData<fn() -> T>);

impl<T> Unsupported<T> {
    /// Reports the error at the return type `O` as the user wrote it.
    pub fn accept<O: ReturnType<T>>(self) -> Self {
        self
    }
}

impl<T> SuccessKind<T> for Unsupported<T> {
    fn observe(_: T) -> Result<Observation, ToolError> {
        unreachable!("`accept` does not compile")
    }

    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        None
    }
}

/// Not implemented for any type: required only of a return type whose success `T` is unsupported.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{T}`",
    label = "not something a model can be shown",
    note = "a type of your own derives `serde::Serialize` and `schemars::JsonSchema`, or implements `IntoObservation`; instead of one of another crate, return text or what it has in a type of your own",
    note = "text, numbers, `()`, `ContentBlock` and `Observation` need nothing"
)]
pub trait ReturnType<T> {}

/// Selects `Direct`.
pub trait DirectKind {
    /// The kind.
    fn kind(&self) -> Direct {
        Direct
    }
}

impl<T: IntoObservation> DirectKind for &&&&Success<T> {}

/// Selects `Flattened`.
pub trait FlattenedKind {
    /// The kind.
    fn kind(&self) -> Flattened {
        Flattened
    }
}

impl<T: Serialize + JsonSchema, E: Into<ToolError>> FlattenedKind for &&&Success<Result<T, E>> {}
impl<T: Serialize + JsonSchema, E: Into<ToolError>> FlattenedKind
    for &&&Success<Option<Result<T, E>>>
{
}

/// Selects `NestedResult`.
pub trait NestedResultKind<T> {
    /// The kind.
    fn kind(&self) -> NestedResult<T> {
        NestedResult(PhantomData)
    }
}

impl<T: ContainsResult> NestedResultKind<T> for &&Success<T> {}

/// Selects `Structured`.
pub trait StructuredKind {
    /// The kind.
    fn kind(&self) -> Structured {
        Structured
    }
}

impl<T: Serialize + JsonSchema> StructuredKind for &Success<T> {}

/// Selects `Unsupported`.
pub trait UnsupportedKind<T> {
    /// The kind.
    fn kind(&self) -> Unsupported<T> {
        Unsupported(PhantomData)
    }
}

impl<T> UnsupportedKind<T> for Success<T> {}

/// The conversion of an error type into a [`ToolError`].
pub trait FailureKind<E> {
    /// Converts the value.
    fn convert(error: E) -> ToolError;
}

/// First choice: errors, strings and [`ToolError`] itself.
pub struct Reported;

impl<E: Into<ToolError> + Display + 'static> FailureKind<E> for Reported {
    fn convert(error: E) -> ToolError {
        error.into()
    }
}

/// Second choice: types that convert and cannot be printed.
pub struct Convertible;

impl<E: Into<ToolError>> FailureKind<E> for Convertible {
    fn convert(error: E) -> ToolError {
        error.into()
    }
}

/// Third choice: any `Display` type.
pub struct Printable;

impl<E: Display> FailureKind<E> for Printable {
    fn convert(error: E) -> ToolError {
        ToolError::from_display(&error)
    }
}

/// No match: never created, because `accept` does not compile.
pub struct UnsupportedError<E>(PhantomData<fn() -> E>);

impl<E> UnsupportedError<E> {
    /// Reports the error at the return type `O` as the user wrote it.
    pub fn accept<O: FailsWith<E>>(self) -> Self {
        self
    }
}

impl<E> FailureKind<E> for UnsupportedError<E> {
    fn convert(_: E) -> ToolError {
        unreachable!("`accept` does not compile")
    }
}

/// Not implemented for any type: required only of a return type whose error `E` cannot be shown.
#[diagnostic::on_unimplemented(
    message = "a tool cannot fail with `{E}`",
    label = "its error cannot be shown to a model",
    note = "return `ToolError`, implement `std::error::Error` for `{E}`, or at least `std::fmt::Display`"
)]
pub trait FailsWith<E> {}

/// Selects `Reported`.
pub trait ReportedKind {
    /// The kind.
    fn kind(&self) -> Reported {
        Reported
    }
}

impl<E: Into<ToolError> + Display + 'static> ReportedKind for &&&Failure<E> {}

/// Selects `Convertible`.
pub trait ErrorKind {
    /// The kind.
    fn kind(&self) -> Convertible {
        Convertible
    }
}

impl<E: Into<ToolError>> ErrorKind for &&Failure<E> {}

/// Selects `Printable`.
pub trait MessageKind {
    /// The kind.
    fn kind(&self) -> Printable {
        Printable
    }
}

impl<E: Display> MessageKind for &Failure<E> {}

/// Selects `UnsupportedError`.
pub trait UnsupportedErrorKind<E> {
    /// The kind.
    fn kind(&self) -> UnsupportedError<E> {
        UnsupportedError(PhantomData)
    }
}

impl<E> UnsupportedErrorKind<E> for Failure<E> {}
