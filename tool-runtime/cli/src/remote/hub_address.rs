//! The hub that a command line or a program names: our own at `http://`, or a NATS server at `nats://`.

use std::env;
use std::sync::Arc;
use tool_runtime_command::{CommandArguments, CommandForm};
use tool_runtime_remote::{Board, BoardError, HttpBoard, HttpBoardOptions};
#[cfg(feature = "remote-nats")]
use tool_runtime_remote::{NatsBoard, NatsOptions};

/// The environment variable with the token of a hub.
const TOKEN: &str = "TOOL_REMOTE_TOKEN";

/// Where the token comes from.
const TOKEN_HELP: &str =
    "The token comes from `--token-file`, or else from the environment variable TOOL_REMOTE_TOKEN";

/// For programs with the option `remote`.
const TOKEN_VARIABLE_HELP: &str = "The token comes from the environment variable TOOL_REMOTE_TOKEN";

/// The environment variable with the path of a file of credentials for a NATS server.
#[cfg(feature = "remote-nats")]
const CREDENTIALS: &str = "TOOL_REMOTE_CREDENTIALS";

/// Where the credentials for a NATS server come from.
#[cfg(feature = "remote-nats")]
const CREDENTIALS_HELP: &str = "The credentials come from the file of `--credentials`, or else of the environment variable TOOL_REMOTE_CREDENTIALS";

/// For programs with the option `remote`.
#[cfg(feature = "remote-nats")]
const CREDENTIALS_VARIABLE_HELP: &str = "The credentials come from the file that the environment variable TOOL_REMOTE_CREDENTIALS names";

/// Text below the options, for the help.
#[cfg(not(feature = "remote-nats"))]
const SECRETS_HELP: &str = TOKEN_HELP;
#[cfg(feature = "remote-nats")]
const SECRETS_HELP: &str = "The token of a hub comes from `--token-file`, or else from the environment variable TOOL_REMOTE_TOKEN; the credentials for a NATS server from the file of `--credentials`, or else of TOOL_REMOTE_CREDENTIALS";

/// A hub, and what is shown to it.
#[derive(Clone, Debug)]
pub(super) struct HubAddress {
    url: String,
    secret: Secret,
    /// Where the secret comes from.
    help: &'static str,
}

#[derive(Clone, Debug)]
enum Secret {
    Token(HttpBoardOptions),
    #[cfg(feature = "remote-nats")]
    Credentials(NatsOptions),
}

impl HubAddress {
    /// Adds the options that name a hub.
    pub(super) fn options(form: CommandForm) -> CommandForm {
        #[cfg(not(feature = "remote-nats"))]
        let form = form.option("connect", "URL", "The hub, such as http://127.0.0.1:7750");
        #[cfg(feature = "remote-nats")]
        let form = form
            .option(
                "connect",
                "URL",
                "The hub, such as http://127.0.0.1:7750, or a NATS server, nats://[NAME@]HOST[:PORT][/NAMESPACE]",
            )
            .option("credentials", "FILE", "A file with the credentials of this program at a NATS server");
        form.option("token-file", "FILE", "A file with the token of this program")
            .after_help(SECRETS_HELP)
    }

    /// The hub of `--connect`, or else the default.
    ///
    /// # Errors
    /// It is not named, its address or the secret has a wrong form, or the file of the secret cannot be read.
    pub(super) fn from_arguments(
        arguments: &CommandArguments,
        default: Option<&str>,
    ) -> Result<Self, String> {
        let url = arguments.value("connect").or(default);
        let url = url.ok_or("name the hub by `--connect URL`")?;
        if is_nats(url) {
            if arguments.value("token-file").is_some() {
                return Err(
                    "`--token-file` is for a hub at `http://`; a NATS server takes `--credentials`"
                        .to_owned(),
                );
            }
            return Self::nats(url, arguments);
        }
        #[cfg(feature = "remote-nats")]
        if arguments.value("credentials").is_some() {
            return Err(
                "`--credentials` is for a NATS server at `nats://`; a hub takes `--token-file`"
                    .to_owned(),
            );
        }
        let options = token(arguments.value("token-file"))?;
        HttpBoard::check(url, &options).map_err(|error| error.to_string())?;
        Ok(Self { url: url.to_owned(), secret: Secret::Token(options), help: TOKEN_HELP })
    }

    #[cfg(feature = "remote-nats")]
    fn nats(url: &str, arguments: &CommandArguments) -> Result<Self, String> {
        let options = credentials(arguments.value("credentials"));
        NatsBoard::check(url, &options).map_err(|error| error.to_string())?;
        let secret = Secret::Credentials(options);
        Ok(Self { url: url.to_owned(), secret, help: CREDENTIALS_HELP })
    }

    #[cfg(not(feature = "remote-nats"))]
    fn nats(_: &str, _: &CommandArguments) -> Result<Self, String> {
        Err(NO_NATS.to_owned())
    }

    /// The hub that a program names.
    ///
    /// # Errors
    /// The program was built without the client of a NATS server.
    pub(super) fn of_program(url: &str) -> Result<Self, String> {
        let (url, is_nats) = (url.to_owned(), is_nats(url));
        if !is_nats {
            let secret = Secret::Token(token(None)?);
            return Ok(Self { url, secret, help: TOKEN_VARIABLE_HELP });
        }
        #[cfg(feature = "remote-nats")]
        return Ok(Self {
            url,
            secret: Secret::Credentials(credentials(None)),
            help: CREDENTIALS_VARIABLE_HELP,
        });
        #[cfg(not(feature = "remote-nats"))]
        Err(NO_NATS.to_owned())
    }

    /// The address, without a user and a password.
    pub(super) fn redacted(&self) -> String {
        let Some((scheme, rest)) = self.url.split_once("://") else { return self.url.clone() };
        let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        format!("{scheme}://{host}")
    }

    /// Connects to the hub. An error about the secret says where it comes from.
    pub(super) async fn connect(&self) -> Result<Arc<dyn Board>, BoardError> {
        let connected = match &self.secret {
            Secret::Token(options) => {
                HttpBoard::connect(&self.url, options.clone()).await.map(|it| Arc::new(it) as _)
            }
            #[cfg(feature = "remote-nats")]
            Secret::Credentials(options) => {
                NatsBoard::connect(&self.url, options.clone()).await.map(|it| Arc::new(it) as _)
            }
        };
        connected.map_err(|error| self.explained(error))
    }

    /// Connects to a NATS server.
    #[cfg(feature = "remote-nats")]
    pub(super) async fn connect_nats(&self) -> Result<NatsBoard, BoardError> {
        match &self.secret {
            Secret::Credentials(options) => {
                let connected = NatsBoard::connect(&self.url, options.clone()).await;
                connected.map_err(|error| self.explained(error))
            }
            Secret::Token(_) => Err(BoardError::Refused(format!(
                "`{}` is not the address of a NATS server; write `nats://HOST:PORT`",
                self.redacted()
            ))),
        }
    }

    fn explained(&self, error: BoardError) -> BoardError {
        match error {
            BoardError::Refused(text) if text.contains("token") || text.contains("credentials") => {
                BoardError::Refused(format!("{text} ({})", self.help))
            }
            error => error,
        }
    }
}

#[cfg(not(feature = "remote-nats"))]
const NO_NATS: &str = "this program cannot connect to a NATS server; build it with the feature `remote-nats` of `tool-runtime`";

fn is_nats(url: &str) -> bool {
    url.starts_with("nats://") || url.starts_with("tls://")
}

#[cfg(feature = "remote-nats")]
fn credentials(file: Option<&str>) -> NatsOptions {
    let file = file.map(str::to_owned).or_else(|| variable(CREDENTIALS));
    let options = NatsOptions::default();
    match file {
        Some(file) => options.credentials(file),
        None => options,
    }
}

/// The token in a file, or else in the environment.
fn token(file: Option<&str>) -> Result<HttpBoardOptions, String> {
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
        None => variable(TOKEN),
    };
    let options = HttpBoardOptions::default();
    Ok(match token {
        Some(token) => options.token(token.trim()),
        None => options,
    })
}

/// An environment variable that is set to something.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}
