//! The process of a browser, and its profile.

use super::params::BrowserParams;
use crate::process::{Started, find_program, start};
use crate::process_tree::Tree;
use crate::workspace::Environment;
use rustix::process::Signal;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{ChildStdin, Command};
use tokio::sync::oneshot;

/// Programs to look for in `PATH`, in this order.
const PROGRAMS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// The start of the line in which a browser reports its DevTools address.
const READY: &str = "DevTools listening on ";
/// Lines of standard error that are kept for messages.
const MAX_LINES: usize = 20;
const MAX_LINE: usize = 300;

/// Starts a browser, and deletes its profile once it has ended. The browser ends when its pipe for commands is closed:
/// its input, which the system closes with this process, however it ends.
const SCRIPT: &str = r#""$@" 3<&0 4>/dev/null </dev/null; rm -rf -- "$0""#;

/// Options of every browser. They turn off Chromium's own services, and send all traffic through the proxy.
const OPTIONS: &[&str] = &[
    "--headless=new",
    "--remote-debugging-port=0",
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
pub(super) fn find(params: &BrowserParams, environment: &Environment) -> Result<PathBuf, String> {
    let install = "install the package `chromium` of the system (Debian: `apt-get install chromium`), or set `BrowserParams::program`";
    match &params.program {
        Some(program) => find_program(program, environment)
            .ok_or_else(|| format!("`{}` is not a program; {install}", program.display())),
        None => PROGRAMS
            .iter()
            .find_map(|name| find_program(Path::new(name), environment))
            .ok_or_else(|| format!("no Chromium is installed; {install}")),
    }
}

/// A running browser. Dropping it ends all its processes and deletes its profile.
pub(super) struct Chromium {
    /// The address of the DevTools protocol.
    pub(super) address: String,
    tree: Tree,
    profile: Option<TempDir>,
    /// Its end ends the browser.
    _pipe: Option<ChildStdin>,
}

impl Chromium {
    /// Starts a browser that sends all connections through a proxy on a loopback port.
    ///
    /// # Errors
    /// The program does not start, or is not ready in time.
    pub(super) async fn start(
        program: &Path,
        params: &BrowserParams,
        environment: &Environment,
        proxy_port: u16,
    ) -> Result<Self, String> {
        let profile = tempfile::Builder::new().prefix("browser-").tempdir();
        let profile = profile.map_err(|error| format!("a profile cannot be created: {error}"))?;
        let command = command(program, params, environment, proxy_port, profile.path());
        let failed = |error: io::Error| format!("`{}`: {error}", program.display());
        let Started { mut child, tree } = start(command).map_err(failed)?;
        let (profile, _pipe) = (Some(profile), child.stdin().take());
        let mut chromium = Self { address: String::new(), tree, profile, _pipe };
        let stderr = child.stderr().take().ok_or("the process has no error output")?;
        let (ready, address) = oneshot::channel();
        let lines = Arc::new(Mutex::new(Vec::new()));
        tokio::spawn(read(stderr, ready, Arc::clone(&lines)));
        // Reaps the process.
        tokio::spawn(async move { child.wait().await });
        let limit = Duration::from_secs(params.start_seconds);
        let said = || lines.lock().unwrap_or_else(PoisonError::into_inner).join("\n");
        chromium.address = match tokio::time::timeout(limit, address).await {
            Ok(Ok(address)) => address,
            Ok(Err(_)) => return Err(format!("it ended when it was started: {}", said())),
            Err(_) => {
                let seconds = params.start_seconds;
                return Err(format!("it was not ready after {seconds} seconds: {}", said()));
            }
        };
        Ok(chromium)
    }

    /// The port of the DevTools protocol.
    pub(super) fn port(&self) -> Option<u16> {
        let host = self.address.strip_prefix("ws://")?.split('/').next()?;
        host.rsplit_once(':')?.1.parse().ok()
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

fn command(
    program: &Path,
    params: &BrowserParams,
    environment: &Environment,
    proxy_port: u16,
    profile: &Path,
) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", SCRIPT])
        .arg(profile)
        .arg(program)
        .args(OPTIONS)
        .arg(format!("--window-size={},{}", params.width, params.height))
        .arg(format!("--proxy-server=http://127.0.0.1:{proxy_port}"))
        .arg(format!("--user-data-dir={}", profile.display()))
        .env_clear()
        .envs(environment)
        .env("HOME", profile)
        .env("TMPDIR", profile)
        .env("XDG_CONFIG_HOME", profile)
        .env("XDG_CACHE_HOME", profile)
        .current_dir(profile)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    // Chromium refuses to be its own sandbox for root.
    if rustix::process::geteuid().is_root() {
        command.arg("--no-sandbox");
    }
    command.arg("about:blank");
    command
}

/// Reads standard error to its end: reports the DevTools address, and keeps the first lines.
async fn read(
    stderr: impl AsyncRead + Unpin,
    ready: oneshot::Sender<String>,
    kept: Arc<Mutex<Vec<String>>>,
) {
    let mut ready = Some(ready);
    let mut lines = BufReader::new(stderr).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let line = String::from_utf8_lossy(&line);
        if let Some(address) = line.trim().strip_prefix(READY) {
            if let Some(ready) = ready.take() {
                // Fails only if `start` timed out.
                let _ = ready.send(address.to_owned());
            }
            continue;
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MAX_LINES && ready.is_some() {
            kept.push(line.chars().take(MAX_LINE).collect());
        }
    }
}
