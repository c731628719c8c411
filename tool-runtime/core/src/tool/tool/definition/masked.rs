//! Definitions without secrets.

use super::ToolDefinition;
use crate::vocabulary::mask::{self, Mask};

impl ToolDefinition {
    /// The definition without secrets in its descriptions, schemas and metadata. `None` if it has none. The names of the tool
    /// and of its arguments are not masked: see [`Self::secret_name`].
    pub(crate) fn masked(&self, mask: &dyn Mask) -> Option<Self> {
        let mut masked = self.clone();
        mask::in_place(mask, &mut masked.description);
        for text in masked.title.iter_mut().chain(&mut masked.tags) {
            mask::in_place(mask, text);
        }
        mask::members_in_place(mask, &mut masked.input_schema);
        masked.output_schema.iter_mut().for_each(|schema| mask::members_in_place(mask, schema));
        mask::as_json_in_place(mask, &mut masked.icons);
        mask::as_json_in_place(mask, &mut masked.annotations);
        mask::members_in_place(mask, &mut masked.meta);
        mask::members_in_place(mask, &mut masked.other);
        (masked != *self).then_some(masked)
    }

    /// The reason why the tool cannot be called as it is listed: a name that contains a secret is listed masked.
    pub(crate) fn secret_name(&self, mask: &dyn Mask) -> Option<&'static str> {
        if mask::has_secret(mask, &self.name) {
            return Some("its name contains a secret; give it another name");
        }
        let properties = self.input_schema.get("properties");
        properties
            .is_some_and(|properties| mask::has_secret_key(mask, properties))
            .then_some("the name of an argument contains a secret; give it another name")
    }
}
