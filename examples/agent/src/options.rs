//! The command line.

use lexopt::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tool_runtime_agent::{Model, ScriptedModel};

pub(crate) type BoxError = Box<dyn std::error::Error>;

const HELP: &str = "\
Usage: agent [OPTIONS] [TASK]

Does a task with tools for notes, the web, plans, sub-agents and jobs, and asks before it changes something. Default: a
scripted model deletes old notes.

Options:
      --model NAME        A model of the crate genai; its API key is read from the environment
      --script FILE       Turns of a scripted model instead
      --explorer FILE     Turns of the scripted model of sub-agents
      --mcp-config FILE   MCP servers whose tools are offered as well
      --searxng URL       The search engine of WebSearch
      --private-host HOST A host with a private address that pages may be fetched from
      --runs N            Stay until N runs of jobs have ended
  -h, --help              Print this help";

#[derive(Default)]
pub(crate) struct Options {
    model: Option<String>,
    script: Option<PathBuf>,
    explorer: Option<PathBuf>,
    /// The search engine.
    pub(crate) searxng: Option<String>,
    /// Hosts with private addresses that pages may be fetched from.
    pub(crate) private_hosts: Vec<String>,
    /// Runs of jobs to wait for.
    pub(crate) runs: usize,
    /// A file of MCP servers.
    pub(crate) mcp_config: Option<PathBuf>,
    task: Option<String>,
}

impl Options {
    pub(crate) fn parse() -> Result<Self, BoxError> {
        let (mut options, mut parser) = (Self::default(), lexopt::Parser::from_env());
        while let Some(argument) = parser.next()? {
            match argument {
                Long("model") => options.model = Some(parser.value()?.string()?),
                Long("mcp-config") => options.mcp_config = Some(parser.value()?.into()),
                Long("script") => options.script = Some(parser.value()?.into()),
                Long("explorer") => options.explorer = Some(parser.value()?.into()),
                Long("searxng") => options.searxng = Some(parser.value()?.string()?),
                Long("private-host") => options.private_hosts.push(parser.value()?.string()?),
                Long("runs") => options.runs = parser.value()?.parse()?,
                Short('h') | Long("help") => {
                    println!("{HELP}");
                    std::process::exit(0);
                }
                Value(task) if options.task.is_none() => options.task = Some(task.string()?),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(options)
    }

    pub(crate) fn task(&self) -> &str {
        self.task.as_deref().unwrap_or("Delete the old notes.")
    }

    /// The model with this name, or the script.
    pub(crate) fn model(&self) -> Result<Arc<dyn Model>, BoxError> {
        self.model_or(self.script.as_deref(), include_str!("script.json"))
    }

    /// The model of sub-agents: that of the agent, or a script of their own.
    pub(crate) fn explorer(&self) -> Result<Arc<dyn Model>, BoxError> {
        self.model_or(self.explorer.as_deref(), include_str!("explorer.json"))
    }

    fn model_or(&self, file: Option<&Path>, script: &str) -> Result<Arc<dyn Model>, BoxError> {
        match (&self.model, file) {
            (Some(name), _) => named(name),
            (None, Some(file)) => Ok(Arc::new(ScriptedModel::from_file(file)?)),
            (None, None) => Ok(Arc::new(ScriptedModel::from_json(script)?)),
        }
    }
}

#[cfg(feature = "genai")]
fn named(name: &str) -> Result<Arc<dyn Model>, BoxError> {
    Ok(Arc::new(tool_runtime_genai::GenaiModel::new(name)?))
}

#[cfg(not(feature = "genai"))]
fn named(_: &str) -> Result<Arc<dyn Model>, BoxError> {
    Err("this build has no models; add `--features genai`".into())
}
