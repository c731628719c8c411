//! typescript-language-server.

use crate::support::{Project, names, places};
use serde_json::json;
use std::fs;

const SHAPES: &str = "/** A thing with an area. */\nexport interface Shape {\n  area(): number;\n}\n\nexport class Square implements Shape {\n  area() {\n    return 1;\n  }\n}\n\nexport function total(shapes: Shape[]): number {\n  return shapes.reduce((sum, shape) => sum + shape.area(), 0);\n}\n";
const MAIN: &str = "import { Square, total } from \"./shapes\";\n\nexport function main(): number {\n  const s = \"😀é\"; return total([new Square()]) + s.length;\n}\n";

fn project() -> Project {
    let script = "typescript-language-server/lib/cli.mjs";
    let config = "{\"compilerOptions\": {\"strict\": true, \"target\": \"es2022\", \"module\": \"esnext\", \"moduleResolution\": \"bundler\", \"types\": []}}";
    let files = [("tsconfig.json", config), ("shapes.ts", SHAPES), ("main.ts", MAIN)];
    Project::new("typescript", script, &files)
}

#[tokio::test]
async fn symbols_are_found_across_files() {
    let project = project();
    let value = project.ask_at("goToDefinition", "main.ts", "return ").await;
    assert_eq!(places(&value), ["shapes.ts:12:17"]);
    let value = project.ask_at("findReferences", "main.ts", "return ").await;
    assert_eq!(places(&value), ["main.ts:1:18", "main.ts:4:26", "shapes.ts:12:17"]);
    let value = project.ask_at("goToImplementation", "shapes.ts", "interface ").await;
    assert_eq!(places(&value), ["shapes.ts:6:14"]);
    let hover = project.ask_at("hover", "shapes.ts", "interface ").await["hover"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        hover.contains("interface Shape") && hover.contains("A thing with an area."),
        "{hover}"
    );
    let value = project.ask(json!({"operation": "documentSymbol", "file_path": "shapes.ts"})).await;
    let found = names(&value);
    assert!(
        ["class Square", "function total", "interface Shape"]
            .iter()
            .all(|name| found.contains(&(*name).to_owned())),
        "{found:?}"
    );
    let value = project
        .ask(json!({"operation": "workspaceSymbol", "file_path": "main.ts", "query": "tota"}))
        .await;
    assert!(names(&value).contains(&"function total".to_owned()), "{value}");
    project.close().await;
}

#[tokio::test]
async fn calls_are_followed_in_both_directions() {
    let project = project();
    let value = project.ask_at("incomingCalls", "shapes.ts", "export function ").await;
    assert_eq!(
        (names(&value), places(&value)),
        (vec!["function main".to_owned()], vec!["main.ts:4:26".to_owned()])
    );
    let value = project.ask_at("outgoingCalls", "main.ts", "export function ").await;
    assert!(names(&value).contains(&"function total".to_owned()), "{value}");
    project.close().await;
}

#[tokio::test]
async fn a_rename_is_previewed_in_all_files() {
    let project = project();
    let mut arguments = project.position("renamePreview", "shapes.ts", "export function ");
    arguments["new_name"] = "sumUp".into();
    let value = project.ask(arguments).await;
    let diff = value["diff"].as_str().unwrap();
    assert!(
        diff.contains("+  const s = \"😀é\"; return sumUp([new Square()]) + s.length;"),
        "{diff}"
    );
    assert!(diff.contains("+export function sumUp(shapes: Shape[]): number {"), "{diff}");
    assert_eq!(fs::read_to_string(project.path("main.ts")).unwrap(), MAIN);
    project.close().await;
}

#[tokio::test]
async fn diagnostics_follow_changes_of_any_file() {
    let project = project();
    let arguments = json!({"operation": "diagnostics", "file_path": "main.ts"});
    let value = project.ask(arguments.clone()).await;
    assert_eq!(value["items"], json!([]), "{value}");
    // The server publishes nothing if there is nothing before and after a change.
    fs::write(project.path("main.ts"), format!("{MAIN}// the end\n")).unwrap();
    let value = project.ask(arguments.clone()).await;
    assert_eq!(value["items"], json!([]), "{value}");
    assert!(!value.to_string().contains("in time"), "{value}");
    fs::write(project.path("main.ts"), MAIN.replace("[new Square()]", "3")).unwrap();
    let value = project.ask(arguments.clone()).await;
    assert_eq!(places(&value), ["main.ts:1:10", "main.ts:4:32"], "{value}");
    assert_eq!([&value["items"][0]["severity"], &value["items"][1]["severity"]], ["hint", "error"]);
    fs::write(project.path("main.ts"), MAIN).unwrap();
    assert!(!project.ask(arguments.clone()).await.to_string().contains("\"error\""));
    // A file that is not open in the server.
    fs::write(project.path("shapes.ts"), SHAPES.replace("function total", "function renamed"))
        .unwrap();
    let value = project.ask(arguments).await;
    assert_eq!(places(&value), ["main.ts:1:18"], "{value}");
    project.close().await;
}
