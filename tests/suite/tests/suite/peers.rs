//! Other people's clients drive the quickstart server over stdio.
//!
//! The checks themselves are scripts in `peers/`, in the languages of those clients. This module installs the clients
//! once and runs each script as one test. A machine that cannot install them fails the tests: a peer that is skipped
//! quietly is a peer that is not supported.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// More than the scripts allow themselves, so that a hang is reported by the script that knows where it hung.
const SCRIPT_LIMIT: Duration = Duration::from_secs(180);

/// Several hundred megabytes on a slow line.
const INSTALL_LIMIT: Duration = Duration::from_secs(900);

/// Copied beside `node_modules`, because that is where Node.js looks for the packages of a module.
const SCRIPTS: [&str; 7] = [
    "checks.mjs",
    "expect.mjs",
    "harness.mjs",
    "inspector.mjs",
    "python_client.py",
    "typescript_client.mjs",
    "typescript_sdk.mjs",
];

/// What decides on the installed versions: a change in one of these installs anew.
const PINS: [&str; 3] = ["package.json", "package-lock.json", "requirements.txt"];

const NODE_REMEDY: &str = "install Node.js 20 or newer with npm, and let npm reach its registry";
const PYTHON_REMEDY: &str =
    "install Python 3.10 or newer with its venv module, and let pip reach its registry";

#[test]
fn python_client() {
    check("venv/bin/python", &["python_client.py"]);
}

#[test]
fn typescript_client_legacy() {
    check("node", &["typescript_client.mjs", "legacy"]);
}

#[test]
fn typescript_client_modern() {
    check("node", &["typescript_client.mjs", "modern"]);
}

#[test]
fn typescript_sdk() {
    check("node", &["typescript_sdk.mjs"]);
}

#[test]
fn inspector() {
    check("node", &["inspector.mjs"]);
}

/// Runs one script against the quickstart server and shows all that it printed if any of its checks failed.
fn check(interpreter: &str, words: &[&str]) {
    let dir = install();
    let mut command = Command::new(interpreter_in(dir, interpreter));
    command.args(words).arg("--").arg(super::quickstart::binary());
    let (status, output) = run(command.current_dir(dir), &words.join("-"), SCRIPT_LIMIT)
        .unwrap_or_else(|error| panic!("{interpreter} {words:?} could not be run: {error}"));
    assert!(
        status.is_some_and(|status| status.success()),
        "{interpreter} {words:?} {}:\n{output}",
        describe(status)
    );
}

/// `node` comes from the `PATH`, the Python interpreter from the virtual environment.
fn interpreter_in(dir: &Path, interpreter: &str) -> PathBuf {
    if interpreter.contains('/') { dir.join(interpreter) } else { interpreter.into() }
}

/// The directory with all clients and scripts. Installs them at most once per process, and keeps the reason of a
/// failure so that the other tests do not spend minutes on finding it again.
fn install() -> &'static Path {
    static INSTALLED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match INSTALLED.get_or_init(|| {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers");
        install_in(&dir).map(|()| dir)
    }) {
        Ok(dir) => dir,
        Err(reason) => panic!("the clients could not be installed: {reason}"),
    }
}

/// Holds a lock on the directory meanwhile: two `cargo test` may share one target directory.
fn install_in(dir: &Path) -> Result<(), String> {
    fs::create_dir_all(dir).map_err(|error| format!("`{}`: {error}", dir.display()))?;
    let lock = File::create(dir.join("lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    copy_all(&SCRIPTS, dir).map_err(|error| error.to_string())?;
    let wanted = pins().map_err(|error| error.to_string())?;
    let stamp = dir.join("stamp");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let _ = fs::remove_file(&stamp);
    copy_all(&PINS, dir).map_err(|error| error.to_string())?;
    install_clients(dir)?;
    fs::write(&stamp, wanted).map_err(|error| error.to_string())
}

fn install_clients(dir: &Path) -> Result<(), String> {
    let npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    step(dir, "npm", &npm, NODE_REMEDY)?;
    step(dir, "python3", &["-m", "venv", "--clear", "venv"], PYTHON_REMEDY)?;
    let pip = ["-m", "pip", "install", "--disable-pip-version-check", "-r", "requirements.txt"];
    step(dir, "venv/bin/python", &pip, PYTHON_REMEDY)
}

/// One step of the installation; its error carries what was printed and what to do about it.
fn step(dir: &Path, program: &str, words: &[&str], remedy: &str) -> Result<(), String> {
    let mut command = Command::new(interpreter_in(dir, program));
    match run(command.args(words).current_dir(dir), program, INSTALL_LIMIT) {
        Ok((Some(status), _)) if status.success() => Ok(()),
        Ok((status, output)) => {
            Err(format!("`{program} {}` {}; {remedy}\n{output}", words.join(" "), describe(status)))
        }
        Err(error) => Err(format!("`{program}`: {error}; {remedy}")),
    }
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

/// Leaves files alone that are as they should be: another process may be running them.
fn copy_all(names: &[&str], dir: &Path) -> io::Result<()> {
    for name in names {
        let wanted = fs::read(source().join(name))?;
        let copy = dir.join(name);
        if fs::read(&copy).ok().as_ref() != Some(&wanted) {
            fs::write(copy, wanted)?;
        }
    }
    Ok(())
}

fn pins() -> io::Result<Vec<u8>> {
    let contents = PINS.iter().map(|name| fs::read(source().join(name)));
    Ok(contents.collect::<io::Result<Vec<_>>>()?.concat())
}

/// Runs a command to its end or to `limit`, whichever comes first: then the status is `None`. Its output goes through a
/// file, since a pipe would stay open for as long as any descendant lives.
fn run(
    command: &mut Command,
    name: &str,
    limit: Duration,
) -> io::Result<(Option<ExitStatus>, String)> {
    let file = format!("peers-{}-{}.log", name.replace('/', "-"), std::process::id());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    let log = File::create(&path)?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .inspect_err(|_| drop(fs::remove_file(&path)))?;
    let status = wait(&mut child, limit)?;
    let output = fs::read(&path)?;
    fs::remove_file(&path)?;
    Ok((status, String::from_utf8_lossy(&output).into_owned()))
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

fn describe(status: Option<ExitStatus>) -> String {
    status.map_or_else(|| "did not end in time".to_owned(), |status| format!("ended with {status}"))
}
