//! A server over HTTP on a free port.

use crate::limit::Limit;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

/// A server that runs until this is dropped.
#[derive(Debug)]
pub struct HttpServerProcess {
    child: Child,
    url: String,
    log: Option<JoinHandle<String>>,
    _limit: Limit,
}

impl HttpServerProcess {
    /// Starts `serve --http` of a generated binary with more options, and waits until it listens.
    ///
    /// # Panics
    /// The server does not start, or prints something else first.
    pub fn start(binary: &Path, options: &[&str]) -> Self {
        let mut child = Command::new(binary)
            .args(["serve", "--http", "127.0.0.1:0"])
            .args(options)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("`{}`: {error}", binary.display()));
        let _limit = Limit::of(&child);
        let mut log = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        log.read_line(&mut line).expect("UTF-8");
        let url = line.trim_end().strip_prefix("listening on ");
        let url = url.unwrap_or_else(|| panic!("the server printed {line:?}")).to_owned();
        // Drains the output, so that the server does not block on a full pipe.
        let log = thread::spawn(move || {
            let mut text = String::new();
            drop(log.read_to_string(&mut text));
            text
        });
        Self { child, url, log: Some(log), _limit }
    }

    /// URL of the MCP endpoint.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Stops the server and returns its log.
    pub fn log(mut self) -> String {
        self.end();
        self.log.take().and_then(|log| log.join().ok()).unwrap_or_default()
    }

    fn end(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Drop for HttpServerProcess {
    fn drop(&mut self) {
        self.end();
    }
}
