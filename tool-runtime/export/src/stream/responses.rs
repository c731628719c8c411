//! OpenAI Responses: the last event has the whole answer. Some servers leave the items out of it.

use super::{Delta, INDEX, add_entry, append, list, member, remove_indexes, words};
use serde_json::{Value, json};

pub(super) fn push(answer: &mut Value, is_ended: &mut bool, event: &Value) -> Vec<Delta> {
    change(answer, is_ended, event).into_iter().collect()
}

fn change(answer: &mut Value, is_ended: &mut bool, event: &Value) -> Option<Delta> {
    let text = |key: &str| words(&event[key]).map(str::to_owned);
    match event["type"].as_str()? {
        "response.output_text.delta" | "response.refusal.delta" => text("delta").map(Delta::Text),
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
            text("delta").map(Delta::Thought)
        }
        "response.output_item.added" => {
            let item = &event["item"];
            set(item_of(answer, event, item)?, item);
            let name = words(&item["name"]).filter(|_| item["type"] == "function_call");
            name.map(|name| Delta::Call(name.to_owned()))
        }
        "response.function_call_arguments.delta" => {
            let item = item_of(answer, event, &json!({ "id": event["item_id"] }))?;
            append(member(item, "arguments"), event["delta"].as_str()?);
            None
        }
        "response.function_call_arguments.done" => {
            let item = item_of(answer, event, &json!({ "id": event["item_id"] }))?;
            item["arguments"] = json!(event["arguments"].as_str()?);
            item["status"] = json!("completed");
            None
        }
        "response.output_item.done" => {
            set(item_of(answer, event, &event["item"])?, &event["item"]);
            None
        }
        "response.completed" | "response.incomplete" | "response.done" => {
            complete(answer, &event["response"]);
            *is_ended = true;
            None
        }
        _ => None,
    }
}

/// The item of an event: that of its id, else that of its index, else a new one.
fn item_of<'a>(answer: &'a mut Value, event: &Value, item: &Value) -> Option<&'a mut Value> {
    let items = list(member(answer, "output"));
    let (id, index) = (words(&item["id"]), &event["output_index"]);
    let by_id = items.iter().rposition(|known| id.is_some() && known["id"].as_str() == id);
    let is_same = |known: &Value| words(&known["id"]).is_none() || id.is_none();
    let by_index = items
        .iter()
        .rposition(|known| !index.is_null() && known[INDEX] == *index && is_same(known));
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

fn complete(answer: &mut Value, response: &Value) {
    let items = member(answer, "output").take();
    *answer = response.clone();
    let has_items = answer["output"].as_array().is_some_and(|items| !items.is_empty());
    if !has_items && items.is_array() {
        *member(answer, "output") = items;
    }
}

/// Removes the members that only the stream has. A call that never ended is incomplete.
pub(super) fn finish(answer: &mut Value) {
    let Some(items) = answer.get_mut("output").and_then(Value::as_array_mut) else { return };
    items.retain(|item| item["type"].is_string());
    for item in items.iter_mut().filter(|item| item["type"] == "function_call") {
        if item["status"] == "in_progress" {
            item["status"] = json!("incomplete");
        }
    }
    remove_indexes(answer.get_mut("output"));
}
