//! A pool from specifications.

use super::{PoolConfig, Registry, RegistryError, ToolSpec};
use crate::pool::{PoolProblem, Source, ToolPoolBuilder};

impl ToolPoolBuilder {
    /// Makes the tools of specifications and adds them. Problems are reported by
    /// [`Self::build`], with everything else.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// # use tool_runtime::{Registry, ToolSpec};
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let error = ToolPool::builder().specs(&Registry::new(), &[ToolSpec::new("fs")]).await.build();
    /// assert!(error.unwrap_err().to_string().contains("`fs`: unknown name; nothing is registered"));
    /// # });
    /// ```
    #[must_use = "a builder adds to what it returns"]
    pub async fn specs(self, registry: &Registry, specs: &[ToolSpec]) -> Self {
        match registry.resolve_in(specs, &self.state_context()).await {
            Ok(tools) => self.add_from(&Source::Custom, tools),
            Err(RegistryError::Specs(problems)) => {
                let problems = problems.into_iter().map(|problem| PoolProblem::Unmade {
                    name: problem.name,
                    reason: problem.reason,
                });
                self.with_problems(problems)
            }
            Err(other) => {
                let (name, reason) = ("registry".to_owned(), other.to_string());
                self.with_problems([PoolProblem::Unmade { name, reason }])
            }
        }
    }

    /// Makes the tools that a configuration names, and filters by it.
    #[must_use = "a builder adds to what it returns"]
    pub async fn config(self, registry: &Registry, config: PoolConfig) -> Self {
        let filter = config.filter();
        self.filter(filter).specs(registry, &config.tools).await
    }
}
