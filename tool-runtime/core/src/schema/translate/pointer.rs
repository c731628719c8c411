//! Pointers into schemas: shown as paths, and translated with the keywords that they name.

use super::keywords::{LISTED, NAMED, SINGLE};

/// Steps as we write paths: `a[0].b`.
pub fn schema_path<'a>(steps: impl Iterator<Item = &'a str>) -> String {
    let mut path = String::new();
    for step in steps {
        if !path.is_empty() && !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) {
            path = format!("{path}[{step}]");
        } else {
            let dot = if path.is_empty() { "" } else { "." };
            path = format!("{path}{dot}{step}");
        }
    }
    path
}

/// A reference with the keywords that 2020-12 has instead of older ones. `None` if it has none of those.
pub(super) fn translated(reference: &str, renames_definitions: bool) -> Option<String> {
    let (base, pointer) = reference.split_once('#')?;
    let mut steps = pointer.strip_prefix('/')?.split('/').peekable();
    let (mut renamed, mut is_schema) = (Vec::new(), true);
    while let Some(step) = steps.next() {
        let is_index = |next: Option<&&str>| {
            next.is_some_and(|next| next.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let keyword = match step {
            _ if !is_schema => step,
            "definitions" if renames_definitions => "$defs",
            "dependencies" => "dependentSchemas",
            "items" if is_index(steps.peek()) => "prefixItems",
            "additionalItems" => "items",
            other => other,
        };
        renamed.push(keyword);
        if !is_schema || SINGLE.contains(&keyword) {
            is_schema = true;
            continue;
        }
        // What is below another keyword is not a schema.
        if !NAMED.contains(&keyword) && !LISTED.contains(&keyword) {
            renamed.extend(steps);
            break;
        }
        is_schema = false;
    }
    let renamed = format!("{base}#/{}", renamed.join("/"));
    (renamed != reference).then_some(renamed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keywords_are_renamed() {
        for (reference, expected) in [
            ("#/definitions/a", Some("#/$defs/a")),
            ("#/definitions/definitions/items/0", Some("#/$defs/definitions/prefixItems/0")),
            ("#/properties/definitions", None),
            ("#/properties/a/items", None),
            ("#/components/definitions/a", None),
            ("https://x.example/s#/definitions/a", Some("https://x.example/s#/$defs/a")),
            ("#", None),
            ("#name", None),
            ("other.json", None),
        ] {
            assert_eq!(translated(reference, true).as_deref(), expected, "{reference}");
        }
        assert_eq!(translated("#/definitions/a", false), None);
    }
}
