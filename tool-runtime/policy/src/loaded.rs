//! The policies of a file or a folder.

use crate::folder::PolicyFolder;
use crate::policy::Policy;
use crate::read::PolicyError;
use std::path::Path;
use tool_runtime_core::govern::PolicyEngine;
use tool_runtime_core::pool::ToolPool;

/// The policies of a path.
pub(crate) enum Loaded {
    File(Policy),
    Folder(PolicyFolder),
}

impl Loaded {
    /// # Errors
    /// All mistakes.
    pub(crate) fn from_path(path: &Path) -> Result<Self, PolicyError> {
        match path.is_dir() {
            true => PolicyFolder::from_folder(path).map(Self::Folder),
            false => Policy::from_file(path).map(Self::File),
        }
    }

    pub(crate) fn engine(&self) -> &dyn PolicyEngine {
        match self {
            Self::File(policy) => policy,
            Self::Folder(folder) => folder,
        }
    }

    pub(crate) fn policies(&self) -> Box<dyn Iterator<Item = &Policy> + '_> {
        match self {
            Self::File(policy) => Box::new(std::iter::once(policy)),
            Self::Folder(folder) => Box::new(folder.policies()),
        }
    }

    /// What is about no tool, resource or prompt of a pool, with the name of the policy if there are several.
    pub(crate) fn unused_patterns(&self, pool: &ToolPool) -> Vec<String> {
        let of_policy = |policy: &Policy| {
            let unused = policy.unused_patterns(pool).into_iter();
            let named = |text: String| match self {
                Self::File(_) => text,
                Self::Folder(_) => format!("{}: {text}", policy.name()),
            };
            unused.map(named).collect::<Vec<_>>()
        };
        self.policies().flat_map(of_policy).collect()
    }
}
