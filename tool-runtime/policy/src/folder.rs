//! A folder of policies: one file for each caller, and one for all.

use crate::policy::Policy;
use crate::read::{Format, PolicyError, PolicyProblem};
use crate::rule::Rule;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tool_runtime_core::govern::{Approvers, CallView, Decision, PolicyEngine};
use tool_runtime_core::tool::ToolDefinition;
use tool_runtime_core::vocabulary::Principal;

/// The name of the file whose rules hold for all.
const GLOBAL: &str = "_global";

/// A folder of policies: `ada.yaml` for the caller `ada`, `_global.yaml` for all. Files of other
/// kinds, hidden files and subfolders are ignored.
///
/// The rules of `_global` are merged into the policy of each caller, by priority; priorities and ids
/// must not repeat. A caller without a file has the rules of `_global`, or may do nothing.
#[derive(Debug)]
pub struct PolicyFolder {
    global: Option<Policy>,
    callers: BTreeMap<String, Policy>,
}

impl PolicyFolder {
    /// Reads a folder.
    ///
    /// # Errors
    /// The folder cannot be read or has no policies, or all mistakes of all files.
    pub fn from_folder(path: impl AsRef<Path>) -> Result<Self, PolicyError> {
        let path = path.as_ref();
        let files = files(path)?;
        let mut problems = Vec::new();
        let mut policies = BTreeMap::new();
        for (name, file) in &files {
            match Policy::from_file(file) {
                Ok(policy) => drop(policies.insert(name.clone(), policy)),
                Err(error) => problems.extend(error.into_problems()),
            }
        }
        let global = policies.remove(GLOBAL);
        let mut callers = BTreeMap::new();
        for (name, policy) in policies {
            match (&global, files.get(GLOBAL)) {
                (Some(_), Some(file)) => match Policy::from_file(file) {
                    Ok(shared) => {
                        let merged = merged(policy, shared, &mut problems);
                        callers.insert(name, merged);
                    }
                    Err(error) => problems.extend(error.into_problems()),
                },
                _ => drop(callers.insert(name, policy)),
            }
        }
        match problems.is_empty() {
            true => Ok(Self { global, callers }),
            false => Err(PolicyError::new(problems)),
        }
    }

    /// The policy of a caller.
    pub(crate) fn for_principal(&self, principal: &Principal) -> Option<&Policy> {
        let own = match principal.is_anonymous() {
            true => None,
            false => self.callers.get(principal.id()),
        };
        own.or(self.global.as_ref())
    }

    pub(crate) fn policies(&self) -> impl Iterator<Item = &Policy> {
        self.global.iter().chain(self.callers.values())
    }

    pub(crate) fn policies_mut(&mut self) -> impl Iterator<Item = &mut Policy> {
        self.global.iter_mut().chain(self.callers.values_mut())
    }
}

impl PolicyEngine for PolicyFolder {
    fn questions(&self) -> Vec<(String, Approvers)> {
        self.policies().flat_map(PolicyEngine::questions).collect()
    }

    fn reads_risk(&self) -> bool {
        self.policies().any(PolicyEngine::reads_risk)
    }

    fn reads_files(&self) -> bool {
        self.policies().any(PolicyEngine::reads_files)
    }

    fn decide(&self, call: &CallView<'_>) -> Decision {
        match self.for_principal(call.principal()) {
            Some(policy) => policy.decide(call),
            None => Decision::deny("no policy applies to this caller; ask for one"),
        }
    }

    fn visible(&self, tool: &ToolDefinition, principal: &Principal) -> bool {
        self.for_principal(principal).is_none_or(|policy| policy.visible(tool, principal))
    }
}

/// The policy files of a folder by the name of their caller.
fn files(folder: &Path) -> Result<BTreeMap<String, PathBuf>, PolicyError> {
    let wrong = |path: &Path, text: String, help: &str| {
        let (file, key, help) = (Some(path.to_owned()), String::new(), help.to_owned());
        PolicyError::new(vec![PolicyProblem { file, line: None, key, text, help }])
    };
    let unreadable = |error: std::io::Error| {
        wrong(folder, format!("the folder cannot be read: {error}"), "check its path and rights")
    };
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        let Some(name) = name.filter(|name| !name.starts_with('.')) else { continue };
        if Format::from_path(&path).is_none() {
            continue;
        }
        // A file that is left out would loosen the policy.
        match std::fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => continue,
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => return Err(wrong(&path, "it is not a file".to_owned(), "remove it")),
            Err(error) => {
                let text = format!("the file cannot be read: {error}");
                return Err(wrong(&path, text, "check its rights and the target of the link"));
            }
        }
        if let Some(other) = files.insert(name, path.clone()) {
            let text = format!("`{}` is of the same caller", other.display());
            return Err(wrong(&path, text, "remove one of the two"));
        }
    }
    if files.is_empty() {
        let help = "add `_global.yaml`, or a file for each caller";
        return Err(wrong(folder, "the folder has no policies".to_owned(), help));
    }
    Ok(files)
}

/// The rules of both, and the default of the first.
fn merged(mut own: Policy, shared: Policy, problems: &mut Vec<PolicyProblem>) -> Policy {
    for rule in &shared.rules {
        let is_repeated =
            |it: &&Rule| it.id == rule.id || it.priority == rule.priority && rule.priority != 0;
        if let Some(repeated) = own.rules.iter().find(is_repeated) {
            problems.push(PolicyProblem {
                file: own.text.as_ref().and_then(|text| text.file.clone()),
                line: own.line(repeated),
                key: format!("rules[{}]", repeated.position),
                text: format!("rule `{}` of `_global` has the same id or priority", rule.id),
                help: "give the rule an id and a priority of its own".to_owned(),
            });
        }
    }
    // Of equal priorities, those for all come first.
    let name: Arc<str> = shared.name.into();
    let shared_rules = shared.rules.into_iter();
    let shared_rules =
        shared_rules.map(|rule| Rule { merged_from: Some(Arc::clone(&name)), ..rule });
    own.rules.splice(..0, shared_rules);
    own.rules.sort_by_key(|rule| rule.priority);
    own
}
