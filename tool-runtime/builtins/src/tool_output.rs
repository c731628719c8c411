//! Results with content for models and a structured value for programs.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use std::fmt::Display;
use tool_runtime::{ContentBlock, IntoObservation, Observation, ToolError};

/// A result with content for models and a structured value for programs.
#[derive(Clone, Debug)]
pub struct ToolOutput<T> {
    /// The content for models.
    pub blocks: Vec<ContentBlock>,
    /// The structured value for programs.
    pub value: T,
}

impl<T> ToolOutput<T> {
    /// A value with its text.
    pub fn new(text: impl Into<String>, value: T) -> Self {
        Self { blocks: vec![ContentBlock::text(text)], value }
    }

    /// A value whose text is that of `Display`.
    pub fn from_display(value: T) -> Self
    where
        T: Display,
    {
        Self::new(value.to_string(), value)
    }
}

impl<T: Serialize + JsonSchema> IntoObservation for ToolOutput<T> {
    fn into_observation(self) -> Result<Observation, ToolError> {
        let observation = Observation::json(&self.value)?;
        Ok(self.blocks.into_iter().fold(observation, Observation::with_content))
    }

    fn output_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(T::json_schema(generator))
    }
}
