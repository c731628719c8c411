//! The mistakes of a configuration.

use crate::config::document::{self, Document};
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;

/// Mistakes while they are looked for.
pub(crate) struct Problems<'a> {
    document: Option<&'a Document>,
    /// The lines in the file of the configuration. Mistakes of other files have none.
    list: Vec<(Option<usize>, String)>,
}

impl<'a> Problems<'a> {
    pub(super) fn new(document: Option<&'a Document>, list: Vec<(Option<usize>, String)>) -> Self {
        Self { document, list }
    }

    /// Adds a mistake in the value at a path.
    pub(crate) fn add(&mut self, path: &str, text: impl fmt::Display) {
        let text = format!("`{path}`: {text}");
        self.list.push(match self.document {
            Some(document) => document::located(document, path, &text),
            None => (None, text),
        });
    }

    /// Adds a mistake of another file.
    pub(super) fn add_other(&mut self, problem: impl fmt::Display) {
        self.list.push((None, problem.to_string()));
    }

    /// The value, unless it is a mistake.
    pub(crate) fn accept<T, E: fmt::Display>(
        &mut self,
        path: &str,
        result: Result<T, E>,
    ) -> Option<T> {
        result.map_err(|error| self.add(path, error)).ok()
    }

    /// `broken` are the sections that were left out.
    ///
    /// # Errors
    /// There are mistakes.
    pub(super) fn end(
        self,
        broken: &BTreeSet<String>,
        secrets: &[(String, String)],
    ) -> Result<(), Mistakes> {
        match self.list.is_empty() {
            true => Ok(()),
            false => {
                let list = document::masked(document::sorted(self.list), secrets);
                let sections = broken.iter().filter(|section| document::is_known(section));
                let unchecked = sections.map(|section| {
                    format!("what `{section}` names is checked once its own mistakes are mended")
                });
                Err(Mistakes { list, unchecked: unchecked.collect() })
            }
        }
    }
}

/// All mistakes of a configuration, each with its file and line.
#[derive(Debug)]
pub(crate) struct Mistakes {
    pub(crate) list: Vec<String>,
    /// What is not checked because of them.
    pub(crate) unchecked: Vec<String>,
}

impl Mistakes {
    pub(crate) fn new(list: Vec<String>) -> Self {
        Self { list, unchecked: Vec::new() }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration cannot be used:")?;
        let lines = self.list.iter().chain(&self.unchecked);
        lines.into_iter().try_for_each(|line| write!(f, "\n- {line}"))
    }
}

impl Error for Mistakes {}
