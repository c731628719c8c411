//! OpenAI Responses: the last event has the whole response. Some servers leave the items out of it.

use super::{Delta, INDEX, add_entry, append, list, member, remove_indexes, words};
use serde_json::{Value, json};

pub(super) fn push(response: &mut Value, is_ended: &mut bool, event: &Value) -> Vec<Delta> {
    change(response, is_ended, event).into_iter().collect()
}

fn change(response: &mut Value, is_ended: &mut bool, event: &Value) -> Option<Delta> {
    let text = |key: &str| words(&event[key]).map(str::to_owned);
    match event["type"].as_str()? {
        "response.output_text.delta" => {
            add_text(response, event);
            text("delta").map(Delta::Text)
        }
        "response.refusal.delta" => text("delta").map(Delta::Text),
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
            text("delta").map(Delta::Thought)
        }
        "response.output_item.added" => {
            let item = &event["item"];
            set(item_of(response, event, item)?, item);
            let name = words(&item["name"]).filter(|_| item["type"] == "function_call");
            name.map(|name| Delta::Call(name.to_owned()))
        }
        "response.function_call_arguments.delta" => {
            let item = item_of(response, event, &json!({ "id": event["item_id"] }))?;
            append(member(item, "arguments"), event["delta"].as_str()?);
            None
        }
        "response.function_call_arguments.done" => {
            let item = item_of(response, event, &json!({ "id": event["item_id"] }))?;
            item["arguments"] = json!(event["arguments"].as_str()?);
            item["status"] = json!("completed");
            None
        }
        "response.output_item.done" => {
            let item = item_of(response, event, &event["item"])?;
            set(item, &event["item"]);
            // The next item of this index is another one.
            item[INDEX] = Value::Null;
            None
        }
        "response.completed" | "response.incomplete" | "response.done" => {
            complete(response, &event["response"]);
            *is_ended = true;
            None
        }
        _ => None,
    }
}

/// The item of an event: that of its id or of its call, else the open one of its index, else a new one. Some servers give
/// an item another id in each event.
fn item_of<'a>(response: &'a mut Value, event: &Value, item: &Value) -> Option<&'a mut Value> {
    let items = list(member(response, "output"));
    let (id, index) = (words(&item["id"]), &event["output_index"]);
    let call_id = words(&item["call_id"]);
    let by_id = items.iter().rposition(|known| {
        id.is_some() && known["id"].as_str() == id
            || call_id.is_some() && known["call_id"].as_str() == call_id
    });
    let by_index = items.iter().rposition(|known| !index.is_null() && known[INDEX] == *index);
    match by_id.or(by_index) {
        Some(known) => items.get_mut(known),
        None => add_entry(items, json!({ INDEX: index })),
    }
}

/// Replaces an item, which keeps its index.
fn set(known: &mut Value, item: &Value) {
    let index = known[INDEX].take();
    *known = item.clone();
    *member(known, INDEX) = index;
}

/// Adds a string to its message. Some servers send nothing else of it.
fn add_text(response: &mut Value, event: &Value) {
    let is_known = !event["output_index"].is_null() || words(&event["item_id"]).is_some();
    let Some(text) = words(&event["delta"]).filter(|_| is_known) else { return };
    let Some(item) = item_of(response, event, &json!({ "id": event["item_id"] })) else { return };
    if !item["type"].is_string() {
        *member(item, "type") = json!("message");
        *member(item, "role") = json!("assistant");
    }
    let parts = list(member(item, "content"));
    if parts.last().is_none_or(|part| part["type"] != "output_text") {
        parts.push(json!({ "type": "output_text", "text": "", "annotations": [] }));
    }
    if let Some(part) = parts.last_mut() {
        append(member(part, "text"), text);
    }
}

fn complete(response: &mut Value, complete: &Value) {
    let items = member(response, "output").take();
    *response = complete.clone();
    let has_items = response["output"].as_array().is_some_and(|items| !items.is_empty());
    if !has_items && items.is_array() {
        *member(response, "output") = items;
    }
}

/// Removes the members that only the stream has. A call that never ended is incomplete.
pub(super) fn finish(response: &mut Value) {
    let Some(items) = response.get_mut("output").and_then(Value::as_array_mut) else { return };
    items.retain(|item| item["type"].is_string());
    for item in items.iter_mut().filter(|item| item["type"] == "function_call") {
        if item["status"] == "in_progress" {
            item["status"] = json!("incomplete");
        }
    }
    remove_indexes(response.get_mut("output"));
}
