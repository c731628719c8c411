//! The syntaxes of policies: JSON, YAML, TOML.

use super::locate::{self, Find};
use super::place::Place;
use super::problem::{Fault, PolicyProblem};
use super::unique;
use serde::de::DeserializeSeed as _;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The largest document.
const MAX_BYTES: usize = 16 << 20;

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
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "json" => Some(Self::Json),
            "yaml" | "yml" => Some(Self::Yaml),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }
}

/// The text of a document, and where it is from.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) file: Option<PathBuf>,
    pub(crate) format: Format,
    pub(crate) text: String,
}

impl Text {
    pub(crate) fn new(text: &str, format: Format) -> Self {
        Self { file: None, format, text: text.trim_start_matches('\u{feff}').to_owned() }
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
        let format = Format::of(path).ok_or_else(|| {
            let help = "name it `.yaml`, `.yml`, `.toml` or `.json`";
            wrong("the name of the file does not tell its syntax".to_owned(), help)
        })?;
        let text = std::fs::read_to_string(path).map_err(|error| {
            wrong(format!("the file cannot be read: {error}"), "check its path and its rights")
        })?;
        Ok(Self { file: Some(path.to_owned()), ..Self::new(&text, format) })
    }

    /// A mistake at a place of the document.
    pub(crate) fn problem(&self, place: &Place, fault: Fault) -> PolicyProblem {
        let Fault { text, help } = fault;
        let line = self.line(place);
        PolicyProblem { file: self.file.clone(), line, key: place.to_string(), text, help }
    }

    fn problem_at(&self, line: Option<usize>, text: String) -> PolicyProblem {
        let (file, key, help) = (self.file.clone(), String::new(), "correct it there".to_owned());
        PolicyProblem { file, line, key, text, help }
    }

    /// The document as a value. Without one, there is at least one problem.
    pub(crate) fn parse(&self, problems: &mut Vec<PolicyProblem>) -> Option<Value> {
        if self.text.len() > MAX_BYTES {
            let text = format!("the document is larger than {} MiB", MAX_BYTES >> 20);
            problems.push(self.problem_at(None, text));
            return None;
        }
        let mut duplicates = Vec::new();
        let value = match self.format {
            Format::Json => self.parse_json(&mut duplicates),
            Format::Yaml => self.parse_yaml(&mut duplicates),
            Format::Toml => self.parse_toml(),
        };
        let repeated = duplicates.iter().map(|place| {
            let fault = Fault::new("this key appears twice in one object", "remove one of the two");
            self.problem(place, fault)
        });
        problems.extend(repeated);
        value.map_err(|mut errors| problems.append(&mut errors)).ok()
    }

    fn parse_json(&self, duplicates: &mut Vec<Place>) -> Result<Value, Vec<PolicyProblem>> {
        let mut json = serde_json::Deserializer::from_str(&self.text);
        let value = unique::read(&mut json, duplicates);
        value.and_then(|value| json.end().map(|()| value)).map_err(|error| {
            vec![self.problem_at(Some(error.line()), format!("this is not JSON: {error}"))]
        })
    }

    #[cfg(feature = "yaml")]
    fn parse_yaml(&self, duplicates: &mut Vec<Place>) -> Result<Value, Vec<PolicyProblem>> {
        let yaml = serde_norway::Deserializer::from_str(&self.text);
        unique::read(yaml, duplicates).map_err(|error| {
            let line = error.location().map(|at| at.line());
            vec![self.problem_at(line, format!("this is not YAML: {error}"))]
        })
    }

    #[cfg(not(feature = "yaml"))]
    fn parse_yaml(&self, _: &mut Vec<Place>) -> Result<Value, Vec<PolicyProblem>> {
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
        let problem = |error: toml::de::Error| {
            let line = error.span().map(|span| self.line_at(span.start));
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

    /// The line of a place.
    pub(crate) fn line(&self, place: &Place) -> Option<usize> {
        locate::line(self, place)
    }

    /// The line where a search ends.
    pub(super) fn line_of(&self, find: Find<'_>) -> Option<usize> {
        match self.format {
            Format::Json => {
                let mut json = serde_json::Deserializer::from_str(&self.text);
                find.deserialize(&mut json).err().map(|error| error.line())
            }
            #[cfg(feature = "yaml")]
            Format::Yaml => {
                let yaml = serde_norway::Deserializer::from_str(&self.text);
                Some(find.deserialize(yaml).err()?.location()?.line())
            }
            #[cfg(feature = "toml")]
            Format::Toml => {
                let toml = toml::Deserializer::parse(&self.text).ok()?;
                let span = find.deserialize(toml).err()?.span()?;
                Some(self.line_at(span.start))
            }
            #[cfg(not(all(feature = "yaml", feature = "toml")))]
            _ => None,
        }
    }

    #[cfg(feature = "toml")]
    fn line_at(&self, index: usize) -> usize {
        self.text.get(..index).unwrap_or_default().matches('\n').count() + 1
    }
}
