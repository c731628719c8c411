//! Reads definitions of tools, as MCP writes them.

use serde_json::{Value, json};

/// A tool of an external server.
pub(super) struct Definition {
    /// The id of the tool in the pool.
    pub(super) name: String,
    pub(super) description: String,
    pub(super) input: Value,
    pub(super) output: Option<Value>,
    /// The schemas, as JSON, to be compared with those of the server.
    pub(super) pinned: String,
}

/// The definitions in a string: one, a list, or an answer to `tools/list`.
///
/// # Errors
/// The text is not JSON, or contains no definitions.
pub(super) fn read(text: &str) -> Result<Vec<Definition>, String> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("not valid JSON: {error}"))?;
    let listed = ["/result/tools", "/tools"].into_iter().find_map(|path| value.pointer(path));
    let tools = match listed.unwrap_or(&value) {
        Value::Array(tools) => tools.as_slice(),
        one => std::slice::from_ref(one),
    };
    if tools.is_empty() {
        return Err("it lists no tool".to_owned());
    }
    tools.iter().enumerate().map(|(index, tool)| definition(index, tool)).collect()
}

fn definition(index: usize, tool: &Value) -> Result<Definition, String> {
    let help = "write the file by the command `schema`, or store an answer to `tools/list`";
    let Some(name) = tool["name"].as_str().filter(|name| !name.is_empty()) else {
        return Err(format!("tool {} has no name; {help}", index + 1));
    };
    let input = tool["inputSchema"].clone();
    if !input.is_object() {
        return Err(format!("the tool `{name}` has no `inputSchema`; {help}"));
    }
    let output = Some(tool["outputSchema"].clone()).filter(Value::is_object);
    let pinned = json!({ "inputSchema": input, "outputSchema": output }).to_string();
    let description = tool["description"].as_str().unwrap_or_default().to_owned();
    Ok(Definition { name: name.to_owned(), description, input, output, pinned })
}
