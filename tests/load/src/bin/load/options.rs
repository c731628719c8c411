//! The command line.

use lexopt::prelude::*;
use lexopt::{Arg, Error, Parser};
use load::table::Effort;
use load::{Call, Channel, Load, ProtocolVersion};
use std::ffi::OsString;
use std::time::Duration;

pub(crate) const USAGE: &str = "\
load stdio [--sockets] [OPTIONS] -- COMMAND...  start a server, load it over stdin and stdout
load http [OPTIONS] -- COMMAND...               start one that says `listening on URL` on stderr
load http --url URL [--pid PID] [OPTIONS]       load one that runs already
load table [stdio] [http] [--rounds N] [--seconds S]
    ours beside rmcp's, as Markdown: calls a second, CPU of the server a call, its memory
    (the best of 5 rounds, 1 s each)

OPTIONS
  --protocol VERSION   2025-11-25 with `initialize`, or stateless 2026-07-28 (2025-11-25)
  --in-flight N        how many calls wait for answers at any time (1)
  --seconds S          how long calls are counted (1)
  --tool NAME          the tool to call (`add` with 2 and 3)
  --arguments JSON     its arguments ({})
  --expect TEXT        the text that every answer must begin with a block of
";

/// The server under load.
pub(crate) enum Target {
    Help,
    Stdio(Channel, Vec<OsString>),
    Http(Vec<OsString>),
    Url(String, Option<u32>),
    Table { stdio: bool, http: bool },
}

/// The parsed command line.
pub(crate) struct Options {
    pub(crate) target: Target,
    pub(crate) load: Load,
    pub(crate) effort: Effort,
}

impl Options {
    pub(crate) fn read() -> Result<Self, Error> {
        let mut arguments = std::env::args_os().skip(1);
        let options: Vec<OsString> = arguments.by_ref().take_while(|word| word != "--").collect();
        Raw::read(Parser::from_args(options))?.checked(arguments.collect())
    }
}

/// The options of the command line before validation.
struct Raw {
    words: Vec<String>,
    sockets: bool,
    url: Option<String>,
    process: Option<u32>,
    rounds: usize,
    time: Duration,
    version: ProtocolVersion,
    in_flight: usize,
    call: Call,
}

impl Raw {
    fn read(mut parser: Parser) -> Result<Self, Error> {
        let mut raw = Self {
            words: Vec::new(),
            sockets: false,
            url: None,
            process: None,
            rounds: 5,
            time: Duration::from_secs(1),
            version: ProtocolVersion::V2025_11_25,
            in_flight: 1,
            call: Call::add(),
        };
        while let Some(argument) = parser.next()? {
            match argument {
                Value(word) => raw.words.push(word.string()?),
                Long(name) => {
                    let name = name.to_owned();
                    raw.take(&name, &mut parser)?;
                }
                Arg::Short(_) => return Err(argument.unexpected()),
            }
        }
        Ok(raw)
    }

    fn take(&mut self, name: &str, parser: &mut Parser) -> Result<(), Error> {
        match name {
            "sockets" => self.sockets = true,
            "url" => self.url = Some(parser.value()?.string()?),
            "pid" => self.process = Some(parser.value()?.parse()?),
            "rounds" => self.rounds = parser.value()?.parse()?,
            "seconds" => self.time = parser.value()?.parse_with(seconds)?,
            "protocol" => self.version = parser.value()?.parse_with(protocol_version)?,
            "in-flight" => self.in_flight = parser.value()?.parse()?,
            "tool" => self.call = Call::without_arguments(parser.value()?.string()?),
            "arguments" => self.call.arguments = parser.value()?.parse()?,
            "expect" => self.call.expected = Some(parser.value()?.string()?),
            _ => return Err(Arg::Long(name).unexpected()),
        }
        Ok(())
    }

    fn checked(self, command: Vec<OsString>) -> Result<Options, Error> {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let channel = if self.sockets { Channel::Sockets } else { Channel::Pipes };
        let target = match (&*words, self.url, command) {
            ([], None, command) if command.is_empty() => Target::Help,
            (["stdio"], None, command) if !command.is_empty() => Target::Stdio(channel, command),
            (["http"], None, command) if !command.is_empty() => Target::Http(command),
            (["http"], Some(url), command) if command.is_empty() => Target::Url(url, self.process),
            (["table", wanted @ ..], None, command) if command.is_empty() => {
                let wants = |name| wanted.is_empty() || wanted.contains(&name);
                Target::Table { stdio: wants("stdio"), http: wants("http") }
            }
            _ => return Err(format!("these do not belong together\n{USAGE}").into()),
        };
        let (version, call, in_flight, time) = (self.version, self.call, self.in_flight, self.time);
        Ok(Options {
            target,
            load: Load { version, call, in_flight, time },
            effort: Effort { rounds: self.rounds, round_time: time },
        })
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn protocol_version(text: &str) -> Result<ProtocolVersion, &'static str> {
    let mut versions = ProtocolVersion::ALL.into_iter();
    versions.find(|version| version.as_str() == text).ok_or("2025-11-25 or 2026-07-28")
}
