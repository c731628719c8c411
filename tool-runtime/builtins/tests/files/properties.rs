//! No path leaves the roots, whatever links exist.
#![cfg(unix)]

use crate::support::{Folder, Tools};
use proptest::prelude::*;
use serde_json::json;

fn run(future: impl Future<Output = Result<(), TestCaseError>>) -> Result<(), TestCaseError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(crate::property::cases(48))]

    #[test]
    fn no_path_leaves_the_root(
        links in prop::collection::vec((path(), path()), 0..6),
        paths in prop::collection::vec(path(), 1..6),
    ) {
        run(async {
            let folder = Folder::new();
            for name in ["a", "b/a", "root/a", "root/b/a"] {
                folder.put(name, if name.starts_with("root") { "inside\n" } else { "secret\n" });
            }
            for (link, target) in &links {
                let target = target.replace("ROOT", folder.path("").to_str().unwrap());
                let _ = std::os::unix::fs::symlink(target, folder.path("root").join(link.replace("..", "b")));
            }
            // A link may have been created behind another, outside the root.
            let outside = || std::fs::read_dir(folder.path("b")).unwrap().count();
            let before = outside();
            let tools = Tools::over(folder.path("root"));
            for path in &paths {
                let path = path.replace("ROOT", folder.path("").to_str().unwrap());
                let text = tools.call("Read", json!({ "file_path": path })).await.observation().to_text();
                prop_assert!(!text.contains("secret"), "{}", text);
                tools.call("Write", json!({ "file_path": path, "content": "x" })).await;
                tools.call("Delete", json!({ "path": path })).await;
                tools.call("Move", json!({ "source": "a", "destination": path })).await;
            }
            prop_assert_eq!(folder.names(), ["a", "b", "root"]);
            prop_assert_eq!(folder.text("a") + &folder.text("b/a"), "secret\nsecret\n");
            prop_assert_eq!(outside(), before);
            Ok(())
        })?;
    }
}

/// Short paths of few names, so that they meet each other. `ROOT` is the directory around the root.
fn path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "..", ".", "c", "root"]);
    let names = prop::collection::vec(name, 1..5).prop_map(|names| names.join("/"));
    (prop::bool::weighted(0.2), names)
        .prop_map(|(absolute, path)| if absolute { format!("ROOT/{path}") } else { path })
}
