//! Resources and templates in lists.

use crate::convert;
use rmcp::model::{Annotations, Resource, ResourceTemplate, ResourcesCapability, Role};
use tool_runtime_core as core;
use tool_runtime_core::ContentAnnotations;

/// What is declared where there are resources.
pub(super) fn capability() -> ResourcesCapability {
    let mut capability = ResourcesCapability::default();
    capability.subscribe = Some(true);
    capability.list_changed = Some(true);
    capability
}

/// All resources as in lists, those of one URI and templates apart, sorted by URI.
pub(super) fn listed(resources: &[core::Resource]) -> (Vec<Resource>, Vec<ResourceTemplate>) {
    let (mut fixed, mut templates) = (Vec::new(), Vec::new());
    let mut order: Vec<&core::Resource> = resources.iter().collect();
    order.sort_by_key(|resource| resource.uri());
    for resource in order {
        match resource.definition().is_template() {
            true => templates.push(template(resource.definition())),
            false => fixed.push(single(resource.definition())),
        }
    }
    (fixed, templates)
}

fn single(definition: &core::ResourceDefinition) -> Resource {
    let mut listed = Resource::new(&*definition.uri, &*definition.name);
    listed.title.clone_from(&definition.title);
    listed.description = Some(definition.description.clone()).filter(|text| !text.is_empty());
    listed.mime_type.clone_from(&definition.mime_type);
    listed.size = definition.size;
    listed.icons = convert::icons(&definition.icons);
    listed.meta = convert::meta(&definition.meta);
    listed.annotations = annotations(&definition.annotations);
    listed
}

fn template(definition: &core::ResourceDefinition) -> ResourceTemplate {
    let single = single(definition);
    let mut listed = ResourceTemplate::new(single.uri, single.name);
    listed.title = single.title;
    listed.description = single.description;
    listed.mime_type = single.mime_type;
    listed.icons = single.icons;
    listed.meta = single.meta;
    listed.annotations = single.annotations;
    listed
}

#[allow(clippy::cast_possible_truncation, reason = "between 0 and 1, and a hint")]
fn annotations(annotations: &ContentAnnotations) -> Option<Annotations> {
    if *annotations == ContentAnnotations::default() {
        return None;
    }
    let role = |name: &String| match name.as_str() {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        _ => None,
    };
    let audience: Vec<Role> = annotations.audience.iter().filter_map(role).collect();
    let mut listed = Annotations::default();
    listed.audience = Some(audience).filter(|audience| !audience.is_empty());
    listed.priority = annotations.priority.map(|priority| priority as f32);
    listed.last_modified.clone_from(&annotations.last_modified);
    Some(listed)
}
