//! The process of a browser, and its profile.

use super::params::BrowserParams;
use crate::confine::{Child, NoProgram, private_directory};
use crate::process::{Started, start};
use crate::process_tree::Tree;
use crate::workspace::Workspace;
use rustix::process::Signal;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tool_runtime::__seam::lock;

/// Programs to look for in `PATH`, in this order.
const PROGRAMS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Lines of standard error that are kept for messages.
const MAX_LINES: usize = 20;
const MAX_LINE: usize = 300;

/// Starts a browser, and deletes its profile once it has ended. Commands and responses of the DevTools protocol go through
/// input and output only, which no other process can reach. The browser ends when they are closed: the system does that
/// with this process, however it ends.
const SCRIPT: &str = r#""$@" 3<&0 4>&1 </dev/null >/dev/null; rm -rf -- "$0""#;

/// Options of every browser. They turn off Chromium's own services, and send all traffic through the proxy.
const OPTIONS: &[&str] = &[
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--mute-audio",
    "--hide-scrollbars",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-features=Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,DnsOverHttps,NetworkTimeServiceQuerying,WebBluetooth,WebUSB",
    "--metrics-recording-only",
    // No switch turns off accounts and updates, so they get a host that does not exist.
    "--gaia-url=http://off.invalid",
    "--component-updater=url-source=http://off.invalid/",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    // Loopback goes through the proxy too, and the browser itself resolves no names.
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/// The path of the program.
///
/// # Errors
/// No browser is installed.
pub(super) fn find(params: &BrowserParams, workspace: &Workspace) -> Result<PathBuf, String> {
    let install = "install the package `chromium` of the system (Debian: `apt-get install chromium`), or set `BrowserParams::program`";
    let find =
        |program: &Path| workspace.confinement().find_program(program, workspace.environment());
    if let Some(program) = &params.program {
        return find(program).map_err(|missing| missing.message(program, install));
    }
    let mut changeable = None;
    for name in PROGRAMS.map(Path::new) {
        match find(name) {
            Ok(program) => return Ok(program),
            Err(NoProgram::Missing) => {}
            Err(found) => changeable = changeable.or(Some(found.message(name, install))),
        }
    }
    Err(changeable.unwrap_or_else(|| format!("no Chromium is installed; {install}")))
}

/// A running browser. Dropping it ends all its processes and deletes its profile.
pub(super) struct Chromium {
    tree: Tree,
    profile: Option<TempDir>,
    /// The first lines of its error output.
    lines: Arc<Mutex<Vec<String>>>,
}

/// Where commands of the DevTools protocol are written, and responses are read. Their end ends the browser.
pub(super) struct Pipe {
    pub(super) commands: ChildStdin,
    pub(super) responses: ChildStdout,
}

impl Chromium {
    /// Starts a browser that sends all connections through a proxy on a loopback port.
    ///
    /// # Errors
    /// The program does not start.
    pub(super) async fn start(
        program: &Path,
        params: &BrowserParams,
        workspace: &Workspace,
        downloads: Option<&Path>,
        proxy_port: u16,
    ) -> Result<(Self, Pipe), String> {
        let failed = |error: io::Error| format!("`{}`: {error}", program.display());
        let child = Child::Browser { downloads: downloads.map(Path::to_owned) };
        let confinement = workspace.confinement();
        let (program, arguments) =
            confinement.program(&child, program.to_owned()).map_err(failed)?;
        let profile = profile().map_err(|error| format!("a profile cannot be created: {error}"))?;
        let command = command(program, arguments, params, workspace, proxy_port, profile.path());
        let Started { mut child, tree } =
            start(confinement, child, command).await.map_err(failed)?;
        let pipe = (child.stdin().take(), child.stdout().take());
        let stderr = child.stderr().take().ok_or("the process has no error output")?;
        let chromium = Self { tree, profile: Some(profile), lines: Arc::default() };
        tokio::spawn(read(stderr, Arc::clone(&chromium.lines)));
        // Reaps the process.
        tokio::spawn(async move { child.wait().await });
        match pipe {
            (Some(commands), Some(responses)) => Ok((chromium, Pipe { commands, responses })),
            _ => Err("the process has no streams".to_owned()),
        }
    }

    /// The first lines of the error output.
    pub(super) fn stderr_text(&self) -> String {
        lock(&self.lines).join("\n")
    }

    /// The directory of the profile.
    pub(super) fn profile(&self) -> &Path {
        self.profile.as_ref().map_or(Path::new(""), TempDir::path)
    }

    /// Ends all processes and deletes the profile; both are done when it returns.
    pub(super) async fn end(mut self) {
        let (tree, profile) = (self.tree.clone(), self.profile.take());
        // Fails only if the runtime shuts down.
        let _ = tokio::task::spawn_blocking(move || remove(&tree, profile)).await;
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        if let Some(profile) = self.profile.take() {
            self.tree.signal(Signal::KILL);
            let tree = self.tree.clone();
            std::thread::spawn(move || remove(&tree, Some(profile)));
        }
    }
}

fn remove(tree: &Tree, profile: Option<TempDir>) {
    tree.kill();
    match profile.map(TempDir::close) {
        // The script has deleted it after a crash.
        Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, "the profile of a browser could not be deleted");
        }
        _ => {}
    }
}

/// A directory only for this user. Commands in a sandbox cannot change it, or do not see it.
fn profile() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("browser-").permissions(std::fs::Permissions::from_mode(0o700));
    match private_directory("browsers") {
        Some(directory) => builder.tempdir_in(directory),
        None => builder.tempdir(),
    }
}

/// The command of a program, which may be that of a sandbox, with its first arguments.
fn command(
    program: PathBuf,
    arguments: Vec<OsString>,
    params: &BrowserParams,
    workspace: &Workspace,
    proxy_port: u16,
    profile: &Path,
) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", SCRIPT])
        .arg(profile)
        .arg(program)
        .args(arguments)
        .args(OPTIONS)
        .arg(format!("--window-size={},{}", params.width, params.height))
        .arg(format!("--proxy-server=http://127.0.0.1:{proxy_port}"))
        .arg(format!("--user-data-dir={}", profile.display()))
        .env_clear()
        .envs(workspace.environment())
        .env("HOME", profile)
        .env("TMPDIR", profile)
        .env("XDG_CONFIG_HOME", profile)
        .env("XDG_CACHE_HOME", profile)
        .current_dir(profile)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Chromium refuses to be its own sandbox for root.
    if rustix::process::geteuid().is_root() {
        command.arg("--no-sandbox");
    }
    command.arg("about:blank");
    command
}

/// Reads standard error to its end, and keeps the first lines.
async fn read(stderr: impl AsyncRead + Unpin, kept: Arc<Mutex<Vec<String>>>) {
    let mut lines = BufReader::new(stderr).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let line = String::from_utf8_lossy(&line);
        let mut kept = lock(&kept);
        if kept.len() < MAX_LINES {
            kept.push(line.chars().take(MAX_LINE).collect());
        }
    }
}
