//! Adds the tools to a pool, with what plan mode needs.

use super::{Lists, People, PeopleParams, Planning, finish, plan_approval};
use crate::builtins::Builtins;
use tool_runtime::ToolPoolBuilder;
use tool_runtime::pool::Source;

impl Builtins {
    /// Adds the tools that ask people, plan and keep lists, and `finish`. A plan is approved by the approver of the
    /// pool, such as `tool_runtime::approvals::AskCaller` or `TerminalApprover`. Without permissions the
    /// tools for plan mode are hidden.
    ///
    /// ```
    /// use tool_runtime::approvals::AskCaller;
    /// use tool_runtime::policy::{PermissionMode, Permissions};
    /// use tool_runtime::prelude::*;
    /// use tool_runtime_builtins::people::PeopleParams;
    /// use tool_runtime_builtins::{Builtins, Workspace};
    ///
    /// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
    /// let params = PeopleParams::new().permissions(Permissions::new(PermissionMode::AcceptEdits));
    /// let builtins = Builtins::new(workspace).people(params);
    /// let pool = ToolPool::builder().install(builtins).approver(AskCaller::new()).build()?;
    /// assert!(pool.get("ExitPlanMode").is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn people(self, params: PeopleParams) -> Self {
        self.family(|builtins, pool| install(builtins, params, pool))
    }
}

fn install(builtins: &Builtins, params: PeopleParams, pool: ToolPoolBuilder) -> ToolPoolBuilder {
    let mut tools = builtins.tools(Ok(People::new(&params)));
    if builtins.is_offered::<People>("finish") {
        tools.push(finish(builtins.named("finish"), params.answer.as_ref()));
    }
    tools.extend(builtins.tools(Ok(Lists::new())));
    let reason = "no permissions; give them by `PeopleParams::permissions`";
    let permissions = params.permissions.clone().ok_or_else(|| reason.to_owned());
    tools.extend(builtins.tools(permissions.map(Planning::new)));
    let pool = pool.add_from(&Source::Custom, tools);
    match params.permissions {
        None => pool,
        Some(permissions) => {
            let approval = plan_approval(&builtins.named("ExitPlanMode"), permissions.clone());
            pool.policy(permissions).hook(approval)
        }
    }
}
