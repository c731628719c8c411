//! Reads transforms of single tools.

use super::Reader;
use super::entry::{Entry, Member};
use super::keys;
use crate::findings::Location;
use serde_json::{Map, Value};
use tool_runtime_core::tool::transform::{ArgumentTransform, ToolTransform};

impl Reader<'_> {
    /// The transform in the settings of a tool; `None` if they change nothing.
    pub(super) fn transform(&mut self, settings: &mut Entry<'_>) -> Option<ToolTransform> {
        let mut transform = ToolTransform::new();
        transform.name = self.plain(settings, &["name"]);
        transform.title = self.plain(settings, &["title"]);
        transform.description = self.plain(settings, &["description"]);
        if let Some(tags) = settings.one_of(&["tags"], self.findings) {
            for (location, tag) in self.list(&tags.location, tags.value).unwrap_or_default() {
                transform.tags.extend(self.string(&location, tag).map(str::to_owned));
            }
        }
        if let Some(arguments) = settings.one_of(&["arguments"], self.findings) {
            self.arguments(&arguments, &mut transform);
        }
        (transform != ToolTransform::new()).then_some(transform)
    }

    fn arguments(&mut self, arguments: &Member<'_>, transform: &mut ToolTransform) {
        let Some(object) = self.object(&arguments.location, arguments.value) else { return };
        for (name, value) in object {
            let location = arguments.location.key(name);
            let Some(settings) = self.object(&location, value) else { continue };
            let mut settings = Entry::read(&location, settings, keys::ARGUMENT, self.findings);
            transform.arguments.insert(name.clone(), self.argument(&mut settings));
        }
    }

    fn argument(&mut self, settings: &mut Entry<'_>) -> ArgumentTransform {
        let mut argument = ArgumentTransform::new();
        argument.name = self.plain(settings, &["name"]);
        argument.description = self.plain(settings, &["description"]);
        argument.hide = self.flag(settings, &["hide"]).unwrap_or(false);
        argument.required = self.flag(settings, &["required"]);
        let value = settings.one_of(&["value"], self.findings);
        argument.value = value.map(|member| self.constant(&member.location, member.value));
        let default = settings.one_of(&["default"], self.findings);
        argument.default = default.map(|member| member.value.clone());
        let schema = settings.one_of(&["schema"], self.findings);
        let schema = schema.and_then(|member| self.object(&member.location, member.value));
        argument.schema = schema.cloned().map(Value::Object);
        argument
    }

    /// A fixed value, whose variables are expanded.
    fn constant(&mut self, location: &Location, value: &Value) -> Value {
        match value {
            Value::String(_) => self.text(location, value).as_str().into(),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items.map(|(index, item)| self.constant(&location.index(index), item)).collect()
            }
            Value::Object(members) => members
                .iter()
                .map(|(key, member)| (key.clone(), self.constant(&location.key(key), member)))
                .collect::<Map<_, _>>()
                .into(),
            other => other.clone(),
        }
    }
}
