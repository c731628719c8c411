//! The MCP clients: their files, and what an entry of each looks like.

use crate::folders::Folders;
use std::path::PathBuf;

/// For whom a server is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The user, in all projects.
    User,
    /// Everybody who works in this folder, by a file in it.
    Project,
    /// The user, in this folder.
    Local,
}

impl Scope {
    pub(crate) const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    Toml,
}

/// The members of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `command`, `args`, `env`.
    Plain,
    /// `type = "stdio"`, `command`, `args`, `env`.
    Typed,
    /// `type = "local"`, `command` with the arguments, `environment`, `enabled`.
    OpenCode,
}

/// A program that starts MCP servers.
#[derive(Debug)]
pub(crate) struct Client {
    /// The name on the command line.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) format: Format,
    pub(crate) shape: Shape,
    /// The member of the file that has the servers.
    key: &'static str,
    user_file: fn(&Folders) -> PathBuf,
    /// Whether the program exists, as far as its files tell.
    folder: fn(&Folders) -> PathBuf,
    /// Relative to the project.
    project_file: Option<&'static str>,
    has_local: bool,
    /// Whether it is started from the desktop, with the PATH of that.
    pub(crate) is_graphical: bool,
    /// What the user does next.
    pub(crate) next: &'static str,
}

/// Where the entry of a server is.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) client: &'static Client,
    pub(crate) scope: Scope,
    pub(crate) file: PathBuf,
    /// The members from the top of the file to the servers.
    pub(crate) keys: Vec<String>,
}

impl Client {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    pub(crate) fn scopes(&self) -> Vec<Scope> {
        let mut scopes = vec![Scope::User];
        scopes.extend(self.project_file.map(|_| Scope::Project));
        scopes.extend(self.has_local.then_some(Scope::Local));
        scopes
    }

    /// Where a server is registered; `None` if the client has no such scope.
    pub(crate) fn target(&'static self, scope: Scope, folders: &Folders) -> Option<Target> {
        let (file, above) = match scope {
            Scope::User => ((self.user_file)(folders), None),
            Scope::Project => (folders.project.join(self.project_file?), None),
            Scope::Local if self.has_local => {
                let project = folders.project.to_string_lossy().into_owned();
                ((self.user_file)(folders), Some(["projects".to_owned(), project]))
            }
            Scope::Local => return None,
        };
        let keys = above.into_iter().flatten().chain([self.key.to_owned()]).collect();
        Some(Target { client: self, scope, file, keys })
    }

    /// Whether files of the client exist on this machine.
    pub(crate) fn is_present(&self, folders: &Folders) -> bool {
        (self.folder)(folders).exists() || (self.user_file)(folders).exists()
    }
}

pub(crate) static CLIENTS: [Client; 9] = [
    Client {
        name: "claude-code",
        title: "Claude Code",
        format: Format::Json,
        shape: Shape::Typed,
        key: "mcpServers",
        user_file: |folders| folders.home.join(".claude.json"),
        folder: |folders| folders.home.join(".claude"),
        project_file: Some(".mcp.json"),
        has_local: true,
        is_graphical: false,
        next: "a new session has it; a project's server is approved there once",
    },
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        format: Format::Json,
        shape: Shape::Plain,
        key: "mcpServers",
        user_file: |folders| folders.applications.join("Claude").join("claude_desktop_config.json"),
        folder: |folders| folders.applications.join("Claude"),
        project_file: None,
        has_local: false,
        is_graphical: true,
        next: "quit Claude Desktop, and start it again",
    },
    Client {
        name: "cursor",
        title: "Cursor",
        format: Format::Json,
        shape: Shape::Plain,
        key: "mcpServers",
        user_file: |folders| folders.home.join(".cursor").join("mcp.json"),
        folder: |folders| folders.home.join(".cursor"),
        project_file: Some(".cursor/mcp.json"),
        has_local: false,
        is_graphical: true,
        next: "turn the server on in Cursor's settings",
    },
    Client {
        name: "vscode",
        title: "VS Code",
        format: Format::Jsonc,
        shape: Shape::Typed,
        key: "servers",
        user_file: |folders| folders.applications.join("Code").join("User").join("mcp.json"),
        folder: |folders| folders.applications.join("Code"),
        project_file: Some(".vscode/mcp.json"),
        has_local: false,
        is_graphical: true,
        next: "VS Code asks once whether the server is trusted",
    },
    Client {
        name: "codex",
        title: "Codex",
        format: Format::Toml,
        shape: Shape::Plain,
        key: "mcp_servers",
        user_file: |folders| folders.codex.join("config.toml"),
        folder: |folders| folders.codex.clone(),
        project_file: Some(".codex/config.toml"),
        has_local: false,
        is_graphical: false,
        next: "a new session has it; a project's file counts if Codex trusts the project",
    },
    Client {
        name: "gemini-cli",
        title: "Gemini CLI",
        format: Format::Jsonc,
        shape: Shape::Plain,
        key: "mcpServers",
        user_file: |folders| folders.home.join(".gemini").join("settings.json"),
        folder: |folders| folders.home.join(".gemini"),
        project_file: Some(".gemini/settings.json"),
        has_local: false,
        is_graphical: false,
        next: "a new session has it, in a folder that Gemini CLI trusts",
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        format: Format::Json,
        shape: Shape::Plain,
        key: "mcpServers",
        user_file: |folders| folders.home.join(".codeium").join("windsurf").join("mcp_config.json"),
        folder: |folders| folders.home.join(".codeium").join("windsurf"),
        project_file: None,
        has_local: false,
        is_graphical: true,
        next: "refresh the servers in Windsurf's settings",
    },
    Client {
        name: "zed",
        title: "Zed",
        format: Format::Jsonc,
        shape: Shape::Plain,
        key: "context_servers",
        user_file: |folders| zed(folders).join("settings.json"),
        folder: zed,
        project_file: Some(".zed/settings.json"),
        has_local: false,
        is_graphical: true,
        next: "Zed starts the server at once",
    },
    Client {
        name: "opencode",
        title: "opencode",
        format: Format::Jsonc,
        shape: Shape::OpenCode,
        key: "mcp",
        user_file: |folders| {
            let folder = folders.config.join("opencode");
            let commented = folder.join("opencode.jsonc");
            if commented.exists() { commented } else { folder.join("opencode.json") }
        },
        folder: |folders| folders.config.join("opencode"),
        project_file: Some("opencode.json"),
        has_local: false,
        is_graphical: false,
        next: "a new session has it",
    },
];

fn zed(folders: &Folders) -> PathBuf {
    match cfg!(windows) {
        true => folders.applications.join("Zed"),
        false => folders.config.join("zed"),
    }
}

impl Target {
    /// The members from the top of the file to the entry of a server.
    pub(crate) fn entry_keys(&self, name: &str) -> Vec<String> {
        self.keys.iter().cloned().chain([name.to_owned()]).collect()
    }
}
