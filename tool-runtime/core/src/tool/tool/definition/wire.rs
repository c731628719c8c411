//! Definitions as MCP's `Tool` JSON, in both directions.

use super::{TaskSupport, ToolDefinition, unknown};
use crate::vocabulary::annotations::ToolAnnotations;
use crate::vocabulary::content::Icon;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The key of the tags in `_meta`: MCP has no field for them.
const TAGS: &str = "tool-runtime/tags";

/// The key in `_meta` of the flag that calls report progress.
const PROGRESS: &str = "tool-runtime/progress";

/// The `_meta` key that marks tools whose calls may continue as tasks.
const TASK: &str = "tool-runtime/task";

/// Marks hints whose source is not trusted.
const UNTRUSTED: &str = "tool-runtime/untrusted-annotations";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    name: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<Cow<'a, str>>,
    #[serde(default)]
    description: Cow<'a, str>,
    input_schema: Cow<'a, Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_schema: Option<Cow<'a, Map<String, Value>>>,
    #[serde(default, skip_serializing_if = "is_without_icons")]
    icons: Cow<'a, [Icon]>,
    #[serde(default, skip_serializing_if = "is_omitted")]
    annotations: Cow<'a, ToolAnnotations>,
    #[serde(rename = "_meta", default, skip_serializing_if = "is_none")]
    meta: Cow<'a, Map<String, Value>>,
}

// serde passes a reference to the field.
#[allow(clippy::ptr_arg)]
fn is_omitted(annotations: &Cow<'_, ToolAnnotations>) -> bool {
    annotations.is_empty()
}

#[allow(clippy::ptr_arg)]
fn is_without_icons(icons: &Cow<'_, [Icon]>) -> bool {
    icons.is_empty()
}

#[allow(clippy::ptr_arg)]
fn is_none(meta: &Cow<'_, Map<String, Value>>) -> bool {
    meta.is_empty()
}

/// Marks in `_meta` for which MCP has no field.
struct Marks {
    reports_progress: bool,
    untrusted_annotations: bool,
}

impl Marks {
    fn take(meta: &mut Map<String, Value>) -> Self {
        let mut flag = |key| meta.shift_remove(key).is_some_and(|value| value == true);
        let (reports_progress, untrusted_annotations) = (flag(PROGRESS), flag(UNTRUSTED));
        Self { reports_progress, untrusted_annotations }
    }
}

impl ToolDefinition {
    /// Reads the marks of a server's definition. The task support is not taken
    /// over: calls of a server's tool are answered when they are done.
    #[doc(hidden)]
    pub fn take_marks(&mut self) {
        let Marks { reports_progress, untrusted_annotations } = Marks::take(&mut self.meta);
        let hint = self.other.get("annotations").and_then(|hints| hints.get("progressEnabled"));
        self.reports_progress = reports_progress || hint == Some(&Value::Bool(true));
        self.untrusted_annotations = untrusted_annotations;
        self.meta.shift_remove(TASK);
    }

    /// `_meta`, with the members that MCP has no field for.
    #[doc(hidden)]
    pub fn wire_meta(&self) -> Cow<'_, Map<String, Value>> {
        let is_task = self.task != TaskSupport::None;
        let is_untrusted = self.untrusted_annotations && !self.annotations.is_empty();
        if self.tags.is_empty() && !self.reports_progress && !is_task && !is_untrusted {
            return Cow::Borrowed(&self.meta);
        }
        let mut meta = self.meta.clone();
        if !self.tags.is_empty() {
            meta.insert(TAGS.to_owned(), self.tags.clone().into());
        }
        if self.reports_progress {
            meta.insert(PROGRESS.to_owned(), true.into());
        }
        if is_untrusted {
            meta.insert(UNTRUSTED.to_owned(), true.into());
        }
        match self.task {
            TaskSupport::None => {}
            TaskSupport::Optional => drop(meta.insert(TASK.to_owned(), "optional".into())),
            TaskSupport::Required => drop(meta.insert(TASK.to_owned(), "required".into())),
        }
        Cow::Owned(meta)
    }
}

impl Serialize for ToolDefinition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wire = Wire {
            name: Cow::Borrowed(&self.name),
            title: self.title.as_deref().map(Cow::Borrowed),
            description: Cow::Borrowed(&self.description),
            input_schema: Cow::Borrowed(&self.input_schema),
            output_schema: self.output_schema.as_ref().map(Cow::Borrowed),
            icons: Cow::Borrowed(&self.icons),
            annotations: Cow::Borrowed(&self.annotations),
            meta: self.wire_meta(),
        };
        if self.other.is_empty() {
            return wire.serialize(serializer);
        }
        let mut value = serde_json::to_value(wire).map_err(serde::ser::Error::custom)?;
        if let Value::Object(members) = &mut value {
            unknown::add(&self.other, members);
        }
        value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolDefinition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A definition from outside may hold anything.
        crate::schema::engine::enable();
        let members = Map::deserialize(deserializer)?;
        let other = unknown::unknown(&members);
        let wire = Wire::deserialize(Value::Object(members)).map_err(serde::de::Error::custom)?;
        let mut meta = wire.meta.into_owned();
        let Marks { reports_progress, untrusted_annotations } = Marks::take(&mut meta);
        let task = match meta.shift_remove(TASK) {
            Some(task) => serde_json::from_value(task).map_err(serde::de::Error::custom)?,
            None => TaskSupport::None,
        };
        let tags = meta.shift_remove(TAGS).map(serde_json::from_value);
        Ok(Self {
            name: wire.name.into_owned(),
            title: wire.title.map(Cow::into_owned),
            description: wire.description.into_owned(),
            input_schema: wire.input_schema.into_owned(),
            output_schema: wire.output_schema.map(Cow::into_owned),
            output_is_bounded: false,
            icons: wire.icons.into_owned(),
            annotations: wire.annotations.into_owned(),
            untrusted_annotations,
            retry_mode: None,
            reports_progress,
            task,
            scopes: Vec::new(),
            tags: tags.transpose().map_err(serde::de::Error::custom)?.unwrap_or_default(),
            meta,
            other,
            problems: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_round_trip_loses_nothing() {
        let mut definition = ToolDefinition::new("a.b", "Does it.")
            .with_annotations(ToolAnnotations::default().with_read_only(true));
        definition.untrusted_annotations = true;
        definition.title = Some("It".into());
        definition.tags = vec!["x".into(), "y".into()];
        definition.icons = vec![Icon::new("https://example.com/i.png")];
        definition.reports_progress = true;
        definition.task = TaskSupport::Optional;
        definition.meta.insert("k".into(), json!({"n": 1}));
        definition.other.insert("execution".into(), json!({"taskSupport": "optional"}));
        definition.other.insert("annotations".into(), json!({"progressEnabled": true}));
        definition.output_schema = Some(crate::tool::arguments::schemas::no_arguments());
        let text = serde_json::to_string(&definition).unwrap();
        assert_eq!(serde_json::from_str::<ToolDefinition>(&text).unwrap(), definition);
    }

    #[test]
    fn absent_members_are_not_written() {
        let text = serde_json::to_string(&ToolDefinition::new("ping", "Answer.")).unwrap();
        assert_eq!(
            text,
            r#"{"name":"ping","description":"Answer.","inputSchema":{"type":"object","properties":{},"additionalProperties":false}}"#
        );
    }
}
