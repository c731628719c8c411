//! The common part of the builders of prompts and resources from closures.

use super::OfferingProperties;
use crate::tool::offering::completion::Complete;
use crate::tool::tool::definition::Describe;
use crate::vocabulary::content::Icon;
use serde_json::{Map, Value};
use std::fmt;
use std::time::Duration;

/// Builds a prompt or a resource from a closure.
pub struct OfferingBuilder<D> {
    pub(crate) definition: D,
    pub(crate) terms: OfferingProperties,
}

impl<D: Describe> OfferingBuilder<D> {
    pub(crate) fn from_definition(definition: D) -> Self {
        Self { definition, terms: OfferingProperties::default() }
    }

    /// Sets the display title. Default: none.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        *self.definition.common().title = Some(title.into());
        self
    }

    /// Adds an icon, for display.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.definition.common().icons.push(icon);
        self
    }

    /// Sets MCP metadata. Default: none.
    #[must_use]
    pub fn meta(mut self, meta: Map<String, Value>) -> Self {
        *self.definition.common().meta = meta;
        self
    }

    /// Completes an argument, or a variable of a template, while it is typed. Default: nothing is
    /// suggested.
    #[must_use]
    pub fn complete<M>(mut self, argument: &str, function: impl Complete<M>) -> Self {
        let completers = &mut self.terms.completers;
        completers.insert(argument, move |prefix, context| function.complete(prefix, context));
        self
    }

    /// Sets its own time limit. Default: the pool's.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.terms.timeout = Some(timeout);
        self
    }
}

impl<D: fmt::Debug> fmt::Debug for OfferingBuilder<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfferingBuilder")
            .field("definition", &self.definition)
            .finish_non_exhaustive()
    }
}
