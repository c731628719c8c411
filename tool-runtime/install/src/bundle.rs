//! `bundle`: packs the program for clients that install bundles, and describes it for the MCP registry.

use crate::command_line::{entry_name, is_variable};
use crate::manifest::{Manifest, Variable};
use crate::package::Package;
use crate::server_json::{self, Download, github};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tool_runtime_command::seam::{CommandFailure, SETUP, run_printing};
use tool_runtime_command::{CliCommand, CommandArguments, CommandForm};
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::seam::{hex, is_secret_name};
use tool_runtime_core::vocabulary::BoxFuture;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const HELP: &str = "\
It writes NAME-VERSION-OS-ARCH.mcpb: the program and a manifest, for this platform. Clients such as Claude Desktop install
it when it is opened. Arguments after `--` are given to the server. Build the program for release before.

It also writes server.json for the MCP registry, if the package has a repository on GitHub, or `--namespace` and `--url` are given.
Bundles of other platforms that a server.json of the same version lists stay in it.";

/// The command `bundle`.
#[derive(Clone, Debug)]
pub struct Bundle {
    package: Package,
}

impl Bundle {
    /// The command of a program.
    pub fn new(mut package: Package) -> Self {
        if package.description.is_empty() {
            package.description = format!("The tools of {}", package.name);
        }
        package.name = entry_name(&package.name);
        Self { package }
    }
}

impl CliCommand for Bundle {
    fn form(&self) -> CommandForm {
        CommandForm::new("bundle", "Pack the program as an MCPB bundle, for clients and the registry")
            .heading(SETUP)
            .rest("ARGUMENTS", "Arguments of the server")
            .option("output", "DIR", "The directory that the files are written to; default: this one")
            .repeated_option("env", "KEY[=TEXT]", "Let clients ask their users for this environment variable, with this description; repeatable")
            .option("author", "NAME", "The author; default: `authors` of the package")
            .option("namespace", "NAME", "The namespace in the registry, such as `com.example`; default: io.github.USER of the repository")
            .option("url", "URL", "Where the bundle will be; default: the release vVERSION of the repository")
            .after_help(HELP)
    }

    fn run<'a>(
        &'a self,
        arguments: &'a CommandArguments,
        pool: &'a ToolPool,
    ) -> BoxFuture<'a, ExitCode> {
        Box::pin(async move { run_printing(|out| self.write(arguments, pool, out)) })
    }
}

impl Bundle {
    fn write(
        &self,
        arguments: &CommandArguments,
        pool: &ToolPool,
        out: &mut dyn Write,
    ) -> Result<bool, CommandFailure> {
        let variables: Vec<Variable> =
            arguments.values("env").map(variable).collect::<Result<_, _>>()?;
        check_options(arguments, &variables)?;
        let author = self.author(arguments)?;
        let folder = PathBuf::from(arguments.value("output").unwrap_or("."));
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
        let program = format!("server/{}{}", self.package.name, std::env::consts::EXE_SUFFIX);
        let manifest = Manifest {
            package: &self.package,
            author: &author,
            program: &program,
            arguments: arguments.positional(),
            variables: &variables,
        };
        let file = folder.join(self.file_name());
        let sha256 =
            pack(&file, &manifest.json(pool), &program).map_err(|error| failed(&file, &error))?;
        writeln!(out, "wrote {}", file.display())?;
        if cfg!(debug_assertions) {
            writeln!(
                out,
                "note: this is a debug build: it is large and slow; `cargo build --release` first"
            )?;
        }
        let namespace =
            arguments.value("namespace").map(str::to_owned).or_else(|| self.namespace());
        let url = arguments.value("url").map(str::to_owned).or_else(|| self.url());
        let (Some(namespace), Some(url)) = (namespace, url) else {
            writeln!(
                out,
                "no server.json: set `repository` of the package to one on GitHub, or give `--namespace` and `--url`"
            )?;
            return Ok(true);
        };
        let file = folder.join("server.json");
        let download = Download { url: &url, sha256: &sha256, variables: &variables };
        let server = server_json::json(&self.package, &namespace, &download);
        let server = update(&file, server).map_err(|problem| {
            CommandFailure::Failed(format!("`{}` was not changed: {problem}", file.display()))
        })?;
        fs::write(&file, format!("{server:#}\n")).map_err(|error| failed(&file, &error))?;
        writeln!(out, "wrote {}", file.display())?;
        writeln!(
            out,
            "next: upload the bundle to {url}, and publish server.json by `mcp-publisher`"
        )?;
        Ok(true)
    }

    fn author(&self, arguments: &CommandArguments) -> Result<String, CommandFailure> {
        let first = self.package.authors.split(':').next().unwrap_or_default();
        let first = first.split('<').next().unwrap_or_default().trim();
        let author = arguments.value("author").unwrap_or(first);
        let author = match (author.is_empty(), github(&self.package.repository)) {
            (true, Some((user, _))) => user,
            _ => author,
        };
        match author.is_empty() {
            true => Err(CommandFailure::usage(
                "a bundle names its author: give `--author NAME`, or set `authors` of the package",
            )),
            false => Ok(author.to_owned()),
        }
    }

    fn file_name(&self) -> String {
        let Package { name, version, .. } = &self.package;
        format!("{name}-{version}-{}-{}.mcpb", std::env::consts::OS, std::env::consts::ARCH)
    }

    fn namespace(&self) -> Option<String> {
        let (user, _) = github(&self.package.repository)?;
        Some(format!("io.github.{user}"))
    }

    fn url(&self) -> Option<String> {
        let (user, repository) = github(&self.package.repository)?;
        let (version, file) = (&self.package.version, self.file_name());
        Some(format!("https://github.com/{user}/{repository}/releases/download/v{version}/{file}"))
    }
}

/// A description, with what the file has of it.
fn update(file: &Path, server: Value) -> Result<Value, String> {
    match crate::file::read(file)? {
        None => Ok(server),
        Some(text) => {
            let before = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            server_json::updated(before, server)
        }
    }
}

fn failed(file: &Path, error: &io::Error) -> CommandFailure {
    CommandFailure::Failed(format!("`{}` cannot be written: {error}", file.display()))
}

/// Checks what clients and the registry would refuse.
fn check_options(
    arguments: &CommandArguments,
    variables: &[Variable],
) -> Result<(), CommandFailure> {
    let mut settings = HashSet::new();
    if let Some(twice) = variables.iter().find(|it| !settings.insert(it.setting())) {
        let text = format!("--env: `{}` is named twice; clients ignore capitals", twice.name);
        return Err(CommandFailure::usage(text));
    }
    let is_of = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-');
    if let Some(namespace) = arguments.value("namespace").filter(|it| !it.chars().all(is_of)) {
        let text = format!(
            "--namespace: `{namespace}` has other characters than letters, digits, `.` and `-`; write a domain backwards, such as `com.example`"
        );
        return Err(CommandFailure::usage(text));
    }
    let is_url = |url: &&str| url.starts_with("https://") && url.len() > "https://".len();
    match arguments.value("url").filter(|url| !is_url(url)) {
        None => Ok(()),
        Some(url) => {
            Err(CommandFailure::usage(format!("--url: `{url}` does not begin with `https://`")))
        }
    }
}

fn variable(text: &str) -> Result<Variable, CommandFailure> {
    let (name, description) = text.split_once('=').unwrap_or((text, text));
    if !is_variable(name) {
        return Err(CommandFailure::usage(format!("--env: `{name}` is no name of a variable")));
    }
    Ok(Variable {
        name: name.to_owned(),
        description: description.to_owned(),
        is_secret: is_secret_name(name),
    })
}

/// Writes the bundle, and returns its SHA-256.
fn pack(file: &Path, manifest: &Value, program: &str) -> io::Result<String> {
    let mut zip = ZipWriter::new(BufWriter::new(File::create(file)?));
    let options = SimpleFileOptions::default();
    zip.start_file("manifest.json", options)?;
    write!(zip, "{manifest:#}")?;
    zip.start_file(program, options.unix_permissions(0o755).large_file(false))?;
    io::copy(&mut BufReader::new(File::open(std::env::current_exe()?)?), &mut zip)?;
    zip.finish()?.flush()?;
    let mut hash = Sha256::new();
    io::copy(&mut File::open(file)?, &mut Hashed(&mut hash))?;
    Ok(hex(&hash.finalize()))
}

struct Hashed<'a>(&'a mut Sha256);

impl Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
