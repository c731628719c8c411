//! `server.json` for the MCP registry, of the schema 2025-12-11.

use crate::manifest::Variable;
use crate::package::Package;
use serde_json::{Value, json};

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// The longest description that the registry takes.
const DESCRIPTION_CHARS: usize = 100;

/// A bundle that can be downloaded.
pub(crate) struct Download<'a> {
    pub(crate) url: &'a str,
    /// In hex digits.
    pub(crate) sha256: &'a str,
    pub(crate) variables: &'a [Variable],
}

/// The user and the name of a repository on GitHub.
pub(crate) fn github(repository: &str) -> Option<(&str, &str)> {
    let path = repository.strip_prefix("https://github.com/")?.trim_end_matches('/');
    let (user, name) = path.strip_suffix(".git").unwrap_or(path).split_once('/')?;
    let is_name = |name: &str| !name.is_empty() && !name.contains('/');
    (is_name(user) && is_name(name)).then_some((user, name))
}

/// The description of a server.
pub(crate) fn json(package: &Package, namespace: &str, download: &Download<'_>) -> Value {
    let Package { name, version, title, repository, .. } = package;
    let mut bundle = json!({
        "registryType": "mcpb",
        "identifier": download.url,
        "fileSha256": download.sha256,
        "transport": { "type": "stdio" },
    });
    if !download.variables.is_empty() {
        let variable = |it: &Variable| {
            json!({
                "name": it.name,
                "description": it.description,
                "isRequired": true,
                "isSecret": it.is_secret,
            })
        };
        bundle["environmentVariables"] = download.variables.iter().map(variable).collect();
    }
    let mut server = json!({
        "$schema": SCHEMA,
        "name": format!("{namespace}/{name}"),
        "description": short(&package.description),
        "version": version,
        "packages": [bundle],
    });
    if let Some(title) = title {
        server["title"] = json!(short(title));
    }
    if github(repository).is_some() {
        server["repository"] = json!({ "url": repository, "source": "github" });
    }
    server
}

/// Changes a file of the same server. What the author wrote stays, and so do bundles of other platforms for the same version.
///
/// # Errors
/// It is the file of another server.
pub(crate) fn updated(file: Value, new: Value) -> Result<Value, String> {
    let (Value::Object(mut file), Value::Object(new)) = (file, new) else {
        return Err("it is not a JSON object".to_owned());
    };
    if file.get("name") != new.get("name") {
        return Err(format!("it is that of another server than {}", new["name"]));
    }
    let is_same_version = file.get("version") == new.get("version");
    let old = file.remove("packages").filter(|_| is_same_version);
    for (key, value) in new {
        match &*key {
            "$schema" | "version" => drop(file.insert(key, value)),
            "packages" => {
                let url = &value[0]["identifier"];
                let others = old.iter().filter_map(Value::as_array).flatten();
                let others = others.filter(|package| package["identifier"] != *url).cloned();
                let packages = others.chain(value.as_array().into_iter().flatten().cloned());
                let packages = packages.collect();
                file.insert(key, packages);
            }
            _ => drop(file.entry(key).or_insert(value)),
        }
    }
    Ok(Value::Object(file))
}

fn short(text: &str) -> String {
    match text.chars().count() > DESCRIPTION_CHARS {
        true => text.chars().take(DESCRIPTION_CHARS - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_on_github_are_known() {
        assert_eq!(github("https://github.com/me/quick"), Some(("me", "quick")));
        assert_eq!(github("https://github.com/me/quick.git/"), Some(("me", "quick")));
        for other in
            ["https://github.com/me", "https://gitlab.com/me/quick", "", "https://github.com/a/b/c"]
        {
            assert_eq!(github(other), None, "{other}");
        }
    }

    #[test]
    fn a_description_fits_the_registry() {
        assert_eq!(short(&"ä".repeat(101)).chars().count(), 100);
        assert_eq!(short(&"ä".repeat(100)), "ä".repeat(100));
    }
}
