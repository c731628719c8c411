//! Results with a text for models and a structured value for programs.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use std::fmt::Display;
use tool_runtime::{ContentBlock, IntoObservation, Observation, ToolError};

/// A result whose text is that of `Display`, and whose structured value is the type itself.
pub(crate) struct Readable<T>(pub(crate) T);

impl<T: Serialize + JsonSchema + Display> IntoObservation for Readable<T> {
    fn into_observation(self) -> Result<Observation, ToolError> {
        let text = ContentBlock::text(self.0.to_string());
        Ok(Observation::json(&self.0)?.with_content(text))
    }

    fn output_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(T::json_schema(generator))
    }
}
