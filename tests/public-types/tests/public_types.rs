//! Types of other crates in public signatures: a new major version of such a crate is a breaking change
//! of this one. `foreign_types.txt` lists them with the reason for each.
//!
//! The number of names at the root of the facade is checked as well.

#![allow(missing_docs)]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const LISTED: &str = include_str!("../foreign_types.txt");

/// Crates of the Rust distribution.
const STD: [&str; 3] = ["alloc", "core", "std"];

/// Packages whose items users cannot name.
const INTERNAL: [&str; 2] = ["tool-runtime-mcp", "tool-runtime-store"];

#[test]
fn foreign_types_in_public_signatures_are_listed() {
    let listed: BTreeSet<&str> = LISTED
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(": ").expect("`crate::Type: reason`").0)
        .collect();
    let mut found = BTreeMap::new();
    for file in documented() {
        Documentation::read(&file).foreign_types(&mut found);
    }
    let added: Vec<_> = found.iter().filter(|(name, _)| !listed.contains(&***name)).collect();
    assert!(
        added.is_empty(),
        "foreign types in public signatures, with the items that name them: {added:#?}; hide them behind a type of our own, or give the reason for each in `foreign_types.txt`"
    );
    let gone: Vec<_> = listed.iter().filter(|name| !found.contains_key(**name)).collect();
    assert!(gone.is_empty(), "not in public signatures: {gone:?}; remove them from the list");
}

/// The most names at the root of `tool_runtime`, without modules. A first file needs few; all others are in the module of
/// their topic.
const MAX_ROOT_NAMES: usize = 40;

#[test]
fn the_root_has_only_what_a_first_file_needs() {
    let file = documented().into_iter().find(|file| file.ends_with("tool_runtime.json"));
    let facade = Documentation::read(&file.expect("the facade is a library"));
    let names = facade.root_names();
    assert!(names.contains("ToolPool"), "{names:?}");
    let count = names.len();
    assert!(
        count <= MAX_ROOT_NAMES,
        "{count} names at the root of `tool_runtime`, at most {MAX_ROOT_NAMES}: move some to the module of their topic: {names:?}"
    );
}

/// The documentation of our libraries as JSON, which `.ci/public-types` has written.
fn documented() -> Vec<PathBuf> {
    let program = std::env::current_exe().expect("the path of this program");
    let folder = program.ancestors().map(|folder| folder.join("doc")).find(|doc| doc.is_dir());
    let folder = folder.expect("`.ci/public-types` runs `cargo doc`");
    let file = |package: &String| folder.join(format!("{}.json", package.replace('-', "_")));
    libraries().iter().map(file).collect()
}

/// The packages whose items users can name.
fn libraries() -> Vec<String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).expect("the workspace's manifest");
    let names = manifest.lines().filter_map(|line| line.split_once(" = { path = "));
    let names = names.map(|(name, _)| name.to_owned());
    let is_public =
        |name: &String| name.starts_with("tool-runtime") && !INTERNAL.contains(&&**name);
    let names: Vec<_> = names.filter(is_public).collect();
    assert!(!names.is_empty(), "the manifest lists the packages");
    names
}

/// The rustdoc JSON of one crate.
struct Documentation(Value);

impl Documentation {
    fn read(file: &PathBuf) -> Self {
        let text = std::fs::read(file);
        let text = text
            .unwrap_or_else(|error| panic!("{}: {error}; run `.ci/public-types`", file.display()));
        Self(serde_json::from_slice(&text).expect("rustdoc's JSON"))
    }

    /// Adds each foreign type, as `crate::Type`, with the items whose signatures name it.
    fn foreign_types(&self, found: &mut BTreeMap<String, BTreeSet<String>>) {
        let index = self.0["index"].as_object().expect("items by id");
        let skipped = self.skipped_items();
        for (id, item) in index {
            let (kind, inner) = inner(item);
            if item["crate_id"] != 0 || skipped.contains(id) || ["use", "module"].contains(&kind) {
                continue;
            }
            let name = item["name"].as_str().unwrap_or(kind);
            self.visit(inner, &mut |foreign| {
                found.entry(foreign).or_default().insert(name.to_owned());
            });
        }
    }

    /// The names at the root, without modules.
    fn root_names(&self) -> BTreeSet<&str> {
        let index = &self.0["index"];
        let root = &index[self.0["root"].to_string()]["inner"]["module"]["items"];
        let items = root.as_array().expect("items of the root");
        let named = items.iter().filter_map(|id| {
            let (kind, inner) = inner(&index[id.to_string()]);
            match kind {
                "module" => None,
                "use" => {
                    let target = &self.0["paths"][inner["id"].to_string()];
                    inner["name"].as_str().filter(|_| target["kind"] != "module")
                }
                _ => index[id.to_string()]["name"].as_str(),
            }
        });
        named.collect()
    }

    /// Ids of derived and blanket implementations and of methods of foreign traits: their
    /// signatures come from the traits.
    fn skipped_items(&self) -> BTreeSet<String> {
        let index = self.0["index"].as_object().expect("items by id");
        let mut skipped = BTreeSet::new();
        for (id, item) in index {
            let (kind, inner) = inner(item);
            if kind != "impl" {
                continue;
            }
            let items = inner["items"].as_array().expect("items").iter().map(Value::to_string);
            if inner["is_synthetic"] == true || !inner["blanket_impl"].is_null() {
                skipped.insert(id.clone());
                skipped.extend(items);
            } else if self.foreign(&inner["trait"]["id"]).is_some() {
                let is_method = |id: &String| {
                    index.get(id).is_some_and(|item| self::inner(item).0 == "function")
                };
                skipped.extend(items.filter(is_method));
            }
        }
        skipped
    }

    /// Visits every type and trait that a signature names.
    fn visit(&self, signature: &Value, found: &mut impl FnMut(String)) {
        match signature {
            Value::Object(members) => {
                if members.get("path").is_some_and(Value::is_string)
                    && let Some(name) = self.foreign(&members["id"])
                    && !STD.iter().any(|std| name.starts_with(&format!("{std}::")))
                {
                    found(name);
                }
                members.values().for_each(|member| self.visit(member, found));
            }
            Value::Array(values) => values.iter().for_each(|value| self.visit(value, found)),
            _ => {}
        }
    }

    /// A type of another crate, as `crate::Type`.
    fn foreign(&self, id: &Value) -> Option<String> {
        let path = self.0["paths"].get(id.to_string())?["path"].as_array()?;
        let (krate, name) = (path.first()?.as_str()?, path.last()?.as_str()?);
        (!krate.starts_with("tool_runtime")).then(|| format!("{krate}::{name}"))
    }
}

/// The kind of an item and its rustdoc data.
fn inner(item: &Value) -> (&str, &Value) {
    let inner = item["inner"].as_object().expect("a kind");
    inner.iter().next().map(|(kind, inner)| (kind.as_str(), inner)).expect("a kind")
}
