//! The command line.

use lexopt::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use tool_runtime_agent::{Model, ScriptedModel};

pub(crate) type BoxError = Box<dyn std::error::Error>;

const HELP: &str = "\
Usage: agent [OPTIONS] [TASK]

Does a task with tools for notes, with plans and sub-agents, and asks before it deletes some. Default: a scripted
model deletes old notes.

Options:
      --model NAME        A model of the crate genai; its API key is read from the environment
      --mcp-config FILE   MCP servers whose tools are offered as well
  -h, --help              Print this help";

#[derive(Default)]
pub(crate) struct Options {
    model: Option<String>,
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
        self.model_or(include_str!("script.json"))
    }

    /// The model of sub-agents: that of the agent, or a script of their own.
    pub(crate) fn explorer(&self) -> Result<Arc<dyn Model>, BoxError> {
        self.model_or(include_str!("explorer.json"))
    }

    fn model_or(&self, script: &str) -> Result<Arc<dyn Model>, BoxError> {
        match &self.model {
            Some(name) => named(name),
            None => Ok(Arc::new(ScriptedModel::from_json(script)?)),
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
