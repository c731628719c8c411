//! Settings of the operator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Settings of the tools for code, chosen by the operator. No argument of a tool changes them.
///
/// ```
/// use tool_runtime_builtins::code::CodeParams;
///
/// let mut params = CodeParams::default();
/// params.worktrees.directory = "trees".into();
/// assert!(!params.worktrees.hooks);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CodeParams {
    /// Worktrees of git.
    pub worktrees: WorktreeParams,
    /// Language servers by the names of their languages. Default: [`LanguageServer::defaults`].
    pub language_servers: BTreeMap<String, LanguageServer>,
    /// Seconds that a language server may take to start, and the same again for one request. Default: 60.
    pub language_server_timeout: u64,
}

impl Default for CodeParams {
    fn default() -> Self {
        Self {
            worktrees: WorktreeParams::default(),
            language_servers: LanguageServer::defaults(),
            language_server_timeout: 60,
        }
    }
}

impl CodeParams {
    /// Adds a language server. It replaces the one of its name, and others for its extensions.
    ///
    /// ```
    /// use tool_runtime_builtins::code::{CodeParams, LanguageServer};
    ///
    /// let mut params = CodeParams::default();
    /// params.add_language_server("python", LanguageServer::new("pylsp", [], [("py", "python")]));
    /// assert_eq!(params.language_servers["python"].command.to_str(), Some("pylsp"));
    /// ```
    pub fn add_language_server(&mut self, name: impl Into<String>, server: LanguageServer) {
        for other in self.language_servers.values_mut() {
            other.extensions.retain(|extension, _| !server.extensions.contains_key(extension));
        }
        self.language_servers.retain(|_, other| !other.extensions.is_empty());
        self.language_servers.insert(name.into(), server);
    }
}

/// A language server: its program, its files, its settings.
///
/// Language servers run programs of the project that they read: build scripts, plug-ins, interpreters. So `LSP` is a tool
/// that changes nothing only in a [`Sandbox`](crate::Sandbox), where they can write only temporary files. Without one
/// offer it only for projects whose code you would run.
///
/// ```
/// use tool_runtime_builtins::code::{CodeParams, LanguageServer};
///
/// let bash = LanguageServer::new("bash-language-server", ["start"], [("sh", "shellscript"), ("bash", "shellscript")]);
/// let mut params = CodeParams::default();
/// params.add_language_server("bash", bash);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LanguageServer {
    /// The program: a path, or a name that is looked up in `PATH`.
    pub command: PathBuf,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Extensions of files without the dot, and the protocol's id of their language: `tsx` is `typescriptreact`.
    pub extensions: BTreeMap<String, String>,
    /// Options that the server gets when it starts.
    #[serde(default)]
    pub initialization_options: Value,
    /// Settings that the server may ask for, by section: `{"python": {"analysis": {}}}`.
    #[serde(default)]
    pub settings: Value,
    /// Whether the server publishes diagnostics of each document that was opened, none included. The first question
    /// about a document waits for them, for 15 seconds at most. Without it, a server that is silent for 2 seconds is
    /// asked.
    #[serde(default)]
    pub publishes_diagnostics: bool,
    /// The command that installs the program, for messages.
    #[serde(default)]
    pub install: Option<String>,
}

impl LanguageServer {
    /// A server without options and settings. `extensions` has pairs of an extension and the id of its language.
    pub fn new<'a>(
        command: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = &'a str>,
        extensions: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let owned = |(extension, id): (&str, &str)| (extension.to_owned(), id.to_owned());
        Self {
            command: command.into(),
            arguments: arguments.into_iter().map(str::to_owned).collect(),
            extensions: extensions.into_iter().map(owned).collect(),
            initialization_options: Value::Null,
            settings: Value::Null,
            publishes_diagnostics: false,
            install: None,
        }
    }

    fn publishing(mut self) -> Self {
        self.publishes_diagnostics = true;
        self
    }

    /// Servers that many people use: pyright, typescript-language-server, rust-analyzer, clangd, gopls.
    pub fn defaults() -> BTreeMap<String, Self> {
        let typescript = [
            ("ts", "typescript"),
            ("mts", "typescript"),
            ("cts", "typescript"),
            ("tsx", "typescriptreact"),
            ("js", "javascript"),
            ("mjs", "javascript"),
            ("cjs", "javascript"),
            ("jsx", "javascriptreact"),
        ];
        let c = [
            ("c", "c"),
            ("h", "c"),
            ("cc", "cpp"),
            ("cpp", "cpp"),
            ("cxx", "cpp"),
            ("hh", "cpp"),
            ("hpp", "cpp"),
        ];
        let python =
            Self::new("pyright-langserver", ["--stdio"], [("py", "python"), ("pyi", "python")])
                .publishing();
        let typescript = Self {
            // Its second process, which reads no project, responds at first: with one file of a rename.
            initialization_options: json!({"tsserver": {"useSyntaxServer": "never"}}),
            ..Self::new("typescript-language-server", ["--stdio"], typescript).publishing()
        };
        let rust = Self::new("rust-analyzer", [], [("rs", "rust")]);
        let servers = [
            ("python", python, "npm install --global pyright"),
            (
                "typescript",
                typescript,
                "npm install --global typescript-language-server typescript",
            ),
            ("rust", rust, "rustup component add rust-analyzer"),
            (
                "c",
                Self::new("clangd", [], c).publishing(),
                "install the package clangd of the system",
            ),
            (
                "go",
                Self::new("gopls", [], [("go", "go")]),
                "install the package gopls of the system",
            ),
        ];
        let named = |(name, server, install): (&str, Self, &str)| {
            (name.to_owned(), Self { install: Some(install.to_owned()), ..server })
        };
        servers.map(named).into()
    }
}

/// Settings of the tools for worktrees.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorktreeParams {
    /// The program git, 2.36 or newer: a path, or a name that is looked up in `PATH`.
    pub git: PathBuf,
    /// Directory of the worktrees, inside a root. A new one gets a `.gitignore` by which git and searches skip it.
    /// Default: `.worktrees` in the first root.
    pub directory: PathBuf,
    /// Whether git reads the repository's own settings, and so runs programs that they name: hooks, filters, file
    /// monitors, transports for missing objects. Whoever can change files in `.git` decides about them.
    pub hooks: bool,
}

impl Default for WorktreeParams {
    fn default() -> Self {
        Self { git: "git".into(), directory: ".worktrees".into(), hooks: false }
    }
}
