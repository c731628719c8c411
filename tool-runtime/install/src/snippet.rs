//! The entry for Goose, whose file has no editor that keeps its formatting.

use crate::entry::Entry;
use std::fmt::Write as _;

/// The name of the client on the command line.
pub(crate) const GOOSE: &str = "goose";

/// What a user adds to Goose's `config.yaml`. A JSON string is one of YAML.
pub(crate) fn goose(name: &str, entry: &Entry) -> String {
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let mut text = format!(
        "add this to ~/.config/goose/config.yaml, below `extensions:`\n\n  {name:?}:\n    type: stdio\n    name: {name:?}\n    enabled: true\n    timeout: 300\n    cmd: {}\n    args:\n",
        quoted(&entry.command)
    );
    for argument in &entry.args {
        let _ = writeln!(text, "      - {}", quoted(argument));
    }
    text.push_str("    envs:");
    if entry.env.is_empty() {
        text.push_str(" {}");
    }
    for (variable, _) in &entry.env {
        let _ = write!(text, "\n      {variable}: \"...\"    # its value, which is not shown here");
    }
    text
}
