//! Classifies a function's return type, through type aliases.
//!
//! schemars implements `JsonSchema` for `Result`, so one blanket implementation for
//! structured values and one for results would overlap. Generated code therefore asks the
//! compiler's method resolution: a first stage splits results from the rest and passes on a
//! probe of the success type, a second prefers our own conversion over a structured value and
//! rejects results inside of a structured value, and the last level gives a type that fits none
//! its one error.

#![allow(
    clippy::extra_unused_type_parameters,
    reason = "`fit` names the return type for all kinds, and only those that fit nowhere read it"
)]

use crate::error::ToolError;
use crate::observation::{IntoObservation, Json, Observation};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::marker::PhantomData;

/// Makes the schema of an output; `None` for one without.
pub(crate) type OutputSchema = fn(&mut SchemaGenerator) -> Option<Schema>;

/// Makes an observation of a value that is still needed.
pub type ObserveRef<T> = fn(&T) -> Result<Observation, ToolError>;

/// The conversion of a return type into an observation, and its schema.
pub struct Output<T> {
    observe: fn(T) -> Result<Observation, ToolError>,
    observe_ref: Option<ObserveRef<T>>,
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

    /// The conversion of a value that is still needed, where the types allow one.
    pub fn observe_ref(&self) -> Option<ObserveRef<T>> {
        self.observe_ref
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

/// A probe of a success type.
pub struct Success<T>(PhantomData<fn() -> T>);

/// A probe of an error type.
pub struct Failure<E>(PhantomData<fn() -> E>);

/// There is no error type.
pub struct NoFailure;

impl NoFailure {
    /// The error type of `Failure`.
    pub fn kind(&self) -> Self {
        Self
    }
}

/// Kinds that accept every return type.
macro_rules! fit_all {
    ($($kind:ident)*) => {$(
        impl $kind {
            /// Accepts the return type.
            pub fn fit<O>(self) -> Self {
                self
            }
        }
    )*};
}

fit_all! { NoFailure Cloned Own Flat Structured Reported Convertible Printable }

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

    /// Puts the two kinds together.
    pub fn with<S: SuccessKind<T>, F: FailureKind<E>>(&self, _: S, _: F) -> Output<Result<T, E>> {
        Output {
            observe: |result| S::observe(result.map_err(F::convert)?),
            observe_ref: match (S::BY_REF, F::BY_REF) {
                (Some(_), Some(_)) => Some(observe_result_ref::<T, E, S, F>),
                _ => None,
            },
            schema: S::schema,
        }
    }
}

fn observe_result_ref<T, E, S: SuccessKind<T>, F: FailureKind<E>>(
    result: &Result<T, E>,
) -> Result<Observation, ToolError> {
    let unreachable = || ToolError::internal("the result has no conversion by reference");
    match result {
        Ok(value) => S::BY_REF.ok_or_else(unreachable)?(value),
        Err(error) => Err(F::BY_REF.map_or_else(unreachable, |convert| convert(error))),
    }
}

/// Stage one for every type that is not a `Result`.
pub trait PlainKind<T> {
    /// The probe of the type itself.
    fn success(&self) -> Success<T> {
        Success(PhantomData)
    }

    /// There is no error type.
    fn failure(&self) -> NoFailure {
        NoFailure
    }

    /// Takes the one kind.
    fn with<S: SuccessKind<T>>(&self, _: S, _: NoFailure) -> Output<T> {
        Output { observe: S::observe, observe_ref: S::BY_REF, schema: S::schema }
    }
}

impl<T> PlainKind<T> for Returned<T> {}

/// The conversion of a success into an observation.
pub trait SuccessKind<T> {
    /// Converts a value that is still needed. Default: the type has no such conversion.
    const BY_REF: Option<ObserveRef<T>> = None;

    /// Converts the value.
    ///
    /// # Errors
    /// The tool's own error.
    fn observe(value: T) -> Result<Observation, ToolError>;
    /// The schema of the observation.
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema>;
}

/// Stage two, first choice: `IntoObservation` of a value that can be cloned.
pub struct Cloned;

impl<T: IntoObservation + Clone> SuccessKind<T> for Cloned {
    const BY_REF: Option<ObserveRef<T>> = Some(|value| value.clone().into_observation());

    fn observe(value: T) -> Result<Observation, ToolError> {
        value.into_observation()
    }

    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        T::output_schema(generator)
    }
}

/// Stage two, second choice: `IntoObservation`.
pub struct Own;

impl<T: IntoObservation> SuccessKind<T> for Own {
    fn observe(value: T) -> Result<Observation, ToolError> {
        value.into_observation()
    }

    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        T::output_schema(generator)
    }
}

/// Stage two, third choice: a result as the success value, whose error becomes that of the call.
pub struct Flat;

impl<T: Serialize + JsonSchema, E: Into<ToolError>> SuccessKind<Result<T, E>> for Flat {
    fn observe(value: Result<T, E>) -> Result<Observation, ToolError> {
        <Structured as SuccessKind<T>>::observe(value.map_err(Into::into)?)
    }

    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        <Structured as SuccessKind<T>>::schema(generator)
    }
}

impl<T: Serialize + JsonSchema, E: Into<ToolError>> SuccessKind<Option<Result<T, E>>> for Flat {
    fn observe(value: Option<Result<T, E>>) -> Result<Observation, ToolError> {
        <Structured as SuccessKind<Option<T>>>::observe(value.transpose().map_err(Into::into)?)
    }

    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        <Structured as SuccessKind<Option<T>>>::schema(generator)
    }
}

/// Stage two, fourth choice: results in other places, which serde would write as `{"Err": ..}`.
/// Never made, because `fit` never compiles.
pub struct Hidden<T>(PhantomData<fn() -> T>);

impl<T> Hidden<T> {
    /// Carries the one error, at the return type `O` as the user wrote it.
    pub fn fit<O: HidesNoResult<T>>(self) -> Self {
        self
    }
}

impl<T> SuccessKind<T> for Hidden<T> {
    fn observe(_: T) -> Result<Observation, ToolError> {
        unreachable!("`fit` does not compile")
    }

    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        None
    }
}

/// Implemented by nothing: asked only for a return type that holds results `T` which would be
/// reported as successes.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return the results inside of `{T}`",
    label = "an `Err` in it would be reported as a success",
    note = "return `Result<.., E>` around the whole, for instance by `collect::<Result<Vec<_>, _>>()` or `?`, with an `E` that is an error or text; write `Json<..>` around the type if `{{\"Err\": ..}}` is the data you mean"
)]
pub trait HidesNoResult<T> {}

/// Types whose outer shape shows a result.
pub trait HidesResult {}

impl<T, E> HidesResult for Result<T, E> {}
impl<T: HidesResult> HidesResult for Option<T> {}
impl<T: HidesResult> HidesResult for Box<T> {}
impl<T: HidesResult> HidesResult for Vec<T> {}
impl<T: HidesResult, const N: usize> HidesResult for [T; N] {}
impl<K, T: HidesResult> HidesResult for BTreeMap<K, T> {}
impl<K, T: HidesResult, S> HidesResult for HashMap<K, T, S> {}

/// Stage two, fifth choice: a structured value.
pub struct Structured;

impl<T: Serialize + JsonSchema> SuccessKind<T> for Structured {
    const BY_REF: Option<ObserveRef<T>> = Some(|value| Observation::json(value));

    fn observe(value: T) -> Result<Observation, ToolError> {
        Json(value).into_observation()
    }

    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Json::<T>::output_schema(generator)
    }
}

/// Stage two, no match: never created, because `fit` does not compile.
pub struct Unfit<T>(PhantomData<fn() -> T>);

impl<T> Unfit<T> {
    /// Carries the one error, at the return type `O` as the user wrote it.
    pub fn fit<O: ReturnType<T>>(self) -> Self {
        self
    }
}

impl<T> SuccessKind<T> for Unfit<T> {
    fn observe(_: T) -> Result<Observation, ToolError> {
        unreachable!("`fit` does not compile")
    }

    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        None
    }
}

/// Implemented by nothing: asked only for a return type whose success `T` fits nowhere.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{T}`",
    label = "not something a model can be shown",
    note = "derive `serde::Serialize` and `schemars::JsonSchema` for a structured value, or implement `IntoObservation`; text, numbers, `()`, `ContentBlock` and `Observation` need nothing"
)]
pub trait ReturnType<T> {}

/// Selects `Cloned`.
pub trait ClonedKind {
    /// The kind.
    fn kind(&self) -> Cloned {
        Cloned
    }
}

impl<T: IntoObservation + Clone> ClonedKind for &&&&&Success<T> {}

/// Selects `Own`.
pub trait OwnKind {
    /// The kind.
    fn kind(&self) -> Own {
        Own
    }
}

impl<T: IntoObservation> OwnKind for &&&&Success<T> {}

/// Selects `Flat`.
pub trait FlatKind {
    /// The kind.
    fn kind(&self) -> Flat {
        Flat
    }
}

impl<T: Serialize + JsonSchema, E: Into<ToolError>> FlatKind for &&&Success<Result<T, E>> {}
impl<T: Serialize + JsonSchema, E: Into<ToolError>> FlatKind for &&&Success<Option<Result<T, E>>> {}

/// Selects `Hidden`.
pub trait HiddenKind<T> {
    /// The kind.
    fn kind(&self) -> Hidden<T> {
        Hidden(PhantomData)
    }
}

impl<T: HidesResult> HiddenKind<T> for &&Success<T> {}

/// Selects `Structured`.
pub trait StructuredKind {
    /// The kind.
    fn kind(&self) -> Structured {
        Structured
    }
}

impl<T: Serialize + JsonSchema> StructuredKind for &Success<T> {}

/// Selects `Unfit`.
pub trait UnfitKind<T> {
    /// The kind.
    fn kind(&self) -> Unfit<T> {
        Unfit(PhantomData)
    }
}

impl<T> UnfitKind<T> for Success<T> {}

/// The conversion of an error type into a [`ToolError`].
pub trait FailureKind<E> {
    /// Converts an error that is still needed. Default: the type has no such conversion.
    const BY_REF: Option<fn(&E) -> ToolError> = None;

    /// Converts the value.
    fn convert(error: E) -> ToolError;
}

/// First choice: errors, texts and [`ToolError`] itself.
pub struct Reported;

impl<E: Into<ToolError> + Display + 'static> FailureKind<E> for Reported {
    const BY_REF: Option<fn(&E) -> ToolError> = Some(|error| ToolError::of_ref(error));

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
    const BY_REF: Option<fn(&E) -> ToolError> = Some(|error| ToolError::from_display(error));

    fn convert(error: E) -> ToolError {
        ToolError::from_display(&error)
    }
}

/// No match: never created, because `fit` does not compile.
pub struct Opaque<E>(PhantomData<fn() -> E>);

impl<E> Opaque<E> {
    /// Carries the one error, at the return type `O` as the user wrote it.
    pub fn fit<O: FailsWith<E>>(self) -> Self {
        self
    }
}

impl<E> FailureKind<E> for Opaque<E> {
    fn convert(_: E) -> ToolError {
        unreachable!("`fit` does not compile")
    }
}

/// Implemented by nothing: asked only for a return type whose error `E` cannot be shown.
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

/// Selects `Opaque`.
pub trait OpaqueKind<E> {
    /// The kind.
    fn kind(&self) -> Opaque<E> {
        Opaque(PhantomData)
    }
}

impl<E> OpaqueKind<E> for Failure<E> {}
