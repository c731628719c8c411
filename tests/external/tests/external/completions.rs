//! Completions of a program in zsh, by keys at a terminal. The suite has those in bash.

use crate::needs::Need;
use libtest_mimic::Trial;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

pub(crate) fn tests() -> Vec<Trial> {
    let name = "completions::zsh_completes_tools_and_arguments";
    vec![Need::Zsh.test(name, zsh_completes_tools_and_arguments)]
}

pub(crate) fn check_zsh() -> Result<(), String> {
    let found = Command::new("zsh").arg("--version").output();
    found.map(drop).map_err(|_| "needs zsh (apt-get install zsh)".to_owned())
}

/// The directory of the programs that `cargo test` has built.
fn programs() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let directory = test.ancestors().nth(2).unwrap().to_owned();
    assert!(directory.join("terminal_tools").exists(), "run `cargo build -p suite --bins`");
    directory
}

/// A shell at a terminal.
struct Shell {
    process: Child,
    keys: File,
    shown: String,
}

impl Shell {
    fn start(home: &Path) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).and_then(|()| unlockpt(&ours)).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let theirs =
            || -> Stdio { File::options().read(true).write(true).open(&name).unwrap().into() };
        let path = format!("{}:{}", programs().display(), std::env::var("PATH").unwrap());
        let mut zsh = Command::new("zsh");
        zsh.args(["-f", "-i"]).env("PATH", path).env("HOME", home).env("TERM", "dumb");
        let process = zsh.stdin(theirs()).stdout(theirs()).stderr(theirs()).spawn().unwrap();
        Self { process, keys: File::from(ours), shown: String::new() }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn until(&mut self, text: &str) {
        let mut chunk = [0; 1024];
        while !self.shown.contains(text) {
            let length = self.keys.read(&mut chunk).unwrap_or(0);
            assert!(length > 0, "the shell ended before `{text}`: {}", self.shown);
            self.shown.push_str(&String::from_utf8_lossy(&chunk[..length]));
        }
        self.shown.clear();
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Keys that are pressed while the shell completes wait for it.
async fn zsh_completes_tools_and_arguments() {
    let home = TempDir::new().unwrap();
    let mut shell = Shell::start(home.path());
    shell.press("autoload -U compinit && compinit -u -D && source <(terminal_tools completions zsh); echo re''ady\n");
    shell.until("ready");
    shell.press("terminal_tools call sear\t--qu\tzz --so\tnew\t; echo do''ne\n");
    shell.until("sort:  newest");
    shell.until("done");
}
