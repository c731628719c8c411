//! The assembled set of tools: builder, filters, snapshots, restrictions, changes; pools from configurations.

#[doc(inline)]
pub use tool_runtime_core::pool::{
    AbsentSource, ConfigError, DeclarationReport, DeclarationStatus, DeclaredTools, Filter,
    PoolChange, PoolChanges, PoolConfig, PoolError, PoolExtension, PoolProblem, PoolReport,
    PoolSession, Registry, RegistryError, Restriction, Selector, SelectorError, Snapshot, Source,
    SpecProblem, ToolFactory, ToolPool, ToolPoolBuilder, ToolReport, ToolSpec, ToolStatus, Tools,
    WithToolsets, WithoutToolsets,
};
