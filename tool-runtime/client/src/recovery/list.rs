//! A list of tools with unreadable ones.

use super::{Incoming, in_words};
use crate::notification_router::NotificationRouter;
use rmcp::model::RequestId;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Answer<'a> {
    id: RequestId,
    #[serde(borrow)]
    result: BTreeMap<String, &'a RawValue>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// The list without what cannot be read of it, which is noted as odd. `None`, if it is not a list.
pub(super) fn of_readable(text: &[u8], notifications: &NotificationRouter) -> Option<Incoming> {
    let Answer { id, mut result } = serde_json::from_slice(text).ok()?;
    let entries: Vec<&RawValue> = serde_json::from_str(result.remove("tools")?.get()).ok()?;
    let (mut tools, mut odd) = (Vec::new(), Vec::new());
    for entry in entries {
        match serde_json::from_str::<Value>(entry.get()) {
            Ok(tool) => tools.push(tool),
            Err(why) => odd.push((name(entry), in_words(&why))),
        }
    }
    let rest = result.iter().filter_map(|(key, value)| {
        serde_json::from_str(value.get()).ok().map(|value| (key.clone(), value))
    });
    let mut list: Map<String, Value> = rest.collect();
    list.insert("tools".to_owned(), tools.into());
    let message = json!({ "jsonrpc": "2.0", "id": id, "result": list });
    let message = serde_json::from_value(message).ok()?;
    notifications.note_odd(odd);
    Some(message)
}

fn name(entry: &RawValue) -> String {
    let named = serde_json::from_str::<Named>(entry.get());
    named.map_or_else(|_| "(no name)".to_owned(), |named| named.name)
}
