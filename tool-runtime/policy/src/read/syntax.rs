//! The syntaxes of policies: JSON, YAML, TOML.

#[cfg(feature = "toml")]
use super::locate::LineStarts;
use super::locate::Lines;
use super::path::DocumentPath;
use super::problem::{Fault, PolicyProblem};
use super::unique;
use serde_json::Value;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The largest document.
const MAX_BYTES: usize = 16 << 20;

/// The most open brackets of YAML.
#[cfg(feature = "yaml")]
const MAX_OPEN: usize = 1000;

/// The syntax of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// JSON.
    Json,
    /// YAML. Needs the feature `yaml`.
    Yaml,
    /// TOML. Needs the feature `toml`.
    Toml,
}

impl Format {
    /// The syntax of a file by its extension: `json`, `yaml`, `yml`, `toml`.
    pub fn from_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "json" => Some(Self::Json),
            "yaml" | "yml" => Some(Self::Yaml),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }
}

fn too_large() -> String {
    format!("the document is larger than {} MiB", MAX_BYTES >> 20)
}

/// The line at which too many brackets are open, whether they are syntax or not. The parser of YAML takes time for each
/// open one at each word.
#[cfg(feature = "yaml")]
fn too_deep(text: &str) -> Option<usize> {
    let (mut open, mut line) = (0usize, 1);
    for byte in text.bytes() {
        match byte {
            b'\n' => line += 1,
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > MAX_OPEN {
            return Some(line);
        }
    }
    None
}

/// The text of a document, and where it is from.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) file: Option<PathBuf>,
    pub(crate) format: Format,
    pub(crate) text: String,
    /// Found by the first mistake or explanation.
    lines: OnceLock<Lines>,
}

impl Text {
    pub(crate) fn new(text: &str, format: Format) -> Self {
        let text = text.trim_start_matches('\u{feff}').to_owned();
        Self { file: None, format, text, lines: OnceLock::new() }
    }

    /// # Errors
    /// The file cannot be read, or its name does not tell its syntax.
    pub(crate) fn read(path: &Path) -> Result<Self, PolicyProblem> {
        let wrong = |text: String, help: &str| PolicyProblem {
            file: Some(path.to_owned()),
            line: None,
            key: String::new(),
            text,
            help: help.to_owned(),
        };
        let format = Format::from_path(path).ok_or_else(|| {
            let help = "name it `.yaml`, `.yml`, `.toml` or `.json`";
            wrong("the name of the file does not tell its syntax".to_owned(), help)
        })?;
        let unreadable = |error: std::io::Error| {
            wrong(format!("the file cannot be read: {error}"), "check its path and its rights")
        };
        // Reading a pipe or a device may never end.
        match std::fs::metadata(path).map_err(unreadable)? {
            metadata if !metadata.is_file() => {
                return Err(wrong("it is not a regular file".to_owned(), "name a file"));
            }
            metadata if metadata.len() > MAX_BYTES as u64 => {
                return Err(wrong(too_large(), "remove rules, or split it"));
            }
            _ => {}
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        Ok(Self { file: Some(path.to_owned()), ..Self::new(&text, format) })
    }

    /// A number that differs for other strings.
    pub(crate) fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.text.hash(&mut hasher);
        hasher.finish()
    }

    /// A mistake at a path in the document.
    pub(crate) fn problem(&self, path: &DocumentPath, fault: Fault) -> PolicyProblem {
        let Fault { text, help } = fault;
        let line = self.line(path);
        PolicyProblem { file: self.file.clone(), line, key: path.to_string(), text, help }
    }

    fn problem_at(&self, line: Option<usize>, text: String) -> PolicyProblem {
        let (file, key, help) = (self.file.clone(), String::new(), "correct it there".to_owned());
        PolicyProblem { file, line, key, text, help }
    }

    /// The document as a value. Without one, there is at least one problem.
    pub(crate) fn parse(&self, problems: &mut Vec<PolicyProblem>) -> Option<Value> {
        if self.text.len() > MAX_BYTES {
            problems.push(self.problem_at(None, too_large()));
            return None;
        }
        let mut duplicates = Vec::new();
        let value = match self.format {
            Format::Json => self.parse_json(&mut duplicates),
            Format::Yaml => self.parse_yaml(&mut duplicates),
            Format::Toml => self.parse_toml(),
        };
        let repeated = duplicates.iter().map(|path| {
            let fault = Fault::new("this key appears twice in one object", "remove one of the two");
            self.problem(path, fault)
        });
        problems.extend(repeated);
        value.map_err(|mut errors| problems.append(&mut errors)).ok()
    }

    fn parse_json(&self, duplicates: &mut Vec<DocumentPath>) -> Result<Value, Vec<PolicyProblem>> {
        let mut json = serde_json::Deserializer::from_str(&self.text);
        let value = unique::read(&mut json, duplicates);
        value.and_then(|value| json.end().map(|()| value)).map_err(|error| {
            vec![self.problem_at(Some(error.line()), format!("this is not JSON: {error}"))]
        })
    }

    #[cfg(feature = "yaml")]
    fn parse_yaml(&self, duplicates: &mut Vec<DocumentPath>) -> Result<Value, Vec<PolicyProblem>> {
        if let Some(line) = too_deep(&self.text) {
            let text = format!("more than {MAX_OPEN} lists and objects are open");
            return Err(vec![self.problem_at(Some(line), text)]);
        }
        let yaml = serde_norway::Deserializer::from_str(&self.text);
        unique::read(yaml, duplicates).map_err(|error| {
            let line = error.location().map(|at| at.line());
            vec![self.problem_at(line, format!("this is not YAML: {error}"))]
        })
    }

    #[cfg(not(feature = "yaml"))]
    fn parse_yaml(&self, _: &mut Vec<DocumentPath>) -> Result<Value, Vec<PolicyProblem>> {
        Err(vec![self.not_built("YAML", "yaml")])
    }

    /// TOML recovers from mistakes, so that all are found; duplicate keys are among them.
    #[cfg(feature = "toml")]
    fn parse_toml(&self) -> Result<Value, Vec<PolicyProblem>> {
        use serde::de::Error as _;
        let (_, mut errors) = toml::de::DeTable::parse_recoverable(&self.text);
        if errors.is_empty() {
            let table = toml::from_str::<toml::Table>(&self.text);
            match table
                .and_then(|table| serde_json::to_value(table).map_err(toml::de::Error::custom))
            {
                Ok(value) => return Ok(value),
                // A number that is too large, say.
                Err(error) => errors.push(error),
            }
        }
        let starts = LineStarts::new(&self.text);
        let problem = |error: toml::de::Error| {
            let line = error.span().map(|span| starts.line(span.start));
            self.problem_at(line, format!("this is not TOML: {}", error.message().trim_end()))
        };
        Err(errors.into_iter().map(problem).collect())
    }

    #[cfg(not(feature = "toml"))]
    fn parse_toml(&self) -> Result<Value, Vec<PolicyProblem>> {
        Err(vec![self.not_built("TOML", "toml")])
    }

    #[cfg(not(all(feature = "yaml", feature = "toml")))]
    fn not_built(&self, name: &str, feature: &str) -> PolicyProblem {
        let help = format!("build it with the feature `{feature}` of `tool-runtime`");
        let text = format!("this program cannot read {name}");
        PolicyProblem { help, ..self.problem_at(None, text) }
    }

    /// The line of a path, or of the nearest value around it.
    pub(crate) fn line(&self, path: &DocumentPath) -> Option<usize> {
        self.lines.get_or_init(|| self.find_lines()).line_of(path)
    }

    fn find_lines(&self) -> Lines {
        match self.format {
            #[cfg(feature = "yaml")]
            Format::Json | Format::Yaml if too_deep(&self.text).is_none() => {
                Lines::read_yaml(&self.text)
            }
            #[cfg(feature = "toml")]
            Format::Toml => {
                let (table, _) = toml::de::DeTable::parse_recoverable(&self.text);
                Lines::read_toml(table.get_ref(), &LineStarts::new(&self.text))
            }
            _ => Lines::default(),
        }
    }
}
