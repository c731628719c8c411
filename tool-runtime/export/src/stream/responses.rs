//! OpenAI Responses: the last event has the whole answer.

use super::{Delta, entry, index, member};
use serde_json::Value;

pub(super) fn push(answer: &mut Value, is_ended: &mut bool, event: &Value) -> Option<Delta> {
    let text = |key: &str| event[key].as_str().map(str::to_owned);
    match event["type"].as_str()? {
        "response.output_text.delta" => text("delta").map(Delta::Text),
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
            text("delta").map(Delta::Thought)
        }
        "response.output_item.added" => {
            let item = &event["item"];
            let name = item["name"].as_str().filter(|_| item["type"] == "function_call");
            name.map(|name| Delta::Call(name.to_owned()))
        }
        "response.output_item.done" => {
            *entry(member(answer, "output"), index(event, "output_index"))? = event["item"].clone();
            None
        }
        "response.completed" | "response.incomplete" => {
            let mut items = member(answer, "output").take();
            if let Some(items) = items.as_array_mut() {
                items.retain(|item| item["type"].is_string());
            }
            *answer = event["response"].clone();
            // Some servers leave the items out of the last event.
            if answer["output"].as_array().is_none_or(Vec::is_empty) && items.is_array() {
                *member(answer, "output") = items;
            }
            *is_ended = true;
            None
        }
        _ => None,
    }
}
