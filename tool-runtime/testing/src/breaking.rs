//! Detects schema changes that break callers.

use serde_json::{Map, Value};

/// The changes between two snapshots that break callers: removed tools and arguments, new required arguments,
/// changed types. Tighter limits are not detected.
pub(super) fn breaking(before: &Value, now: &Value) -> Vec<String> {
    let now = tools(now);
    let changes = tools(before).into_iter().flat_map(|(name, before)| match now.get(&name) {
        Some(now) => changed(&name, &before["inputSchema"], &now["inputSchema"]),
        None => vec![format!("`{name}` was removed")],
    });
    changes.collect()
}

fn tools(snapshot: &Value) -> Map<String, Value> {
    let tools = snapshot["tools"].as_array().into_iter().flatten();
    tools.filter_map(|tool| Some((tool["name"].as_str()?.to_owned(), tool.clone()))).collect()
}

fn changed(tool: &str, before: &Value, now: &Value) -> Vec<String> {
    let (known, offered) = (arguments(before), arguments(now));
    let gone = known.keys().filter(|argument| !offered.contains_key(*argument));
    let gone = gone.map(|argument| format!("`{tool}` does not take `{argument}` any more"));
    let needed = offered
        .keys()
        .filter(|argument| is_required(now, argument) && !is_required(before, argument));
    let needed = needed.map(|argument| format!("`{tool}` needs `{argument}`"));
    let other = known.iter().filter(|(argument, before)| {
        offered.get(*argument).is_some_and(|now| now["type"] != before["type"])
    });
    let other = other.map(|(argument, _)| format!("`{tool}` takes `{argument}` in another type"));
    gone.chain(needed).chain(other).collect()
}

fn arguments(schema: &Value) -> Map<String, Value> {
    schema["properties"].as_object().cloned().unwrap_or_default()
}

fn is_required(schema: &Value, argument: &str) -> bool {
    schema["required"].as_array().is_some_and(|required| required.iter().any(|r| r == argument))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn snapshot(properties: Value, required: Value) -> Value {
        let schema = json!({ "properties": properties, "required": required });
        json!({ "tools": [{ "name": "add", "inputSchema": schema }] })
    }

    #[test]
    fn breaking_changes_are_reported() {
        let before = snapshot(json!({ "a": { "type": "integer" }, "b": {} }), json!(["a"]));
        let now = snapshot(json!({ "a": { "type": "string" }, "c": {} }), json!(["a", "c"]));
        assert_eq!(
            breaking(&before, &now),
            [
                "`add` does not take `b` any more",
                "`add` needs `c`",
                "`add` takes `a` in another type"
            ]
        );
        assert_eq!(breaking(&before, &json!({ "tools": [] })), ["`add` was removed"]);
    }

    #[test]
    fn compatible_changes_are_not_reported() {
        let before = snapshot(json!({ "a": {} }), json!(["a"]));
        let now = snapshot(json!({ "a": {}, "b": {} }), json!([]));
        assert_eq!(breaking(&before, &now), [""; 0]);
        assert_eq!(breaking(&Value::Null, &now), [""; 0]);
    }
}
