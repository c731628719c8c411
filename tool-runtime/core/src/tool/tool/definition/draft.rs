//! Builds a definition from the options of a macro.

use super::{TaskSupport, ToolDefinition};
use crate::tool::arguments::parameter::Parameter;
use crate::tool::arguments::schemas;
use crate::vocabulary::annotations::RetryMode;
use crate::vocabulary::content::Icon;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// A definition under construction: written by the macros.
pub struct DraftOf<D>(pub(crate) D);

/// The definition of a tool under construction.
pub type Draft = DraftOf<ToolDefinition>;

/// A definition with the common parts.
pub trait Describe {
    #[doc(hidden)]
    fn common(&mut self) -> Common<'_>;
}

/// The parts that all definitions have.
pub struct Common<'a> {
    pub(crate) title: &'a mut Option<String>,
    pub(crate) icons: &'a mut Vec<Icon>,
    pub(crate) meta: &'a mut Map<String, Value>,
    pub(crate) problems: &'a mut Vec<String>,
}

/// Implements [`Describe`] by the fields of these names.
macro_rules! describe {
    ($definition:ty) => {
        impl $crate::tool::tool::definition::Describe for $definition {
            fn common(&mut self) -> $crate::tool::tool::definition::Common<'_> {
                let Self { title, icons, meta, problems, .. } = self;
                $crate::tool::tool::definition::Common { title, icons, meta, problems }
            }
        }
    };
}

pub(crate) use describe;

describe!(ToolDefinition);

impl<D: Describe> DraftOf<D> {
    /// Sets the title.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        *self.0.common().title = Some(title.to_owned());
        self
    }

    /// Adds an icon.
    #[must_use]
    pub fn icon(mut self, source: &str) -> Self {
        self.0.common().icons.push(Icon::new(source));
        self
    }

    /// Sets the metadata, which must be an object.
    #[must_use]
    pub fn meta(mut self, meta: impl Into<Value>) -> Self {
        let common = self.0.common();
        match meta.into() {
            Value::Object(meta) => *common.meta = meta,
            _ => common.problems.push(
                "its `meta` is not an object; write `meta = json!({ \"key\": \"value\" })`"
                    .to_owned(),
            ),
        }
        self
    }

    /// The definition.
    pub fn finish(self) -> D {
        self.0
    }
}

impl Draft {
    /// Starts with the name, the description and the table of arguments.
    pub fn new(name: &str, description: &str, parameters: &[Parameter]) -> Self {
        let (input_schema, problems) = schemas::advertised_input(parameters);
        let (name, description) = (name.to_owned(), description.trim().to_owned());
        Self(ToolDefinition {
            name,
            description,
            input_schema,
            problems,
            ..ToolDefinition::blank()
        })
    }

    /// Sets the read-only hint.
    #[must_use]
    pub fn read_only(mut self, hint: bool) -> Self {
        self.0.annotations.read_only_hint = Some(hint);
        self
    }

    /// Sets the destructive hint.
    #[must_use]
    pub fn destructive(mut self, hint: bool) -> Self {
        self.0.annotations.destructive_hint = Some(hint);
        self
    }

    /// Sets the idempotent hint.
    #[must_use]
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.0.annotations.idempotent_hint = Some(hint);
        self
    }

    /// Sets the open-world hint.
    #[must_use]
    pub fn open_world(mut self, hint: bool) -> Self {
        self.0.annotations.open_world_hint = Some(hint);
        self
    }

    /// Sets the tags.
    #[must_use]
    pub fn tags(mut self, tags: &[&str]) -> Self {
        self.0.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        self
    }

    /// Sets the scopes that a caller needs.
    #[must_use]
    pub fn scopes(mut self, scopes: &[&str]) -> Self {
        self.0.scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        self
    }

    /// Sets the icons by their sources.
    #[must_use]
    pub fn icons(mut self, sources: &[&str]) -> Self {
        self.0.icons = sources.iter().map(|source| Icon::new(*source)).collect();
        self
    }

    /// Declares that calls report progress.
    #[must_use]
    pub fn reports_progress(mut self) -> Self {
        self.0.reports_progress = true;
        self
    }

    /// Sets whether calls may become tasks, or must.
    #[must_use]
    pub fn task(mut self, support: TaskSupport) -> Self {
        self.0.task = support;
        self
    }

    /// Sets that a call must not run again if its outcome is unknown.
    #[must_use]
    pub fn at_most_once(mut self) -> Self {
        self.0.retry_mode = Some(RetryMode::AtMostOnce);
        self
    }

    /// Sets that a call may run again if its outcome is unknown.
    #[must_use]
    pub fn safe_to_retry(mut self) -> Self {
        self.0.retry_mode = Some(RetryMode::SafeToRetry);
        self
    }

    /// Sets the schema, unchanged.
    #[must_use]
    pub fn input_schema(mut self, schema: impl Into<Value>) -> Self {
        self.0 = self.0.with_input_schema(schema);
        self
    }

    /// Sets the output schema, unless the output is a scalar, which is shown as text.
    #[must_use]
    pub fn output_schema(mut self, make: fn(&mut SchemaGenerator) -> Option<Schema>) -> Self {
        self.0.set_output(make);
        self
    }
}
