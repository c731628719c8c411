//! pyright.

use crate::support::{Project, names, places};
use serde_json::json;
use std::fs;

const SHAPES: &str = "class Shape:\n    \"\"\"A thing with an area.\"\"\"\n\n    def area(self) -> float:\n        return 0.0\n\n\ndef total(shapes: list[Shape]) -> float:\n    return sum(shape.area() for shape in shapes)\n";
const MAIN: &str = "from shapes import Shape, total\n\n\ndef main() -> None:\n    s = \"😀é\"; print(total([Shape()]))\n    print(total([]))\n";

fn project() -> Project {
    let script = "pyright/langserver.index.js";
    Project::new("python", script, &[("shapes.py", SHAPES), ("main.py", MAIN)])
}

#[tokio::test]
async fn symbols_are_found_across_files() {
    let project = project();
    // After characters that have two units in UTF-16.
    let value = project.ask_at("goToDefinition", "main.py", "\"; print(").await;
    assert_eq!(places(&value), ["shapes.py:8:5"]);
    assert_eq!(value["items"][0]["text"], "def total(shapes: list[Shape]) -> float:");
    let value = project.ask_at("findReferences", "shapes.py", "def ").await;
    assert_eq!(value["items"][0]["path"], "shapes.py");
    let value = project.ask_at("findReferences", "main.py", "\"; print(").await;
    assert_eq!(places(&value), ["main.py:1:27", "main.py:5:21", "main.py:6:11", "shapes.py:8:5"]);
    let hover =
        project.ask_at("hover", "main.py", "import ").await["hover"].as_str().unwrap().to_owned();
    assert!(hover.contains("class Shape") && hover.contains("A thing with an area."), "{hover}");
    let value = project.ask(json!({"operation": "documentSymbol", "file_path": "shapes.py"})).await;
    let found = names(&value);
    assert!(
        ["class Shape", "function total", "method area"]
            .iter()
            .all(|name| found.contains(&(*name).to_owned())),
        "{found:?}"
    );
    let value = project
        .ask(json!({"operation": "workspaceSymbol", "file_path": "main.py", "query": "tota"}))
        .await;
    assert!(names(&value).contains(&"function total".to_owned()), "{value}");
    let error = project.error(project.position("goToImplementation", "main.py", "import ")).await;
    assert!(error.contains("does not offer `goToImplementation`"), "{error}");
    project.close().await;
}

#[tokio::test]
async fn calls_are_followed_in_both_directions() {
    let project = project();
    let value = project.ask_at("prepareCallHierarchy", "shapes.py", "\ndef ").await;
    assert_eq!(names(&value), ["function total"]);
    let value = project.ask_at("incomingCalls", "shapes.py", "\ndef ").await;
    assert_eq!(
        (names(&value), places(&value)),
        (
            vec!["function main".to_owned(); 2],
            vec!["main.py:5:21".to_owned(), "main.py:6:11".to_owned()],
        )
    );
    let value = project.ask_at("outgoingCalls", "shapes.py", "\ndef ").await;
    assert!(names(&value).contains(&"method area".to_owned()), "{value}");
    project.close().await;
}

#[tokio::test]
async fn a_rename_is_previewed_in_all_files() {
    let project = project();
    let mut arguments = project.position("renamePreview", "shapes.py", "\ndef ");
    arguments["new_name"] = "sum_up".into();
    let value = project.ask(arguments).await;
    let diff = value["diff"].as_str().unwrap();
    assert!(
        diff.contains(
            "-def total(shapes: list[Shape]) -> float:\n+def sum_up(shapes: list[Shape]) -> float:"
        ),
        "{diff}"
    );
    assert!(diff.contains("+    s = \"😀é\"; print(sum_up([Shape()]))"), "{diff}");
    assert_eq!(value["total"], 4);
    assert_eq!(fs::read_to_string(project.path("main.py")).unwrap(), MAIN);
    project.close().await;
}

#[tokio::test]
async fn diagnostics_follow_changes_of_any_file() {
    let project = project();
    let arguments = json!({"operation": "diagnostics", "file_path": "main.py"});
    assert_eq!(project.ask(arguments.clone()).await["items"], json!([]));
    fs::write(project.path("main.py"), MAIN.replace("total([])", "total(3)")).unwrap();
    let value = project.ask(arguments.clone()).await;
    assert_eq!(places(&value), ["main.py:6:17"]);
    assert_eq!(value["items"][0]["severity"], "error");
    fs::write(project.path("main.py"), MAIN).unwrap();
    assert!(!project.ask(arguments.clone()).await.to_string().contains("\"error\""));
    // A file that is not open in the server.
    fs::write(project.path("shapes.py"), SHAPES.replace("def total", "def renamed")).unwrap();
    let value = project.ask(arguments).await;
    assert_eq!(places(&value), ["main.py:1:27"], "{value}");
    project.close().await;
}
