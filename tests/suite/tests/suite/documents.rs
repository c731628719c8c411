//! What the documents name exists: files, types, functions.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Names of examples: what a contributor adds, what a macro generates for a server.
const OF_EXAMPLES: &[&str] = &[
    "tool-runtime/core/src/dispatch/stage/argument_limit.rs",
    "argument_limit",
    "check_length",
    "tool-runtime/core/src/tool/arguments/constraint/multiple.rs",
    "files/word_count.rs",
    "WordCount",
    "WordCountOutput",
    "my_setting",
    "fetch_url",
    "FetchUrlAction",
    "FetchUrlOutput",
    "FetchUrlFormat",
    "PascalCase",
    "clear_rows",
    "into_tool_error",
    // Types of other crates.
    "async_openai",
    "ChatCompletionTools",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The files below a directory, relative to the repository, without what is built or hidden.
fn files(directory: &Path, root: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_skipped = name.starts_with('.') || ["target", "node_modules"].contains(&&*name);
        match entry.file_type().unwrap().is_dir() {
            true if is_skipped => {}
            true => files(&entry.path(), root, found),
            false => found.push(entry.path().strip_prefix(root).unwrap().to_owned()),
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).filter(|word| {
        word.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
    })
}

/// The words of all code, without comments.
fn names_in_code(root: &Path, files: &[PathBuf]) -> HashSet<String> {
    let mut names = HashSet::new();
    for file in files {
        let extension = file.extension().unwrap_or_default().to_string_lossy().into_owned();
        if !["rs", "toml", "yaml", "py", "mjs", "json"].contains(&&*extension)
            || file.ends_with("documents.rs")
        {
            continue;
        }
        let Ok(text) = fs::read_to_string(root.join(file)) else { continue };
        for line in text.lines() {
            let code = if extension == "rs" { line.split("//").next().unwrap() } else { line };
            names.extend(words(code).map(str::to_owned));
        }
    }
    names
}

/// Whether a word is written as a name of code is: `snake_case`, `CamelCase`.
fn is_name(word: &str) -> bool {
    let is_camel = word.starts_with(|letter: char| letter.is_ascii_uppercase())
        && word.chars().skip(1).any(|letter| letter.is_ascii_uppercase())
        && word.chars().any(|letter| letter.is_ascii_lowercase());
    is_camel || word.contains('_')
}

/// The spans in code font, and the paths of the listings. A step of a list is indented, too, and has spans.
fn spans(text: &str) -> Vec<String> {
    let (mut spans, mut is_listing) = (Vec::new(), false);
    for line in text.lines() {
        if line.starts_with("```") {
            is_listing = !is_listing;
        } else if is_listing || (line.starts_with("    ") && !line.contains('`')) {
            let tokens = line.split([' ', ',']).filter(|token| token.ends_with(".rs"));
            spans.extend(tokens.map(str::to_owned));
        } else {
            spans.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    spans
}

struct Project {
    files: Vec<PathBuf>,
    names: HashSet<String>,
}

impl Project {
    /// What a span names and the project does not have.
    fn missing(&self, span: &str) -> Vec<String> {
        // Of a call, the names before the arguments.
        let span = span.split_once('(').map_or(span, |(called, _)| called);
        if span.contains([' ', '*', '<', '"', '\\']) || OF_EXAMPLES.contains(&span) {
            return Vec::new();
        }
        let is_file = span.ends_with(".rs");
        let tops = ["tool-runtime/", "tool-macros/", "tests/", "examples/", "fuzz/"];
        if is_file || tops.iter().any(|top| span.starts_with(top)) {
            let path = Path::new(span.trim_end_matches('/'));
            let is_placeholder = span.contains("NAME");
            let exists = self.files.iter().any(|file| {
                file.ends_with(path) || file.ancestors().skip(1).any(|folder| folder == path)
            });
            return if exists || is_placeholder { Vec::new() } else { vec![span.to_owned()] };
        }
        if span.contains('/') {
            return Vec::new();
        }
        let is_path = span.contains("::");
        let named = words(span).filter(|word| is_path || is_name(word));
        let absent =
            named.filter(|word| !self.names.contains(*word) && !OF_EXAMPLES.contains(word));
        absent.map(|word| format!("{word} in `{span}`")).collect()
    }
}

#[test]
fn files_and_names_in_the_documents_exist() {
    let root = repository();
    let mut all = Vec::new();
    files(&root, &root, &mut all);
    let names = names_in_code(&root, &all);
    let project = Project { files: all, names };
    let is_checked = |file: &&PathBuf| {
        let is_guide = file.starts_with("tool-runtime/docs");
        file.extension().is_some_and(|extension| extension == "md")
            && (is_guide
                || [
                    "ARCHITECTURE.md",
                    "CONTRIBUTING.md",
                    "GLOSSARY.md",
                    "README.md",
                    "SECURITY.md",
                ]
                .iter()
                .any(|name| *file == Path::new(name)))
    };
    let documents: Vec<&PathBuf> = project.files.iter().filter(is_checked).collect();
    assert!(documents.len() > 10, "{documents:?}");
    let mut missing = Vec::new();
    for document in documents {
        let text = fs::read_to_string(root.join(document)).unwrap();
        for span in spans(&text) {
            let document = document.display();
            missing.extend(project.missing(&span).iter().map(|name| format!("{document}: {name}")));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn a_name_that_does_not_exist_is_found() {
    let names = HashSet::from(["ToolPool".to_owned(), "call".to_owned(), "with_id".to_owned()]);
    let project = Project { files: vec!["tool-runtime/core/src/pool/handle.rs".into()], names };
    for there in ["ToolPool::call", "pool/handle.rs", "tool-runtime/core/", "with_id", "tools/call"]
    {
        assert_eq!(project.missing(there), [""; 0], "{there}");
    }
    for gone in ["ToolPool::gone", "pool/gone.rs", "tool-runtime/gone/", "without_id", "PlainCall"]
    {
        assert_eq!(project.missing(gone).len(), 1, "{gone}");
    }
}
