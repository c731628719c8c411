//! Validates a server, from a file or from code.

use super::auth::McpAuth;
use super::findings::ValueProblem;
use super::findings::{Findings, Location};
use super::server::McpServerConfig;
use super::transport::{HttpConfig, McpTransportConfig, StdioConfig};
use super::{command, header, url};
use std::time::Duration;
use tool_runtime_core::seam::{MIN_SECRET, nearest};

/// Limit on a prefix: half of an id.
const MAX_PREFIX: usize = 64;
/// Limit on durations: longer ones have a wrong unit.
const MAX_DURATION: Duration = Duration::from_secs(366 * 24 * 3600);

/// Validates a server. `at` returns the location of a key.
pub(super) fn server(
    server: &McpServerConfig,
    at: impl Fn(&str) -> Location,
    findings: &mut Findings,
) {
    findings.problems.extend(server.lacking.iter().cloned());
    if let Some(text) = &server.prefix {
        findings.accept(&at("prefix"), prefix(text));
    }
    match &server.transport {
        McpTransportConfig::Stdio(config) => stdio(config, &at, findings),
        McpTransportConfig::Http(config) => http(config, &at, findings),
    }
    let limits =
        [("connect_timeout", server.connect_timeout), ("call_timeout", server.call_timeout)];
    for (key, limit) in limits {
        check_limit(limit, &at(key), findings);
    }
    for (index, name) in server.secrets.iter().enumerate() {
        findings.accept(&at("secrets").index(index), marked(server, name));
    }
    for (tool, limit) in &server.tool_timeouts {
        check_limit(Some(*limit), &at("tools").key(tool).key("timeout"), findings);
    }
}

/// The allowed length of a prefix: ids have at most 128 characters.
fn prefix(prefix: &str) -> Result<(), ValueProblem> {
    const HELP: &str = "write at most 64 of `A-Z a-z 0-9 _ - .`, or leave it out";
    if !prefix.chars().all(tool_runtime_core::seam::is_allowed) {
        return Err(ValueProblem::new(
            "it contains a character that is not allowed in tool ids",
            HELP,
        ));
    }
    if prefix.len() > MAX_PREFIX {
        return Err(ValueProblem::new("it leaves too little of an id to the tools", HELP));
    }
    Ok(())
}

/// A name in `secrets`. It is not shown, since it may be the secret itself.
fn marked(server: &McpServerConfig, name: &str) -> Result<(), ValueProblem> {
    let marked = server.marked(name);
    if marked.is_empty() {
        let near = nearest(name, server.markable_names(), 1);
        let near = near.first().map(|near| format!("; did you mean `{near}`?"));
        let help =
            "write the name of a variable or of a header, or `args[0]` for the first argument";
        return Err(ValueProblem::new(
            "the entry has no value of this name",
            help.to_owned() + &near.unwrap_or_default(),
        ));
    }
    if marked.iter().any(|(_, value)| value.expose().trim().len() < MIN_SECRET) {
        return Err(ValueProblem::new(
            format!("its value is shorter than {MIN_SECRET} bytes, so that other text contains it"),
            "choose a longer secret, or remove the name",
        ));
    }
    Ok(())
}

fn check_limit(limit: Option<Duration>, location: &Location, findings: &mut Findings) {
    const HELP: &str = r#"write a time such as `"30s"`, or leave it out"#;
    match limit {
        Some(Duration::ZERO) => findings.problem(location, "a time of zero is not a limit", HELP),
        Some(limit) if limit > MAX_DURATION => {
            findings.problem(location, "it is more than a year", HELP);
        }
        _ => {}
    }
}

fn stdio(config: &StdioConfig, at: &impl Fn(&str) -> Location, findings: &mut Findings) {
    findings.accept(&at("command"), command::check(&config.command, config.cwd.as_ref()));
    for (index, arg) in config.args.iter().enumerate() {
        findings.accept(&at("args").index(index), without_nul(arg.expose()));
    }
    if let Some(cwd) = &config.cwd {
        let cwd = match cwd.as_str() {
            "" => Err(ValueProblem::new(
                "the directory is empty",
                "name a directory, or leave it out",
            )),
            cwd => without_nul(cwd),
        };
        findings.accept(&at("cwd"), cwd);
    }
    for (name, value) in &config.env {
        let location = at("env").key(name.redacted());
        findings.accept(&location, variable(name.as_str()));
        findings.accept(&location, without_nul(value.expose()));
    }
}

fn variable(name: &str) -> Result<(), ValueProblem> {
    let help = "name a variable, as `TOKEN`";
    if name.is_empty() {
        return Err(ValueProblem::new("the name of the variable is empty", help));
    }
    if name.contains('=') {
        return Err(ValueProblem::new("the name of a variable must not contain `=`", help));
    }
    without_nul(name)
}

/// Strings for the operating system must not hold NUL.
fn without_nul(text: &str) -> Result<(), ValueProblem> {
    if text.contains('\0') {
        return Err(ValueProblem::new("it contains a NUL character", "remove it"));
    }
    Ok(())
}

fn http(config: &HttpConfig, at: &impl Fn(&str) -> Location, findings: &mut Findings) {
    let address = findings.accept(&at("url"), url::check(config.url.as_str()));
    let mut names: Vec<String> = Vec::new();
    for (name, value) in &config.headers {
        let location = at("headers").key(name.redacted());
        findings.accept(&location, header::check_name(name.as_str()));
        findings.accept(&location, header::check_value(value.expose()));
        let name = name.as_str().to_ascii_lowercase();
        if names.contains(&name) {
            let text = "it differs from another header only in case";
            findings.problem(&location, text, "keep one of the two");
        }
        names.push(name);
    }
    let authorizes = names.iter().any(|name| name == "authorization");
    let has_user_info = address.as_ref().is_some_and(|address| address.has_user_info);
    one_way(config, authorizes, has_user_info, at, findings);
    if let Some(auth) = &config.auth {
        check_auth(auth, &names, &at("auth"), findings);
    }
    let has_secrets = config.auth.is_some() || has_user_info || !names.is_empty();
    if address.is_some_and(|address| address.is_plaintext) && has_secrets {
        let text = "headers and tokens go to another machine where anybody can read them";
        findings.warn(&at("url"), text, "write `https`, or tunnel it");
    }
}

/// Reports several kinds of authentication.
fn one_way(
    config: &HttpConfig,
    authorizes: bool,
    has_user_info: bool,
    at: &impl Fn(&str) -> Location,
    findings: &mut Findings,
) {
    const HELP: &str = "keep one way to authenticate";
    if authorizes && config.auth.is_some() {
        let text = "the header `Authorization` is set beside it";
        findings.problem(&at("auth"), text, HELP);
    }
    if has_user_info && (authorizes || config.auth.is_some()) {
        let text = "the address has a user, and there is another way to authenticate";
        findings.problem(&at("url"), text, HELP);
    }
}

fn check_auth(auth: &McpAuth, headers: &[String], location: &Location, findings: &mut Findings) {
    const EMPTY: &str = "leave out what is empty, or set the variable";
    let is_empty = match auth {
        McpAuth::Bearer(token) => {
            findings.accept(location, header::check_value(token.expose()));
            token.expose().is_empty()
        }
        McpAuth::Basic { user, .. } => {
            if user.expose().contains(':') {
                let text = "a user name must not contain a colon";
                findings.problem(location, text, "write the password as `password`");
            }
            user.expose().is_empty()
        }
        McpAuth::ApiKey { header, key } => {
            findings.accept(location, header::check_name(header.as_str()));
            findings.accept(location, header::check_value(key.expose()));
            if headers.contains(&header.as_str().to_ascii_lowercase()) {
                findings.problem(location, "its header is set beside it", "keep one of the two");
            }
            key.expose().is_empty()
        }
        McpAuth::OAuth(oauth) => {
            let has_secret = oauth.client_id.is_some() && oauth.client_secret.is_some();
            if oauth.client_credentials && !has_secret {
                let text = "the client credentials grant needs an id and a secret";
                findings.problem(location, text, "add `client_id` and `client_secret`");
            }
            if oauth.client_secret.is_some() && oauth.issuer.is_none() {
                let text =
                    "its secret goes to the authorization server that the server names first";
                findings.warn(location, text, "name the authorization server by `issuer`");
            }
            oauth.client_id.as_ref().is_some_and(|id| id.expose().is_empty())
        }
    };
    if is_empty {
        findings.problem(location, "the credential is empty", EMPTY);
    }
}
