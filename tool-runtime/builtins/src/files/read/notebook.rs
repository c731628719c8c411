//! Notebooks as cells.

use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write as _;

/// Limit on the characters of one output of a cell.
const MAX_OUTPUT: usize = 2000;

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    source: Value,
    #[serde(default)]
    outputs: Vec<Value>,
}

/// The cells of a notebook as text. `None` if the file is not one.
pub(super) fn cells(content: &str) -> Option<String> {
    let notebook: Notebook = serde_json::from_str(content).ok()?;
    let mut text = String::new();
    for (number, cell) in notebook.cells.iter().enumerate() {
        let id = cell.id.as_ref().map_or(String::new(), |id| format!(", id `{id}`"));
        let _ = writeln!(text, "[cell {number}, {}{id}]", cell.cell_type);
        let _ = writeln!(text, "{}", joined(&cell.source));
        for output in &cell.outputs {
            let _ = writeln!(text, "[output of cell {number}]\n{}", output_text(output));
        }
    }
    Some(text)
}

/// Multi-line text of a notebook: one string, or one for each line.
pub(crate) fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn output_text(output: &Value) -> String {
    let data = &output["data"];
    let text = if output["text"].is_null() {
        joined(&data["text/plain"])
    } else {
        joined(&output["text"])
    };
    let error = [&output["ename"], &output["evalue"]].map(|part| part.as_str().unwrap_or_default());
    let text = if output["ename"].is_null() { text } else { error.join(": ") };
    let others = data.as_object().into_iter().flatten().map(|(kind, _)| kind.as_str());
    let others: Vec<&str> = others.filter(|kind| *kind != "text/plain").collect();
    let mut text = cut(text);
    if !others.is_empty() {
        let _ = write!(text, "\n[also as {}]", others.join(", "));
    }
    text
}

fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_OUTPUT) {
        Some((end, _)) => {
            let rest = text[end..].chars().count();
            format!("{} [{rest} more characters]", &text[..end])
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_and_outputs_are_text() {
        let notebook = serde_json::json!({"cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "text"]},
            {"cell_type": "code", "id": "b7", "source": "1/0", "outputs": [
                {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero"},
                {"output_type": "stream", "text": "x".repeat(2003)},
                {"output_type": "display_data", "data": {"text/plain": ["<Figure>"], "image/png": "AAAA"}},
            ]},
        ]});
        let text = cells(&notebook.to_string()).unwrap();
        let long = "x".repeat(2000);
        assert_eq!(
            text,
            format!(
                "[cell 0, markdown]\n# Title\ntext\n[cell 1, code, id `b7`]\n1/0\n\
                 [output of cell 1]\nZeroDivisionError: division by zero\n\
                 [output of cell 1]\n{long} [3 more characters]\n\
                 [output of cell 1]\n<Figure>\n[also as image/png]\n"
            )
        );
        assert_eq!(cells("{}"), None);
    }
}
