//! `install` and `uninstall`: the files of MCP clients.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_terminal_tools");

/// A user with a home directory and a project.
struct User {
    home: TempDir,
}

/// The exit code and what was printed.
struct Ended {
    code: Option<i32>,
    printed: String,
}

impl User {
    fn new() -> Self {
        let home = TempDir::new().unwrap();
        fs::create_dir(home.path().join("project")).unwrap();
        Self { home }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(file)
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.read(file)).unwrap()
    }

    fn write(&self, file: &str, text: &str) {
        fs::create_dir_all(self.path(file).parent().unwrap()).unwrap();
        fs::write(self.path(file), text).unwrap();
    }

    /// The files in the folder of a file.
    fn beside(&self, file: &str) -> Vec<String> {
        let folder = fs::read_dir(self.path(file).parent().unwrap()).unwrap();
        folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn run(&self, words: &[&str]) -> Ended {
        let mut command = Command::new(PROGRAM);
        command.args(words).stdin(Stdio::null()).env("HOME", self.home.path());
        command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME").env_remove("CODEX_HOME");
        command.env("FROM_HERE", "s3cret");
        let output = command.current_dir(self.path("project")).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        Ended { code: output.status.code(), printed: String::from_utf8(text).unwrap() }
    }

    #[track_caller]
    fn ends(&self, words: &[&str], code: i32, text: &str) -> String {
        let ended = self.run(words);
        assert_eq!(ended.code, Some(code), "{words:?}: {}", ended.printed);
        assert!(ended.printed.contains(text), "{words:?}: {text} is not in {}", ended.printed);
        ended.printed
    }
}

/// The file of each client, its scope, and the members above the entry.
const FILES: [(&str, &str, &str, &[&str]); 13] = [
    ("claude-code", "user", ".claude.json", &["mcpServers"]),
    ("claude-code", "project", "project/.mcp.json", &["mcpServers"]),
    ("claude-desktop", "user", ".config/Claude/claude_desktop_config.json", &["mcpServers"]),
    ("cursor", "user", ".cursor/mcp.json", &["mcpServers"]),
    ("cursor", "project", "project/.cursor/mcp.json", &["mcpServers"]),
    ("vscode", "user", ".config/Code/User/mcp.json", &["servers"]),
    ("vscode", "project", "project/.vscode/mcp.json", &["servers"]),
    ("gemini-cli", "user", ".gemini/settings.json", &["mcpServers"]),
    ("gemini-cli", "project", "project/.gemini/settings.json", &["mcpServers"]),
    ("windsurf", "user", ".codeium/windsurf/mcp_config.json", &["mcpServers"]),
    ("zed", "user", ".config/zed/settings.json", &["context_servers"]),
    ("opencode", "user", ".config/opencode/opencode.json", &["mcp"]),
    ("opencode", "project", "project/opencode.json", &["mcp"]),
];

fn expected(client: &str) -> Value {
    let env = json!({ "LEVEL": "3" });
    match client {
        "opencode" => {
            json!({ "type": "local", "command": [PROGRAM, "serve", "--deny", "x"], "environment": env })
        }
        "claude-code" | "vscode" => {
            json!({ "type": "stdio", "command": PROGRAM, "args": ["serve", "--deny", "x"], "env": env })
        }
        _ => json!({ "command": PROGRAM, "args": ["serve", "--deny", "x"], "env": env }),
    }
}

#[test]
fn each_client_gets_its_entry_and_loses_it_again() {
    for (client, scope, file, keys) in FILES {
        let user = User::new();
        let options = ["--scope", scope, "--env", "LEVEL=3", "--", "--deny", "x"];
        let words = [&["install", client][..], &options].concat();
        user.ends(&words, 0, "registered `terminal_tools` with");
        let entry = keys.iter().fold(user.json(file), |value, key| value[key].clone());
        assert_eq!(entry["terminal_tools"], expected(client), "{client} {scope}");
        user.ends(&words, 0, "is registered with");
        user.ends(&["install", "--list"], 0, &format!("  {scope}: `terminal_tools` in "));
        let listed = user.ends(&["install", "--list", "--json"], 0, "");
        let listed: Value = serde_json::from_str(&listed).unwrap();
        let listed = listed.as_array().unwrap().iter().find(|it| it["client"] == client).unwrap();
        let registration = &listed["registrations"][0];
        assert_eq!(registration["scope"], scope, "{listed}");
        assert_eq!(registration["args"], json!(["serve", "--deny", "x"]), "{listed}");
        user.ends(&["uninstall", client, "--scope", scope], 0, "removed `terminal_tools` from");
        assert!(!user.path(file).exists(), "{client} {scope}");
        // A folder would say that the client is there.
        let folder = user.path(file).parent().unwrap().to_owned();
        let is_own = [user.path(""), user.path("project"), user.path(".config")].contains(&folder);
        assert_eq!(folder.exists(), is_own, "{client} {scope}");
        user.ends(&["uninstall", client, "--scope", scope], 1, "is not registered with");
    }
}

#[test]
fn codex_gets_a_table() {
    let user = User::new();
    let before = "# mine\nmodel = \"m\"   # chosen\r\n\n[mcp_servers.other]\ncommand = 'o'\n"
        .replace("\r\n", "\n");
    user.write(".codex/config.toml", &before);
    user.ends(&["install", "codex", "--env", "A=b"], 0, "registered");
    let added = format!(
        "\n[mcp_servers.terminal_tools]\ncommand = \"{PROGRAM}\"\nargs = [\"serve\"]\n\n[mcp_servers.terminal_tools.env]\nA = \"b\"\n"
    );
    assert_eq!(user.read(".codex/config.toml"), format!("{before}{added}"));
    user.ends(&["uninstall", "codex"], 0, "removed");
    assert_eq!(user.read(".codex/config.toml"), before);
    assert_eq!(user.beside(".codex/config.toml"), ["config.toml"]);
}

#[test]
fn claude_code_has_entries_of_one_folder() {
    let user = User::new();
    user.ends(&["install", "claude-code", "--scope", "local"], 0, "registered");
    let project = user.path("project");
    let entry = &user.json(".claude.json")["projects"][project.to_str().unwrap()]["mcpServers"];
    assert_eq!(entry["terminal_tools"]["command"], PROGRAM);
    user.ends(&["uninstall", "claude-code"], 1, "; it is in the scope `local`");
}

const COMMENTED: &str = "{\r\n\t// mine\r\n\t\"theme\": \"dark\", /* why */\r\n\t\"context_servers\": {\r\n\t\t\"other\": { \"command\": \"o\", \"env\": { \"T\": \"other-secret\" } }, // kept\r\n\t},\r\n}\r\n";

#[test]
fn comments_order_and_formatting_stay_and_come_back_to_the_byte() {
    let (user, file) = (User::new(), ".config/zed/settings.json");
    user.write(file, COMMENTED);
    let printed =
        user.ends(&["install", "zed", "--env", "FROM_HERE"], 0, "+ env: {\"FROM_HERE\":\"***\"}");
    assert!(!printed.contains("s3cret") && !printed.contains("other-secret"), "{printed}");
    let text = user.read(file);
    assert!(text.contains("\"FROM_HERE\": \"s3cret\""), "{text}");
    for kept in ["\t// mine\r\n\t\"theme\": \"dark\", /* why */\r\n", "// kept\r\n"] {
        assert!(text.contains(kept), "{text}");
    }
    assert!(!text.replace("\r\n", "").contains('\n'), "{text:?}");
    user.ends(&["install", "zed", "--env", "LATER=1"], 0, "registered");
    user.ends(&["uninstall", "zed"], 0, "removed");
    assert_eq!(user.read(file), COMMENTED);
    assert_eq!(user.beside(file), ["settings.json"]);
}

#[test]
fn a_file_that_was_changed_since_loses_only_the_entry() {
    let (user, file) = (User::new(), ".config/zed/settings.json");
    user.write(file, COMMENTED);
    user.ends(&["install", "zed"], 0, "registered");
    let changed = user.read(file).replace("dark", "light");
    user.write(file, &changed);
    user.ends(&["uninstall", "zed"], 0, "removed");
    let text = user.read(file);
    assert!(text.contains("\"light\", /* why */") && text.contains("// mine"), "{text}");
    assert!(text.contains("other-secret") && !text.contains("terminal_tools"), "{text}");
    assert_eq!(user.beside(file), ["settings.json"]);
}

#[test]
fn an_entry_keeps_what_the_user_added_to_it() {
    let (user, file) = (User::new(), ".cursor/mcp.json");
    let entry = json!({ "command": "/old/terminal_tools", "args": [], "env": { "A": "1" }, "disabled": true });
    user.write(file, &json!({ "mcpServers": { "terminal_tools": entry } }).to_string());
    user.ends(&["install", "cursor", "--env", "B=2"], 0, "registered");
    let entry = &user.json(file)["mcpServers"]["terminal_tools"];
    let expected = json!({ "command": PROGRAM, "args": ["serve"], "env": { "A": "1", "B": "2" }, "disabled": true });
    assert_eq!(*entry, expected);
}

#[test]
fn nothing_is_written_in_a_dry_run_or_to_a_file_that_cannot_be_read() {
    let (user, file) = (User::new(), ".cursor/mcp.json");
    user.ends(&["install", "cursor", "--dry-run"], 0, "nothing was written to");
    assert!(!user.path(".cursor").exists());
    for (text, problem) in [
        ("{ \"mcpServers\": { }", "is not valid, so it is left as it is"),
        ("{ } // comment", "is not valid, so it is left as it is"),
        ("[]", "it is not a JSON object"),
        ("{ \"mcpServers\": [] }", "`mcpServers` in it is not an object"),
        (
            "{ \"mcpServers\": { \"terminal_tools\": 5 } }",
            "`terminal_tools` in it is not an object",
        ),
        (
            "{ \"mcpServers\": { \"terminal_tools\": { \"command\": \"/bin/other\" } } }",
            "starts `/bin/other`; give another name by `--name`",
        ),
    ] {
        user.write(file, text);
        user.ends(&["install", "cursor"], 1, problem);
        assert_eq!(user.read(file), text);
        assert_eq!(user.beside(file), ["mcp.json"]);
    }
    user.ends(&["install", "cursor", "--name", "tt"], 0, "registered `tt` with Cursor");
}

#[test]
fn wrong_usage_is_explained() {
    let user = User::new();
    for (words, problem) in [
        (&["install"][..], "name the client"),
        (&["install", "emacs"], "the clients are claude-code, claude-desktop, cursor"),
        (&["install", "cursor", "--scope", "local"], "--scope: Cursor has `user`, `project`"),
        (&["install", "cursor", "--env", "UNSET_HERE"], "the variable UNSET_HERE is not set"),
        (&["install", "cursor", "--env", "=hunter2"], "--env: give `KEY=VALUE`"),
        (&["install", "cursor", "--name", "a b"], "clients take letters, digits, `-` and `_`"),
        (&["uninstall"], "<CLIENT>"),
        (
            &["--allow", "hint:read_only", "install", "cursor"],
            "`--allow` is not passed to the server; write it after `--`",
        ),
    ] {
        let printed = user.ends(words, 2, problem);
        assert!(!printed.contains("hunter2"), "{printed}");
    }
    user.ends(&["install", "goose", "--env", "A=b"], 0, "    cmd: \"");
    for (server, problem) in
        [("--alow", "unexpected argument '--alow'"), ("serve", "unexpected argument 'serve'")]
    {
        let printed = user.ends(&["install", "cursor", "--", server, "x"], 2, problem);
        assert!(printed.contains("`serve` does not take the arguments after `--`"), "{printed}");
    }
    assert!(!user.path(".cursor").exists());
}

/// Each file has an entry of our name that does not start this program.
#[test]
fn entries_of_others_are_neither_changed_nor_removed() {
    for (client, file, entry) in [
        (
            "cursor",
            ".cursor/mcp.json",
            r#"{"mcpServers":{"terminal_tools":{"url":"http://h","headers":{"A":"s3cret"}}}}"#,
        ),
        (
            "cursor",
            ".cursor/mcp.json",
            r#"{"mcpServers":{"terminal_tools":{"command":["/bin/other"]}}}"#,
        ),
        ("cursor", ".cursor/mcp.json", r#"{"mcpServers":{"terminal_tools":{}}}"#),
        (
            "opencode",
            ".config/opencode/opencode.json",
            r#"{"mcp":{"terminal_tools":{"type":"remote","url":"http://h"}}}"#,
        ),
        ("codex", ".codex/config.toml", "[mcp_servers.terminal_tools]\nurl = 'http://h'\n"),
    ] {
        let user = User::new();
        user.write(file, entry);
        for command in ["install", "uninstall"] {
            let printed = user.ends(&[command, client], 1, "does not start a program");
            assert!(!printed.contains("s3cret"), "{printed}");
            assert_eq!(user.read(file), entry);
        }
    }
}

#[test]
fn no_secret_is_printed_whatever_line_it_is_on() {
    let user = User::new();
    user.write(
        ".claude.json",
        r#"{"mcpServers":{"o":{"command":"x","env":{"T":"0ther-s3cret"}}}}"#,
    );
    user.write(".codex/config.toml", "[mcp_servers.o]\nenv = { T = \"0ther-s3cret\" }\n");
    let pem = "KEY=-----BEGIN-----\ns3cret\u{7f}\n-----END-----";
    for client in ["claude-code", "codex", "goose"] {
        for words in [&["install", client, "--env", pem][..], &["uninstall", client]] {
            let printed = user.ends(words, 0, "");
            assert!(!printed.contains("s3cret"), "{words:?} {printed}");
        }
    }
    user.write(".codex/config.toml", "[mcp_servers.o]\nenv = { T = \"0ther-s3cret }\n");
    for words in [&["install", "codex"][..], &["install", "--list"], &["doctor"]] {
        let printed = user.run(words).printed;
        assert!(
            printed.contains("on line 2") && !printed.contains("s3cret"),
            "{words:?} {printed}"
        );
    }
}

#[test]
fn two_registrations_in_one_file_come_back_to_the_byte() {
    let user = User::new();
    user.write(".claude.json", "{\"a\":1}");
    user.ends(&["install", "claude-code"], 0, "registered");
    user.ends(&["install", "claude-code", "--scope", "local"], 0, "registered");
    user.ends(&["uninstall", "claude-code", "--scope", "local"], 0, "removed");
    user.ends(&["uninstall", "claude-code"], 0, "removed");
    assert_eq!(user.read(".claude.json"), "{\"a\":1}");
}

#[test]
fn comments_of_toml_files_stay_where_they_belong() {
    let user = User::new();
    let before = "[features]\nweb = true\n# uncomment:\n# sub = true\n\n[z]\na = 1\n# at the end\n";
    user.write(".codex/config.toml", before);
    user.ends(&["install", "codex"], 0, "registered");
    let text = user.read(".codex/config.toml");
    assert!(text.starts_with(before) && text.contains("# at the end\n\n[mcp_servers."), "{text}");
    // Another change: only the entry goes.
    user.write(".codex/config.toml", &text.replace("a = 1", "a = 2"));
    user.ends(&["uninstall", "codex"], 0, "removed");
    let text = user.read(".codex/config.toml");
    assert_eq!(text.trim_end(), before.replace("a = 1", "a = 2").trim_end());
    let commented =
        "# header\n\n[mcp_servers.terminal_tools]\n# c1\ncommand = '/old/terminal_tools' # c2\n";
    user.write(".codex/config.toml", commented);
    user.ends(&["install", "codex"], 0, "registered");
    let text = user.read(".codex/config.toml");
    assert!(text.contains("# c1\ncommand = ") && text.contains(" # c2\n"), "{text}");
    user.ends(&["uninstall", "codex"], 0, "removed");
    assert!(user.read(".codex/config.toml").contains("# header"));
}

#[test]
fn a_key_that_occurs_twice_is_refused() {
    let user = User::new();
    let text = r#"{"mcpServers":{"a":{"command":"1"}},"mcpServers":{"b":{"command":"2"}}}"#;
    user.write(".claude.json", text);
    user.ends(&["install", "claude-code"], 1, "occurs twice");
    assert_eq!(user.read(".claude.json"), text);
}

/// A project may have been written by somebody else.
#[cfg(unix)]
#[test]
fn links_and_devices_of_a_project_are_not_followed() {
    use std::os::unix::fs::symlink;
    let user = User::new();
    user.write("keys", "GOOD");
    user.write("project/.codex/config.toml", "x = 'EVIL'\n");
    symlink(user.path("keys"), user.path("project/.codex/config.toml.terminal_tools.bak")).unwrap();
    user.ends(&["install", "codex", "--scope", "project"], 0, "registered");
    assert_eq!(user.read("keys"), "GOOD");
    symlink("/dev/null", user.path(".claude.json")).unwrap();
    user.ends(&["install", "claude-code"], 1, "is no regular file");
    fs::remove_file(user.path(".claude.json")).unwrap();
    symlink("nowhere.json", user.path(".claude.json")).unwrap();
    user.ends(&["install", "claude-code"], 1, "is a link to a file that does not exist");
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let user = User::new();
    user.write("dotfiles/claude.json", "{}");
    let real = user.path("dotfiles/claude.json");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&real, user.path(".claude.json")).unwrap();
    user.ends(&["install", "claude-code"], 0, "registered");
    assert!(fs::symlink_metadata(user.path(".claude.json")).unwrap().is_symlink());
    assert!(user.read("dotfiles/claude.json").contains("terminal_tools"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&real), 0o640);
    user.ends(&["install", "codex", "--env", "A=b"], 0, "registered");
    assert_eq!(mode(&user.path(".codex/config.toml")), 0o600);
}
