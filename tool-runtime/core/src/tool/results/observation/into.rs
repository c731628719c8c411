//! Return values that become observations without a schema, and `Json` for those with a schema.

use super::Observation;
use super::blocks::Blocks;
use crate::vocabulary::content::{Audio, ContentBlock, Image, ResourceContents, TextContent};
use crate::vocabulary::error::ToolError;
use compact_str::ToCompactString as _;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A return value that becomes an [`Observation`].
///
/// Implemented for `()`, text, numbers, `bool`, [`ContentBlock`] and lists of it, [`Image`], [`Audio`], [`ResourceContents`],
/// [`Observation`], [`serde_json::Value`], [`Json`], and results of these. A `#[tool]`
/// function may also return any other `T: Serialize + JsonSchema`: the macro detects that
/// and does the same as `Json`.
///
/// An `Err` is always an error of the call, never data:
///
/// - `Result<Result<T, E>, F>` is one result.
/// - `Option<Result<T, E>>`, on its own or in a `Result`, is the value of `Some(Ok(..))`, `null`
///   for `None`, and an error for `Some(Err(..))`.
/// - A `#[tool]` function that returns results in a `Vec`, a map or another standard container does
///   not compile, since a success could hide errors. Return one `Result` around the whole, or
///   write `Json<Vec<Result<T, E>>>` if serde's `{"Ok": ..}` and `{"Err": ..}` are the data meant.
/// - A result in a field of a type of yours is data, written by its `Serialize`.
///
/// ```
/// use tool_runtime::{ContentBlock, IntoObservation, Observation, ToolError};
///
/// struct Picture(String);
///
/// impl IntoObservation for Picture {
///     fn into_observation(self) -> Result<Observation, ToolError> {
///         Ok(ContentBlock::image(self.0, "image/png").into())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not something a model can be shown",
    note = "return text, a number, `()`, `Observation`, `ContentBlock`, or derive `serde::Serialize` and `schemars::JsonSchema` for a structured value; `Result<T, E>` of any of these works with every `E` that is an error or prints"
)]
pub trait IntoObservation {
    /// Converts the value.
    ///
    /// # Errors
    /// The tool's error, for the model and the operator.
    fn into_observation(self) -> Result<Observation, ToolError>;

    /// The schema of the structured value, if there is one. Default: none.
    fn output_schema(generator: &mut SchemaGenerator) -> Option<Schema>
    where
        Self: Sized,
    {
        let _ = generator;
        None
    }
}

/// A structured return value: for closures and hand-written actions, where no macro detects that
/// the type is `Serialize + JsonSchema`.
///
/// JSON has no NaN or infinity. Such a float is `null` where the schema allows that, as for
/// `Option<f64>`; elsewhere the call ends with an internal error that names its path.
///
/// ```
/// use tool_runtime::{IntoObservation, Json};
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Sum { sum: i64 }
///
/// let observation = Json(Sum { sum: 42 }).into_observation()?;
/// assert_eq!(observation.structured_json(), Some(r#"{"sum":42}"#));
/// # Ok::<(), tool_runtime::ToolError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Json<T>(
    /// The value.
    pub T,
);

impl<T: Serialize + JsonSchema> IntoObservation for Json<T> {
    fn into_observation(self) -> Result<Observation, ToolError> {
        Observation::json(&self.0)
    }

    fn output_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(T::json_schema(generator))
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoObservation, E: Into<ToolError>> IntoObservation for Result<T, E> {
    fn into_observation(self) -> Result<Observation, ToolError> {
        self.map_err(Into::into)?.into_observation()
    }

    fn output_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        T::output_schema(generator)
    }
}

impl IntoObservation for Observation {
    fn into_observation(self) -> Result<Observation, ToolError> {
        Ok(self)
    }
}

/// No content.
impl IntoObservation for () {
    fn into_observation(self) -> Result<Observation, ToolError> {
        Ok(Observation::default())
    }
}

impl IntoObservation for ContentBlock {
    fn into_observation(self) -> Result<Observation, ToolError> {
        Ok(self.into())
    }
}

/// Types that are one content block.
macro_rules! block {
    ($($block:ty),*) => {$(
        impl IntoObservation for $block {
            fn into_observation(self) -> Result<Observation, ToolError> {
                Ok(ContentBlock::from(self).into())
            }
        }
    )*};
}

block!(Image, Audio, ResourceContents);

impl IntoObservation for Vec<ContentBlock> {
    fn into_observation(self) -> Result<Observation, ToolError> {
        Ok(Observation { content: Blocks::Many(self), ..Observation::default() })
    }
}

/// A structured value without a schema: an object is structured, everything is text.
impl IntoObservation for Value {
    fn into_observation(self) -> Result<Observation, ToolError> {
        let observation = Observation::json(&self)?;
        Ok(if self.is_object() { observation } else { observation.into_plain_text() })
    }
}

impl IntoObservation for Map<String, Value> {
    fn into_observation(self) -> Result<Observation, ToolError> {
        Observation::json(&self)
    }
}

/// Types that are text.
macro_rules! text {
    ($($text:ty),*) => {$(
        impl IntoObservation for $text {
            fn into_observation(self) -> Result<Observation, ToolError> {
                Ok(Observation::text(self))
            }
        }
    )*};
}

/// Types that become text by `Display`.
macro_rules! printed {
    ($($printed:ty),*) => {$(
        impl IntoObservation for $printed {
            fn into_observation(self) -> Result<Observation, ToolError> {
                let text = TextContent::compact(self.to_compact_string());
                Ok(ContentBlock::Text(text).into())
            }
        }
    )*};
}

text!(String, &'static str, Box<str>, Cow<'static, str>, char);
printed!(bool, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64);
