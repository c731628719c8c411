//! Results with a text for models and a value for programs.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use tool_runtime::{ContentBlock, IntoObservation, Observation, ToolError};

/// A value, and the blocks by which a model reads it.
#[derive(Clone, Debug)]
pub struct Shown<T> {
    /// What a model reads.
    pub blocks: Vec<ContentBlock>,
    /// What a program reads.
    pub value: T,
}

impl<T> Shown<T> {
    /// A value with its text.
    pub fn new(text: impl Into<String>, value: T) -> Self {
        Self { blocks: vec![ContentBlock::text(text)], value }
    }
}

impl<T: Serialize + JsonSchema> IntoObservation for Shown<T> {
    fn into_observation(self) -> Result<Observation, ToolError> {
        let observation = Observation::json(&self.value)?;
        Ok(self.blocks.into_iter().fold(observation, Observation::with_content))
    }

    fn output_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(T::json_schema(generator))
    }
}
