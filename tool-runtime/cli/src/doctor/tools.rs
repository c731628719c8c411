//! The tools of the program: what clients and model APIs refuse, and what models cannot use well.

use super::findings::{Finding, Findings, Subject};
use crate::about::About;
use crate::call::resolved;
use serde_json::Value;
use tool_runtime_core::pool::{ToolPool, ToolReport, ToolStatus};
use tool_runtime_core::tool::ToolDefinition;
#[cfg(feature = "export")]
use tool_runtime_export::Api;

/// The longest name of a tool that clients pass to a model, with that of the server.
const NAME_CHARS: usize = 64;

/// Objects within objects that are looked at.
const MAX_DEPTH: usize = 4;

/// The sum of tokens above which definitions take a noticeable part of a model's context.
#[cfg(feature = "export")]
const MANY_TOKENS: usize = 10_000;

pub(super) fn examine(about: &About, pool: &ToolPool, findings: &mut Findings) {
    let report = pool.report();
    let own: Vec<&ToolReport> =
        report.tools.iter().filter(|tool| !tool.source.is_external()).collect();
    for finding in own.iter().filter_map(|tool| left_out(tool)) {
        findings.add(Subject::Tools, finding);
    }
    let is_own = |definition: &&ToolDefinition| {
        own.iter().any(|tool| tool.name == definition.name && tool.status == ToolStatus::Visible)
    };
    let tools = pool.tools();
    let own: Vec<&ToolDefinition> =
        tools.iter().map(|tool| tool.definition()).filter(is_own).collect();
    if own.is_empty() {
        return;
    }
    for definition in &own {
        for finding in definition_findings(about, definition) {
            findings.add(Subject::Tools, finding);
        }
    }
    let count = if own.len() == 1 { "1 tool".to_owned() } else { format!("{} tools", own.len()) };
    findings.add(Subject::Tools, Finding::fine(&format!("the program has {count}")));
    examine_export(pool, findings);
}

fn left_out(tool: &ToolReport) -> Option<Finding> {
    let name = &tool.name;
    match &tool.status {
        ToolStatus::Quarantined { reason } => {
            Some(Finding::error(&format!("`{name}` is left out: {reason}")))
        }
        ToolStatus::Unusable { reason } => {
            Some(Finding::warning(&format!("`{name}` cannot be used here: {reason}")))
        }
        ToolStatus::Shadowed { by } => {
            Some(Finding::warning(&format!("`{name}` is replaced by the tool of {by}")))
        }
        _ => None,
    }
}

fn definition_findings(about: &About, definition: &ToolDefinition) -> Vec<Finding> {
    let name = &definition.name;
    let mut findings = Vec::new();
    if definition.description.trim().is_empty() {
        let finding = Finding::warning(&format!("`{name}` has no description"));
        findings.push(finding.help("say what it does, and when a model should call it"));
    }
    let root = Value::Object(definition.input_schema.clone());
    let mut undescribed = Vec::new();
    add_undescribed(&root, &root, "", &mut undescribed);
    if !undescribed.is_empty() {
        let text = format!("`{name}` does not describe {}", undescribed.join(", "));
        findings.push(Finding::warning(&text).help("models guess what such an argument means"));
    }
    let shown = format!("mcp__{}__{name}", about.name);
    if shown.chars().count() > NAME_CHARS {
        let text = format!(
            "`{shown}`, as clients show `{name}` to models, has more than {NAME_CHARS} characters"
        );
        findings
            .push(Finding::warning(&text).help("shorten the name of the tool, or of the program"));
    }
    findings
}

/// The arguments without a description, and the fields of objects and of lists of objects among them.
fn add_undescribed(schema: &Value, root: &Value, prefix: &str, undescribed: &mut Vec<String>) {
    for (name, given) in schema["properties"].as_object().into_iter().flatten() {
        let value = resolved(given, root);
        let texts = [given, value].map(|schema| schema["description"].as_str().unwrap_or_default());
        if texts.iter().all(|text| text.trim().is_empty()) {
            undescribed.push(format!("`{prefix}{name}`"));
        }
        let name = format!("{prefix}{name}.");
        if name.matches('.').count() < MAX_DEPTH {
            add_undescribed(value, root, &name, undescribed);
            add_undescribed(resolved(&value["items"], root), root, &name, undescribed);
        }
    }
}

#[cfg(feature = "export")]
fn examine_export(pool: &ToolPool, findings: &mut Findings) {
    for api in Api::ALL.into_iter().filter(|api| *api != Api::Mcp) {
        for left_out in pool.snapshot().export(api).left_out() {
            let finding = Finding::warning(&format!("{} does not take it: {left_out}", api.name()));
            findings.add(Subject::Tools, finding);
        }
    }
    let export = pool.snapshot().export(Api::Anthropic);
    let tokens = export.tokens();
    let text = format!("the definitions cost a model about {tokens} tokens in each request");
    let finding = match tokens > MANY_TOKENS {
        true => Finding::warning(&text).help(
            "`list --tokens` shows the largest; shorten them, or offer fewer tools by `--allow` or a search",
        ),
        false => Finding::fine(&text),
    };
    findings.add(Subject::Tools, finding);
}

#[cfg(not(feature = "export"))]
fn examine_export(_: &ToolPool, findings: &mut Findings) {
    let text = "what model APIs refuse and the cost in tokens were not checked: that needs the feature `export` of `tool-runtime`";
    findings.add(Subject::Tools, Finding::note(text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_of_nested_objects_are_undescribed() {
        let schema = json!({
            "type": "object",
            "properties": {
                "title": { "type": "string", "description": "The title." },
                "lines": { "type": "array", "description": "The lines.", "items": { "$ref": "#/$defs/Line" } },
                "to": { "$ref": "#/$defs/To" },
            },
            "$defs": {
                "Line": { "type": "object", "properties": { "sku": { "type": "string" } } },
                "To": { "description": "A person.", "type": "object", "properties": { "to": { "$ref": "#/$defs/To" } } },
            },
        });
        let mut undescribed = Vec::new();
        add_undescribed(&schema, &schema, "", &mut undescribed);
        assert_eq!(undescribed, ["`lines.sku`"]);
    }
}
