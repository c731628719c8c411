//! The language servers that options add.

use crate::BoxError;
use std::collections::BTreeMap;
use tool_runtime::cli::ProgramArguments;
use tool_runtime_builtins::code::{CodeParams, LanguageServer};

/// The settings of the tools for code.
pub(crate) fn code(arguments: &ProgramArguments) -> Result<CodeParams, BoxError> {
    let mut params = CodeParams::default();
    for text in arguments.values("language-server") {
        add(&mut params, text)?;
    }
    Ok(params)
}

/// Adds the server of `rb=solargraph stdio`.
fn add(params: &mut CodeParams, text: &str) -> Result<(), BoxError> {
    let (extensions, command) = text.split_once('=').unwrap_or((text, ""));
    let names = extensions.split(',').map(|name| name.trim().trim_start_matches('.'));
    let names: Vec<&str> = names.collect();
    let mut words = command.split_whitespace();
    let Some(program) = words.next().filter(|_| !names.contains(&"")) else {
        let text = format!(
            "`--language-server {text}`: write extensions and a command, as in `rb=solargraph stdio`"
        );
        return Err(text.into());
    };
    // The protocol's ids of languages that are known.
    let known: BTreeMap<String, String> =
        params.language_servers.values().flat_map(|server| server.extensions.clone()).collect();
    let ids = names.iter().map(|name| (*name, known.get(*name).map_or(*name, String::as_str)));
    let server = LanguageServer::new(program, words, ids);
    params.add_language_server(names[0], server);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_replaces_the_server_of_its_extensions() {
        let mut params = CodeParams::default();
        add(&mut params, "py=pylsp -v").unwrap();
        let server = &params.language_servers["py"];
        assert_eq!(
            (server.command.to_str(), &*server.arguments),
            (Some("pylsp"), &["-v".into()][..])
        );
        assert_eq!(server.extensions["py"], "python");
        let usual = &params.language_servers["python"];
        assert!(usual.extensions.keys().eq(["pyi"]));
        add(&mut params, ".rb,rake=solargraph stdio").unwrap();
        assert!(params.language_servers["rb"].extensions.keys().eq(["rake", "rb"]));
        add(&mut params, "pyi=pylsp").unwrap();
        assert!(!params.language_servers.contains_key("python"));
    }

    #[test]
    fn an_option_without_extensions_or_command_is_an_error() {
        for text in ["solargraph", "rb=", "=solargraph", "rb,=solargraph"] {
            let error = add(&mut CodeParams::default(), text).unwrap_err().to_string();
            assert!(error.contains("as in `rb=solargraph stdio`"), "{error}");
        }
    }
}
