//! Findings about servers without a connection.

use crate::{McpConfig, McpDiagnosis, McpDiagnosisLevel, McpServerConfig};

fn diagnoses(server: McpServerConfig) -> Vec<McpDiagnosis> {
    McpConfig::new().with("s", server).diagnose()
}

fn only(server: McpServerConfig) -> McpDiagnosis {
    let mut diagnoses = diagnoses(server);
    assert_eq!(diagnoses.len(), 1, "{diagnoses:?}");
    diagnoses.remove(0)
}

#[test]
fn every_server_is_diagnosed() {
    let config = McpConfig::new()
        .with("web", McpServerConfig::http("https://example.com"))
        .with("off", McpServerConfig::stdio("no-such-program").enabled(false))
        .with("bad", McpServerConfig::http("ftp://example.com"));
    let diagnosis: Vec<(String, McpDiagnosisLevel)> = config
        .diagnose()
        .into_iter()
        .map(|diagnosis| (diagnosis.server, diagnosis.level))
        .collect();
    let expected = [
        ("bad", McpDiagnosisLevel::Error),
        ("off", McpDiagnosisLevel::Fine),
        ("web", McpDiagnosisLevel::Fine),
    ];
    assert_eq!(diagnosis, expected.map(|(server, level)| (server.to_owned(), level)));
}

#[test]
fn plaintext_secrets_are_not_an_error() {
    let diagnosis = only(McpServerConfig::http("http://example.com").bearer("x"));
    assert_eq!(diagnosis.level, McpDiagnosisLevel::Warning);
}

#[test]
fn a_command_with_variable_syntax_of_another_program_is_explained() {
    for command in ["$HOME/bin/x", "$EDITOR", "%APPDATA%\\x"] {
        let diagnosis = only(McpServerConfig::stdio(command));
        let help = diagnosis.help.unwrap_or_default();
        assert_eq!(diagnosis.level, McpDiagnosisLevel::Error);
        assert!(help.ends_with("not expanded; write `${NAME}` if a variable is meant"), "{help}");
    }
    let nowhere = diagnoses(McpServerConfig::stdio("sh").cwd("$HOME/x"));
    assert!(nowhere[0].help.as_deref().unwrap_or_default().contains("write `${NAME}`"));
}

#[cfg(unix)]
#[test]
fn programs_are_searched_in_the_path_of_the_entry() {
    use std::os::unix::fs::PermissionsExt;
    let folder = std::env::temp_dir().join(format!("tool-runtime-look-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("bin")).expect("a folder");
    let file = folder.join("bin/server");
    std::fs::write(&file, "#!/bin/sh\n").expect("a file");
    let path = folder.join("bin").display().to_string();
    let named = || McpServerConfig::stdio("server").env("PATH", path.as_str());

    let diagnosis = only(named());
    assert_eq!(diagnosis.text, "`server` exists but is not executable");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).expect("permissions");
    let diagnosis = only(named());
    assert_eq!(
        (diagnosis.level, diagnosis.text.as_str()),
        (McpDiagnosisLevel::Fine, "its program is `server`")
    );
    let beside = McpServerConfig::stdio("./bin/server").cwd(folder.display().to_string());
    assert_eq!(only(beside).level, McpDiagnosisLevel::Fine);
    let missing = McpServerConfig::stdio("./bin/other").cwd(folder.display().to_string());
    assert_eq!(only(missing).text, "there is no file `./bin/other`");
    let inside = McpServerConfig::stdio("./bin").cwd(folder.display().to_string());
    assert_eq!(only(inside).text, "`./bin` is a directory, not a program");
    std::fs::remove_dir_all(&folder).expect("the folder is there");
    let diagnosis = only(named());
    assert_eq!(
        diagnosis.text,
        "there is no program `server`: searched in the entry's `PATH` (1 directories)"
    );

    let gone = diagnoses(McpServerConfig::stdio("sh").cwd("/no/such/folder"));
    assert_eq!(gone[0].text, "the directory `/no/such/folder` does not exist");
    let absent = only(McpServerConfig::stdio("npx-is-not-here"));
    assert!(absent.text.contains("searched in `"), "{absent:?}");
    let line = only(McpServerConfig::stdio("npx -y x"));
    assert!(line.text.contains("not a program but a command line"), "{line:?}");
}
