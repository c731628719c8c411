//! Remote runners: the commands `run`, `remote status` and `remote serve`, and the option `remote` of `main!`.

mod connection;
mod run;
#[cfg(feature = "remote-hub")]
mod serve;
mod status;

pub(super) use connection::Connection;
#[cfg(feature = "mcp-client")]
pub(super) use connection::{absent_runners, hub_of};

use super::About;
use tool_runtime_core::{CommandArguments, CommandForm, ToolPoolBuilder};
use tool_runtime_remote::{BoardError, HttpBoard, HttpBoardOptions};

/// The environment variable with the token of a hub.
const TOKEN: &str = "TOOL_REMOTE_TOKEN";

/// Text about the token, for the help.
const TOKEN_HELP: &str =
    "The token comes from `--token-file`, or else from the environment variable TOOL_REMOTE_TOKEN";

/// The same for programs with the option `remote`.
const TOKEN_VARIABLE_HELP: &str = "The token comes from the environment variable TOOL_REMOTE_TOKEN";

/// Adds the commands.
pub(super) fn commands(pool: ToolPoolBuilder, about: &About) -> ToolPoolBuilder {
    let program = format!("{} {}", about.name, about.version);
    let pool = pool.command(run::Run { program }).command(status::Status);
    #[cfg(feature = "remote-hub")]
    let pool = pool.command(serve::Serve);
    pool
}

/// The options that name a hub.
fn with_hub(form: CommandForm) -> CommandForm {
    form.option("connect", "URL", "The hub, such as http://127.0.0.1:7750")
        .option("token-file", "FILE", "A file with the token of this program")
        .after_help(TOKEN_HELP)
}

/// A hub that a command line names.
#[derive(Clone, Debug)]
struct HubAddress {
    url: String,
    options: HttpBoardOptions,
}

impl HubAddress {
    /// The hub of `--connect`.
    ///
    /// # Errors
    /// It is not named, its address or the token has a wrong form, or the file of the token cannot be read.
    fn of(arguments: &CommandArguments) -> Result<Self, String> {
        let url = arguments.value("connect").ok_or("name the hub by `--connect URL`")?;
        let options = options(arguments.value("token-file"))?;
        HttpBoard::check(url, &options).map_err(|error| error.to_string())?;
        Ok(Self { url: url.to_owned(), options })
    }

    async fn connect(&self) -> Result<HttpBoard, BoardError> {
        connect(&self.url, &self.options, TOKEN_HELP).await
    }
}

/// Connects to a hub. An error about the token says where it comes from, by `help`.
async fn connect(
    url: &str,
    options: &HttpBoardOptions,
    help: &str,
) -> Result<HttpBoard, BoardError> {
    let connected = HttpBoard::connect(url, options.clone()).await;
    connected.map_err(|error| match error {
        BoardError::Refused(text) if text.contains("token") => {
            BoardError::Refused(format!("{text} ({help})"))
        }
        error => error,
    })
}

/// The token in a file, or else in the environment.
fn options(file: Option<&str>) -> Result<HttpBoardOptions, String> {
    let token = match file {
        Some(file) => {
            let token = std::fs::read_to_string(file);
            let token =
                token.map_err(|error| format!("cannot read the token in `{file}`: {error}"))?;
            Some(token)
                .filter(|token| !token.trim().is_empty())
                .ok_or_else(|| format!("`{file}` is empty; write the token into it"))
                .map(Some)?
        }
        None => std::env::var(TOKEN).ok().filter(|token| !token.trim().is_empty()),
    };
    let options = HttpBoardOptions::default();
    Ok(match token {
        Some(token) => options.token(token.trim()),
        None => options,
    })
}
