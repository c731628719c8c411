//! Finds a renamed dependency, as in `rt = { package = "tool-runtime" }`, where generated code would
//! not find `::tool_runtime`.

use std::path::Path;
use std::sync::LazyLock;
use std::{env, fs};

/// The name of the runtime in the user's manifest, if it is renamed.
///
/// The manifest is read as text: a rename inherited from a workspace is not seen, and rustc then
/// reports an unknown `tool_runtime`.
pub(crate) fn runtime() -> Option<&'static str> {
    static NAME: LazyLock<Option<String>> = LazyLock::new(|| {
        let directory = env::var_os("CARGO_MANIFEST_DIR")?;
        in_manifest(&fs::read_to_string(Path::new(&directory).join("Cargo.toml")).ok()?)
    });
    NAME.as_deref()
}

fn in_manifest(text: &str) -> Option<String> {
    let (mut table, mut renamed) = ("", None);
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            table = header.trim_end_matches(']').rsplit('.').next()?;
        }
        let is_inside = line.starts_with('[') || line.starts_with("package");
        let key = if is_inside { table } else { key(line) };
        if matches!(key, "tool-runtime" | "tool_runtime") {
            return None;
        }
        if is_package(line) {
            renamed = Some(key.replace('-', "_"));
        }
    }
    renamed
}

/// `rt` of `rt = { .. }` and of `rt.workspace = true`.
fn key(line: &str) -> &str {
    line.split(['=', '.']).next().unwrap_or_default().trim()
}

/// Whether a line contains `package = "tool-runtime"`.
fn is_package(line: &str) -> bool {
    let line = line.replace([' ', '"', '\''], "");
    let package = line.split_once("package=").map(|(_, rest)| rest.split([',', '}']).next());
    package.flatten() == Some("tool-runtime")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_dependency_is_found() {
        let dependencies =
            |lines: &str| format!("[package]\nname = \"a\"\n[dependencies]\n{lines}");
        let found = |lines: &str| in_manifest(&dependencies(lines));
        let inline = r#"my-rt = { version = "1", package = "tool-runtime" }"#;
        assert_eq!(found(inline).as_deref(), Some("my_rt"));
        let table = "[dependencies.rt]\npackage = 'tool-runtime'";
        assert_eq!(found(table).as_deref(), Some("rt"));
        assert_eq!(found("tool-runtime = \"1\""), None);
        assert_eq!(found("tool-runtime.workspace = true"), None);
        assert_eq!(found(r#"rt = { package = "tool-runtime-extras" }"#), None);
        let two_tables = format!("{inline}\n[dev-dependencies.tool-runtime]\npath = \"..\"");
        assert_eq!(found(&two_tables), None);
    }
}
