//! Changes of notebooks, and what they leave alone.

use super::cell::CellType;
use super::edit::{self, CellEdit, Edited};
use super::{CellPosition, NotebookCommand};
use crate::code::CodeParams;
use crate::{Builtins, Workspace};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use tool_runtime::prelude::*;

/// As Jupyter writes it.
const NOTEBOOK: &str = r##"{
 "cells": [
  {
   "attachments": {},
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Title\n",
    "text"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "b7",
   "metadata": {
    "tags": ["x",   "y"]
   },
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": ["1.50\n"]
    }
   ],
   "source": [
    "print(1.50)"
   ],
   "vendor": 12345678901234567890123
  }
 ],
 "metadata": {
  "zeta": 1e2,
  "alpha": "\u00e9"
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

fn edit(
    command: NotebookCommand,
    position: CellPosition,
    cell_type: Option<CellType>,
    source: Option<&str>,
) -> CellEdit {
    CellEdit { command, position, cell_type, source: source.map(str::to_owned) }
}

fn replace(number: usize, source: &str) -> CellEdit {
    edit(NotebookCommand::Replace, CellPosition::Number(number), None, Some(source))
}

#[track_caller]
fn applied(text: &str, edit: &CellEdit) -> Edited {
    edit::apply(text, edit).unwrap()
}

#[track_caller]
fn refused(text: &str, edit: &CellEdit) -> String {
    edit::apply(text, edit).unwrap_err().message().to_owned()
}

#[test]
fn a_new_source_clears_outputs_and_changes_nothing_else() {
    let edited = applied(NOTEBOOK, &replace(1, "print(2)\nprint(3)\n"));
    let expected = NOTEBOOK
        .replace("    \"print(1.50)\"", "    \"print(2)\\n\",\n    \"print(3)\\n\"")
        .replace("\"execution_count\": 3", "\"execution_count\": null");
    let start = expected.find("\"outputs\": [").unwrap();
    let end = start + expected[start..].find("\n   ],").unwrap() + "\n   ]".len();
    let expected = format!("{}\"outputs\": []{}", &expected[..start], &expected[end..]);
    assert_eq!(edited.text, expected);
    assert_eq!((edited.number, edited.id.as_deref(), edited.count), (1, Some("b7"), 2));
    let edited = applied(NOTEBOOK, &replace(0, "# Title"));
    assert_eq!(edited.text, NOTEBOOK.replace("\"# Title\\n\",\n    \"text\"", "\"# Title\""));
    let empty = applied(NOTEBOOK, &replace(0, ""));
    assert_eq!(empty.text, NOTEBOOK.replace("[\n    \"# Title\\n\",\n    \"text\"\n   ]", "[]"));
}

#[test]
fn a_type_change_makes_the_cell_valid_and_keeps_its_source() {
    let change = |number, cell_type| {
        let position = CellPosition::Number(number);
        let edited =
            applied(NOTEBOOK, &edit(NotebookCommand::Replace, position, Some(cell_type), None));
        serde_json::from_str::<Value>(&edited.text).unwrap()["cells"][number].clone()
    };
    assert_eq!(
        change(0, CellType::Code),
        json!({"cell_type": "code", "execution_count": null, "id": "intro", "metadata": {}, "outputs": [],
               "source": ["# Title\n", "text"]})
    );
    let markdown = change(1, CellType::Markdown);
    let keys: Vec<&String> = markdown.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["cell_type", "id", "metadata", "source", "vendor"]);
    assert_eq!(markdown["source"], json!(["print(1.50)"]));
}

#[test]
fn cells_are_inserted_after_an_id_or_at_a_number() {
    let insert = |position| edit(NotebookCommand::Insert, position, None, Some("x = 1"));
    let first = applied(NOTEBOOK, &insert(CellPosition::Number(0)));
    let id = first.id.clone().unwrap();
    let cell = format!(
        "  {{\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"{id}\",\n   \
         \"metadata\": {{}},\n   \"outputs\": [],\n   \"source\": [\n    \"x = 1\"\n   ]\n  }}"
    );
    assert_eq!(
        first.text,
        NOTEBOOK.replace(" \"cells\": [\n", &format!(" \"cells\": [\n{cell},\n"))
    );
    let after = applied(NOTEBOOK, &insert(CellPosition::Id("intro".to_owned())));
    assert_eq!(after.number, 1);
    let last = applied(NOTEBOOK, &insert(CellPosition::Number(2)));
    assert_eq!((last.number, last.count), (2, 3));
    for edited in [after, last] {
        // The deletion of the new cell restores the old bytes.
        let delete =
            edit(NotebookCommand::Delete, CellPosition::Id(edited.id.unwrap()), None, None);
        assert_eq!(applied(&edited.text, &delete).text, NOTEBOOK);
    }
    assert_eq!(
        refused(NOTEBOOK, &insert(CellPosition::Number(3))),
        "the notebook has 2 cells, counted from 0; there is no position 3"
    );
}

#[test]
fn older_notebooks_get_no_ids_and_every_layout_is_kept() {
    let insert = |number| {
        edit(
            NotebookCommand::Insert,
            CellPosition::Number(number),
            Some(CellType::Raw),
            Some("a\n"),
        )
    };
    let empty = "{\"cells\":[],\"nbformat\":4,\"nbformat_minor\":4}";
    let edited = applied(empty, &insert(0));
    assert_eq!(edited.id, None);
    assert_eq!(
        edited.text,
        "{\"cells\":[{\"cell_type\":\"raw\",\"metadata\":{},\"source\":[\"a\\n\"]}],\"nbformat\":4,\"nbformat_minor\":4}"
    );
    let spaced = "{\"cells\": [{\"cell_type\": \"raw\", \"metadata\": {}, \"source\": \"b\"}], \"nbformat\": 4}";
    assert_eq!(
        applied(spaced, &insert(1)).text,
        "{\"cells\": [{\"cell_type\": \"raw\", \"metadata\": {}, \"source\": \"b\"}, \
         {\"cell_type\": \"raw\", \"metadata\": {}, \"source\": \"a\\n\"}], \"nbformat\": 4}"
    );
    let tabs = "{\r\n\t\"cells\": [],\r\n\t\"nbformat\": 4\r\n}";
    assert_eq!(
        applied(tabs, &insert(0)).text,
        "{\r\n\t\"cells\": [\r\n\t\t{\r\n\t\t\t\"cell_type\": \"raw\",\r\n\t\t\t\"metadata\": {},\r\n\t\t\t\"source\": [\r\n\t\t\t\t\"a\\n\"\r\n\t\t\t]\r\n\t\t}\r\n\t],\r\n\t\"nbformat\": 4\r\n}"
    );
}

#[test]
fn mistakes_are_explained() {
    let twice = NOTEBOOK.replace("\"b7\"", "\"intro\"");
    let delete =
        |id: &str| edit(NotebookCommand::Delete, CellPosition::Id(id.to_owned()), None, None);
    let nothing = edit(NotebookCommand::Replace, CellPosition::Number(0), None, None);
    let insert = edit(NotebookCommand::Insert, CellPosition::Number(0), None, None);
    let cases = [
        (
            NOTEBOOK,
            delete("zz"),
            "the notebook has no cell with the id `zz`; read it again, or give `cell_number`",
        ),
        (&twice, delete("intro"), "`intro` is the id of several cells; give `cell_number` instead"),
        (
            NOTEBOOK,
            replace(2, "x"),
            "the notebook has 2 cells, counted from 0; there is no position 2",
        ),
        (
            NOTEBOOK,
            replace(1, "print(1.50)"),
            "cell 1 has this source and type already; nothing would change",
        ),
        (NOTEBOOK, nothing, "`source` is missing; `replace` needs the new source of the cell"),
        (NOTEBOOK, insert, "`source` is missing; `insert` needs the new source of the cell"),
        ("{}", replace(0, "x"), "the file is not a valid notebook: the key `cells` is missing"),
        (
            "{\"cells\": {}}",
            replace(0, "x"),
            "the file is not a valid notebook: `cells` is not an array",
        ),
        ("{\"cells\": [3]}", replace(0, "x"), "cell 0 is not a valid cell: "),
        (
            "{\"cells\": [], \"cells\": []}",
            replace(0, "x"),
            "the file is not a valid notebook: the key `cells` is there twice",
        ),
        ("[]", replace(0, "x"), "the file is not a valid notebook: "),
        (
            "{\"worksheets\": []}",
            replace(0, "x"),
            "the file is not a valid notebook: the key `cells` is missing, since its format is older",
        ),
    ];
    for (text, edit, expected) in cases {
        let message = refused(text, &edit);
        assert!(message.starts_with(expected), "{message}");
    }
}

/// The source of a cell.
fn joined(source: &Value) -> String {
    match source {
        Value::String(text) => text.clone(),
        lines => lines.as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect(),
    }
}

/// A notebook with unknown keys everywhere.
fn notebooks() -> impl Strategy<Value = (Value, String)> {
    let scalar = prop_oneof![
        Just(json!(null)),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from)
    ];
    let source = prop_oneof![
        proptest::collection::vec("\\PC{0,5}\n", 0..3).prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from)
    ];
    let cell = (0..3_usize, source, scalar.clone(), any::<bool>()).prop_map(
        |(kind, source, extra, first)| {
            let mut cell = if first { json!({"zz": extra}) } else { json!({}) };
            cell["cell_type"] = ["code", "markdown", "raw"][kind].into();
            if kind == 0 {
                cell["execution_count"] = 7.into();
                cell["outputs"] = json!([{"output_type": "stream", "text": "x"}]);
            }
            cell["metadata"] = json!({"k": extra});
            cell["source"] = source;
            cell
        },
    );
    let layout = prop_oneof![Just(None), Just(Some(1)), Just(Some(4))];
    (proptest::collection::vec(cell, 0..5), scalar, 3..6_u64, layout, any::<bool>()).prop_map(
        |(mut cells, extra, minor, layout, newline)| {
            if minor >= 5 {
                cells.iter_mut().enumerate().for_each(|(number, cell)| cell["id"] = format!("c{number}").into());
            }
            let value = json!({"metadata": {"e": extra}, "cells": cells, "own": [extra], "nbformat": 4, "nbformat_minor": minor});
            (value.clone(), written(&value, layout, newline))
        },
    )
}

fn written(value: &Value, indent: Option<usize>, newline: bool) -> String {
    use serde::Serialize as _;
    let mut bytes = Vec::new();
    if let Some(indent) = indent {
        let indent = " ".repeat(indent);
        let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
        value
            .serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, formatter))
            .unwrap();
    } else {
        bytes = value.to_string().into_bytes();
    }
    String::from_utf8(bytes).unwrap() + if newline { "\n" } else { "" }
}

proptest! {
    #![proptest_config(crate::property::cases(256))]

    /// The text outside the touched cell stays byte for byte, and the cell becomes what the change says.
    #[test]
    fn other_cells_and_unknown_keys_stay(
        (before, text) in notebooks(),
        command in prop_oneof![Just(NotebookCommand::Insert), Just(NotebookCommand::Replace), Just(NotebookCommand::Delete)],
        number in 0..6_usize,
        cell_type in prop_oneof![Just(None), Just(Some(CellType::Code)), Just(Some(CellType::Markdown))],
        source in "(\\PC{0,5}\n?){0,3}",
    ) {
        let count = before["cells"].as_array().unwrap().len();
        let edit = CellEdit { command, position: CellPosition::Number(number), cell_type, source: Some(source.clone()) };
        let Ok(edited) = edit::apply(&text, &edit) else {
            let limit = if command == NotebookCommand::Insert { count + 1 } else { count };
            let same = command == NotebookCommand::Replace && number < count;
            prop_assert!(number >= limit || same);
            return Ok(());
        };
        let after: Value = serde_json::from_str(&edited.text).unwrap();
        let (old, new) = (&before["cells"].as_array().unwrap(), after["cells"].as_array().unwrap());
        prop_assert_eq!(new.len(), edited.count);
        let (mut rest, mut kept) = (old.to_vec(), new.clone());
        if command != NotebookCommand::Insert {
            rest.remove(number);
        }
        if command != NotebookCommand::Delete {
            let cell = kept.remove(number);
            prop_assert_eq!(&joined(&cell["source"]), &source);
            prop_assert_eq!(cell["cell_type"] == "code", cell.get("outputs").is_some());
            prop_assert_eq!(cell["cell_type"] == "code", cell.get("execution_count").is_some());
            prop_assert_eq!(before["nbformat_minor"] == 5, cell.get("id").is_some());
            let is_same = command == NotebookCommand::Replace
                && old[number]["cell_type"] == "code"
                && joined(&old[number]["source"]) == source;
            if cell["cell_type"] == "code" && !is_same {
                prop_assert_eq!([&cell["outputs"], &cell["execution_count"]], [&json!([]), &json!(null)]);
            }
            if command == NotebookCommand::Replace {
                prop_assert_eq!(cell.get("zz"), old[number].get("zz"));
                prop_assert_eq!(&cell["metadata"], &old[number]["metadata"]);
            }
        }
        prop_assert_eq!(rest, kept);
        let shell = |mut value: Value| { value["cells"] = json!([]); value.to_string() };
        prop_assert_eq!(shell(before), shell(after));
        // All text but that of the cell: a common beginning and a common end make up the shorter one.
        let same = |a: &mut dyn Iterator<Item = (char, char)>| a.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>();
        let start = same(&mut text.chars().zip(edited.text.chars()));
        let end = same(&mut text.chars().rev().zip(edited.text.chars().rev()));
        if command != NotebookCommand::Replace {
            prop_assert!(start + end >= text.len().min(edited.text.len()), "{}\n{}", text, edited.text);
        }
        prop_assert_eq!(text.ends_with('\n'), edited.text.ends_with('\n'));
    }
}

/// A pool over a notebook that was read.
async fn pool(folder: &tempfile::TempDir) -> ToolPool {
    fs::write(folder.path().join("a.ipynb"), NOTEBOOK).unwrap();
    let workspace = Workspace::builder().root(folder.path()).build().unwrap();
    let builtins = Builtins::new(workspace).files().code(CodeParams::default());
    let pool = ToolPool::builder().install(builtins).check_outputs().build().unwrap();
    pool.call(ToolCall::json("Read", json!({"file_path": "a.ipynb"}))).await;
    pool
}

#[tokio::test]
async fn a_change_of_others_is_not_overwritten_and_a_change_can_be_undone() {
    let folder = tempfile::TempDir::new().unwrap();
    let pool = pool(&folder).await;
    let path = folder.path().join("a.ipynb");
    let arguments = json!({"notebook_path": "a.ipynb", "cell_id": "b7", "new_source": "2", "edit_mode": "replace"});
    let result = pool.call(ToolCall::json("NotebookEdit", arguments.clone())).await;
    let value = result.observation().structured().unwrap().clone();
    assert_eq!(
        [&value["cell_number"], &value["cells"], &value["cell_type"]],
        [&json!(1), &json!(2), &json!("code")]
    );
    assert!(
        value["diff"].as_str().unwrap().contains("-    \"print(1.50)\"\n+    \"2\""),
        "{value}"
    );
    assert_ne!(fs::read_to_string(&path).unwrap(), NOTEBOOK);
    pool.call(ToolCall::json("UndoEdit", json!({"file_path": "a.ipynb"}))).await;
    assert_eq!(fs::read_to_string(&path).unwrap(), NOTEBOOK);

    fs::write(&path, NOTEBOOK.replace("Title", "Other")).unwrap();
    let result = pool.call(ToolCall::json("NotebookEdit", arguments)).await;
    assert_eq!(
        result.observation().to_text(),
        "`a.ipynb` was changed since it was read; read it again, then repeat the change"
    );
    let arguments = json!({"file_path": "b.ipynb", "cell_number": 0, "source": ""});
    let result = pool.call(ToolCall::json("NotebookEdit", arguments)).await;
    assert_eq!(result.observation().to_text(), "`b.ipynb` does not exist; there is `a.ipynb`");
    let arguments = json!({"file_path": "a.ipynb", "source": ""});
    let result = pool.call(ToolCall::json("NotebookEdit", arguments)).await;
    assert_eq!(result.observation().to_text(), "give either `cell_id` or `cell_number`");
}
