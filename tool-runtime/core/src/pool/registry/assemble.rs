//! A pool from specifications.

use super::{PoolConfig, Registry, RegistryError, ToolSpec};
use crate::pool::{Created, ToolPoolBuilder, WithToolsets, not_created};
use crate::tool::context::ToolContext;

impl<S> ToolPoolBuilder<S> {
    /// Adds the tools of specifications. They are created by `build`, which reports all failures.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// # use tool_runtime::pool::{Registry, ToolSpec};
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let error = ToolPool::builder().specs(&Registry::new(), &[ToolSpec::new("fs")]).build().await;
    /// assert!(error.unwrap_err().to_string().contains("`fs`: unknown name; nothing is registered"));
    /// # });
    /// ```
    pub fn specs(self, registry: &Registry, specs: &[ToolSpec]) -> ToolPoolBuilder<WithToolsets> {
        let (registry, specs) = (registry.clone(), specs.to_vec());
        self.pending(Box::new(|context| {
            Box::pin(async move { create(&registry, &specs, &context).await })
        }))
    }

    /// Adds the tools that a configuration names, and filters and transforms by it.
    pub fn config(self, registry: &Registry, config: PoolConfig) -> ToolPoolBuilder<WithToolsets> {
        let filtered = self.filter(config.filter());
        let transform =
            |builder: Self, (selector, transform)| builder.transform::<String>(selector, transform);
        config.transform.into_iter().fold(filtered, transform).specs(registry, &config.tools)
    }
}

async fn create(registry: &Registry, specs: &[ToolSpec], context: &ToolContext) -> Created {
    registry.resolve_in(specs, context).await.map_err(|error| match error {
        RegistryError::Specs(problems) => {
            problems.iter().map(|problem| not_created(&problem.name, &problem.reason)).collect()
        }
        other => vec![not_created("registry", &other)],
    })
}
