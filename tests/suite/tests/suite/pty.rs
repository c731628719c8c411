//! A program at a terminal, and the person before it.

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use suite::limit::Limit;

/// A program at a terminal.
pub(crate) struct Terminal {
    program: Child,
    keys: File,
    /// All that was on the screen.
    pub(crate) shown: String,
    _limit: Limit,
}

impl Terminal {
    pub(crate) fn start(mut command: Command) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("it may be opened");
        let name = ptsname(&ours, Vec::new()).expect("it has a name").into_string().expect("UTF-8");
        let theirs = || -> Stdio {
            File::options().read(true).write(true).open(&name).expect("the other end").into()
        };
        command.stdin(theirs()).stdout(theirs()).stderr(theirs());
        let program = command.spawn().expect("it starts");
        let limit = Limit::of(&program);
        Self { program, keys: File::from(ours), shown: String::new(), _limit: limit }
    }

    /// Reads until the screen shows this.
    pub(crate) fn until(&mut self, text: &str) {
        self.until_times(text, 1);
    }

    /// Reads until the screen has shown this so many times.
    pub(crate) fn until_times(&mut self, text: &str, times: usize) {
        let mut chunk = [0; 1024];
        while self.shown.matches(text).count() < times {
            match self.keys.read(&mut chunk) {
                Ok(length) if length > 0 => {
                    self.shown.push_str(&String::from_utf8_lossy(&chunk[..length]));
                }
                ended => panic!("{ended:?} before `{text}`: {}", self.shown),
            }
        }
    }

    pub(crate) fn type_in(&mut self, line: &str) {
        writeln!(self.keys, "{line}").expect("the terminal takes it");
    }

    /// Interrupts the program, as Ctrl-C does where the terminal controls it.
    pub(crate) fn interrupt(&self) {
        let process = Pid::from_child(&self.program);
        kill_process(process, Signal::INT).expect("it runs");
    }

    /// Waits for the end, which a terminal reports as an error. The exit code.
    pub(crate) fn code(&mut self) -> Option<i32> {
        let mut chunk = [0; 1024];
        while let Ok(length @ 1..) = self.keys.read(&mut chunk) {
            self.shown.push_str(&String::from_utf8_lossy(&chunk[..length]));
        }
        self.program.wait().expect("it ends").code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.program.kill());
        drop(self.program.wait());
    }
}
