//! Responses to the requests of a server.

use serde_json::{Value, json};

/// Everything that a server may ask about.
pub(super) struct Host {
    /// The settings of the server.
    pub(super) settings: Value,
    /// The root, as a workspace folder.
    pub(super) folder: Value,
}

impl Host {
    /// The result for a request. `None` if it is not supported.
    pub(super) fn respond(&self, method: &str, params: &Value) -> Option<Value> {
        let result = match method {
            "workspace/configuration" => self.configuration(params),
            "workspace/workspaceFolders" => json!([self.folder]),
            // Files change by other tools, which people approve.
            "workspace/applyEdit" => {
                json!({"applied": false, "failureReason": "edits are not applied"})
            }
            "window/showDocument" => json!({"success": false}),
            "client/registerCapability"
            | "client/unregisterCapability"
            | "window/workDoneProgress/create"
            | "window/showMessageRequest" => Value::Null,
            _ if method.starts_with("workspace/") && method.ends_with("/refresh") => Value::Null,
            _ => return None,
        };
        Some(result)
    }

    /// The settings of each section, `null` for those that are not set.
    fn configuration(&self, params: &Value) -> Value {
        let items = params["items"].as_array().map_or(&[][..], Vec::as_slice);
        items.iter().map(|item| self.section(item["section"].as_str())).collect()
    }

    fn section(&self, section: Option<&str>) -> Value {
        let path = section.into_iter().flat_map(|section| section.split('.'));
        path.filter(|name| !name.is_empty())
            .try_fold(&self.settings, |settings, name| settings.get(name))
            .cloned()
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_found_by_their_sections() {
        let settings = json!({"python": {"analysis": {"typeCheckingMode": "strict"}}});
        let host = Host { settings, folder: json!({"name": "root"}) };
        let items = json!({"items": [{"section": "python.analysis"}, {"section": "other"}, {}]});
        assert_eq!(
            host.respond("workspace/configuration", &items),
            Some(
                json!([{"typeCheckingMode": "strict"}, null, {"python": {"analysis": {"typeCheckingMode": "strict"}}}])
            )
        );
        assert_eq!(host.respond("workspace/applyEdit", &json!({})).unwrap()["applied"], false);
        assert_eq!(host.respond("workspace/codeLens/refresh", &json!({})), Some(Value::Null));
        assert_eq!(host.respond("own/request", &json!({})), None);
    }
}
