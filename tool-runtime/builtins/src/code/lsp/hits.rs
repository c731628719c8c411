//! Locations in the responses of servers.

use super::error::LspError;
use gen_lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, Diagnostic,
    DocumentSymbol, Location, LocationLink, Message, Position, Range, SymbolInformation,
    SymbolKind, WorkspaceSymbol, WorkspaceSymbolLocation,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A location, with columns as the server counts them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hit {
    pub(super) uri: String,
    pub(super) range: Range,
    pub(super) name: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) container: Option<String>,
    pub(super) severity: Option<String>,
    pub(super) message: Option<String>,
}

impl Hit {
    fn at(uri: impl Into<String>, range: Range) -> Self {
        let uri = uri.into();
        Self { uri, range, name: None, kind: None, container: None, severity: None, message: None }
    }

    fn symbol(uri: impl Into<String>, range: Range, name: String, kind: SymbolKind) -> Self {
        let kind = Some(format!("{kind:?}").to_lowercase());
        Self { name: Some(name), kind, ..Self::at(uri, range) }
    }
}

/// A value of the protocol.
pub(super) fn read<T: DeserializeOwned>(value: Value) -> Result<T, LspError> {
    serde_json::from_value(value).map_err(|error| LspError::Invalid(error.to_string()))
}

/// Definitions, implementations, references: one location, several, or links.
pub(super) fn locations(value: Value) -> Result<Vec<Hit>, LspError> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Link(LocationLink),
        Location(Location),
    }
    let hit = |either| match either {
        Either::Link(link) => Hit::at(link.target_uri.0, link.target_selection_range),
        Either::Location(location) => Hit::at(location.uri.0, location.range),
    };
    let values = match value {
        Value::Null => Vec::new(),
        Value::Array(values) => values,
        single => vec![single],
    };
    values.into_iter().map(|value| read(value).map(hit)).collect()
}

/// The symbols of a file, each after the one that contains it.
pub(super) fn document_symbols(value: Value, uri: &str) -> Result<Vec<Hit>, LspError> {
    let is_hierarchy = value[0].get("selectionRange").is_some();
    if !is_hierarchy {
        return workspace_symbols(value);
    }
    let mut hits = Vec::new();
    for symbol in read::<Vec<DocumentSymbol>>(value)? {
        flatten(symbol, None, uri, &mut hits);
    }
    Ok(hits)
}

fn flatten(symbol: DocumentSymbol, container: Option<&str>, uri: &str, hits: &mut Vec<Hit>) {
    let mut hit = Hit::symbol(uri, symbol.selection_range, symbol.name.clone(), symbol.kind);
    hit.container = container.map(str::to_owned);
    hits.push(hit);
    for child in symbol.children.into_iter().flatten() {
        flatten(child, Some(&symbol.name), uri, hits);
    }
}

/// Symbols with their locations.
pub(super) fn workspace_symbols(value: Value) -> Result<Vec<Hit>, LspError> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Information(SymbolInformation),
        Workspace(WorkspaceSymbol),
    }
    let hit = |either| {
        let (base, uri, range) = match either {
            Either::Information(symbol) => {
                (symbol.base_symbol_information, symbol.location.uri.0, symbol.location.range)
            }
            Either::Workspace(symbol) => match symbol.location {
                WorkspaceSymbolLocation::Location(location) => {
                    (symbol.base_symbol_information, location.uri.0, location.range)
                }
                WorkspaceSymbolLocation::LocationUriOnly(location) => {
                    let start = Position { line: 0, character: 0 };
                    (symbol.base_symbol_information, location.uri.0, Range { start, end: start })
                }
            },
        };
        let container = base.container_name.filter(|name| !name.is_empty());
        Hit { container, ..Hit::symbol(uri, range, base.name, base.kind) }
    };
    let values: Option<Vec<Value>> = read(value)?;
    values.into_iter().flatten().map(|value| read(value).map(hit)).collect()
}

/// A function, as calls name it.
pub(super) fn call_item(value: Value) -> Result<Hit, LspError> {
    let item: CallHierarchyItem = read(value)?;
    Ok(Hit::symbol(item.uri.0, item.selection_range, item.name, item.kind))
}

/// The locations where a function is called, each with its caller.
pub(super) fn incoming_calls(value: Value) -> Result<Vec<Hit>, LspError> {
    let calls: Option<Vec<CallHierarchyIncomingCall>> = read(value)?;
    let hits = |call: CallHierarchyIncomingCall| {
        let from = call.from;
        let hit = move |range| Hit::symbol(from.uri.0.clone(), range, from.name.clone(), from.kind);
        call.from_ranges.into_iter().map(hit)
    };
    Ok(calls.into_iter().flatten().flat_map(hits).collect())
}

/// The functions that a function calls.
pub(super) fn outgoing_calls(value: Value) -> Result<Vec<Hit>, LspError> {
    let calls: Option<Vec<CallHierarchyOutgoingCall>> = read(value)?;
    let hit = |call: CallHierarchyOutgoingCall| {
        Hit::symbol(call.to.uri.0, call.to.selection_range, call.to.name, call.to.kind)
    };
    Ok(calls.into_iter().flatten().map(hit).collect())
}

/// Errors and warnings of a file, in the order of their positions.
pub(super) fn diagnostics(mut found: Vec<Diagnostic>, uri: &str) -> Vec<Hit> {
    found.sort_by_key(|diagnostic| diagnostic.range.start);
    let hit = |diagnostic: Diagnostic| {
        let message = match diagnostic.message {
            Message::String(text) => text,
            Message::MarkupContent(content) => content.value,
        };
        let severity = diagnostic.severity.map(|severity| format!("{severity:?}").to_lowercase());
        Hit { message: Some(message), severity, ..Hit::at(uri, diagnostic.range) }
    };
    found.into_iter().map(hit).collect()
}

/// Takes a member out of a result. Null if the result is not an object, or lacks it.
pub(super) fn member(result: &mut Value, name: &str) -> Value {
    result.get_mut(name).map(Value::take).unwrap_or_default()
}

/// The text of a hover. Servers send one of four forms, of which the protocol keeps one.
pub(super) fn hover(mut value: Value) -> Option<String> {
    let parts = match member(&mut value, "contents") {
        Value::Array(contents) => contents.iter().map(marked_text).collect(),
        contents => vec![marked_text(&contents)],
    };
    Some(parts.join("\n\n")).filter(|text| !text.trim().is_empty())
}

fn marked_text(content: &Value) -> String {
    let value = content["value"].as_str().or(content.as_str()).unwrap_or_default();
    match content["language"].as_str() {
        Some(language) => format!("```{language}\n{value}\n```"),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn range(line: u32) -> Value {
        json!({"start": {"line": line, "character": 0}, "end": {"line": line, "character": 3}})
    }

    fn lines(hits: &[Hit]) -> Vec<u32> {
        hits.iter().map(|hit| hit.range.start.line).collect()
    }

    #[test]
    fn every_form_of_locations_is_read() {
        let location = json!({"uri": "file:///a", "range": range(1)});
        let link = json!({"targetUri": "file:///a", "targetRange": range(0), "targetSelectionRange": range(1)});
        for value in [location.clone(), json!([location]), json!([link])] {
            assert_eq!(lines(&locations(value).unwrap()), [1]);
        }
        assert_eq!(locations(Value::Null).unwrap(), []);
        assert!(matches!(locations(json!([3])), Err(LspError::Invalid(_))));
    }

    #[test]
    fn every_form_of_symbols_is_read() {
        let inner = json!({"name": "f", "kind": 6, "range": range(1), "selectionRange": range(2)});
        let outer = json!({"name": "A", "kind": 5, "range": range(0), "selectionRange": range(1), "children": [inner]});
        let hits = document_symbols(json!([outer]), "file:///a").unwrap();
        let named = |hit: &Hit| {
            (hit.name.clone().unwrap(), hit.kind.clone().unwrap(), hit.container.clone())
        };
        let expected =
            [("A".into(), "class".into(), None), ("f".into(), "method".into(), Some("A".into()))];
        assert_eq!(hits.iter().map(named).collect::<Vec<_>>(), expected);
        let location = json!({"uri": "file:///a", "range": range(3)});
        let flat = json!([{"name": "f", "kind": 12, "containerName": "A", "location": location}]);
        assert_eq!(lines(&document_symbols(flat.clone(), "file:///b").unwrap()), [3]);
        assert_eq!(workspace_symbols(flat).unwrap()[0].uri, "file:///a");
        let without_range = json!([{"name": "f", "kind": 12, "location": {"uri": "file:///a"}}]);
        assert_eq!(lines(&workspace_symbols(without_range).unwrap()), [0]);
        assert_eq!(workspace_symbols(Value::Null).unwrap(), []);
    }

    #[test]
    fn calls_are_at_their_locations() {
        let item = json!({"name": "f", "kind": 12, "uri": "file:///a", "range": range(0), "selectionRange": range(1)});
        assert_eq!(lines(&[call_item(item.clone()).unwrap()]), [1]);
        let incoming = json!([{"from": item, "fromRanges": [range(7), range(9)]}]);
        assert_eq!(lines(&incoming_calls(incoming).unwrap()), [7, 9]);
        let outgoing = json!([{"to": item, "fromRanges": [range(7)]}]);
        assert_eq!(lines(&outgoing_calls(outgoing).unwrap()), [1]);
    }

    #[test]
    fn every_form_of_hovers_is_read() {
        let code = json!({"language": "x", "value": "f()"});
        let cases = [
            (json!({"contents": {"kind": "markdown", "value": "a"}}), Some("a")),
            (json!({"contents": "a"}), Some("a")),
            (json!({"contents": ["a", code]}), Some("a\n\n```x\nf()\n```")),
            (json!({"contents": []}), None),
            (Value::Null, None),
        ];
        for (value, expected) in cases {
            assert_eq!(hover(value).as_deref(), expected);
        }
    }
}
