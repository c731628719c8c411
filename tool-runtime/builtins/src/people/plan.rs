//! Plan mode: the session only reads until a person has approved a plan.

use crate::builtins::{Family, Profile};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt;
use tool_runtime::__seam::hex;
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::policy::Permissions;
use tool_runtime::prelude::*;

/// Tools that begin and end plan mode. They change no more than the mode of the session.
pub struct Planning {
    permissions: Permissions,
}

/// The value that a call of `ExitPlanMode` has once a person has approved it: the plan of the model, unless the argument
/// has another name.
struct Approved(Option<String>);

#[toolset(
    prefix = "",
    read_only,
    destructive = false,
    idempotent,
    open_world = false,
    register = false
)]
impl Planning {
    /// Begin plan mode: until a person has approved your plan, tools that change something are denied. Use it before
    /// large or risky changes.
    #[tool(name = "EnterPlanMode", tags("specialist"), inline)]
    fn enter(&self, context: &ToolContext) -> Result<&'static str, ToolError> {
        match self.permissions.begin_plan(context) {
            Ok(true) => Ok(
                "plan mode began: only tools that read may run. Explore, then call `ExitPlanMode` with a plan, which \
                 a person approves",
            ),
            Ok(false) => Ok("plan mode began already; call `ExitPlanMode` with your plan"),
            Err(_) => Err(ToolError::user(
                "plan mode belongs to a session, and this call has none; describe your plan to the user instead",
            )),
        }
    }

    /// End plan mode with a plan, which a person approves or rejects. Rejected plans can be changed and proposed
    /// again.
    #[tool(name = "ExitPlanMode", tags("specialist"), visualize = plan_text)]
    async fn exit(
        &self,
        /// The plan, in Markdown: the steps, and how they are checked.
        #[arg(length = 1..=100_000)]
        plan: String,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
        if !self.permissions.is_planning(context) {
            return Err(ToolError::user("plan mode did not begin; call `EnterPlanMode` first"));
        }
        // Without it the hook did not run: the tool has another name, for instance.
        let Some(Approved(proposed)) = context.get::<Approved>() else {
            return Err(ToolError::user("no person has approved the plan, so plan mode continues"));
        };
        self.permissions.end_plan(context);
        let ended = "the plan is approved, and plan mode has ended; carry it out";
        Ok(match proposed {
            Some(proposed) if *proposed != plan => {
                format!("{ended}. The person has changed it:\n{plan}")
            }
            _ => ended.to_owned(),
        })
    }

    pub(crate) fn new(permissions: Permissions) -> Self {
        Self { permissions }
    }
}

impl Family for Planning {
    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => &["EnterPlanMode", "ExitPlanMode"],
            Profile::OpenHands => &[],
        }
    }
}

/// The text that the person sees.
fn plan_text(action: &PlanningExitAction) -> impl fmt::Display + use<> {
    action.plan.clone()
}

/// Asks the approver of the pool about each plan.
pub(crate) fn approval(tool: &str, permissions: Permissions) -> Hook {
    Hook::before(tool, move |call: HookCall| {
        let is_planning = permissions.is_planning(call.context());
        async move {
            if !is_planning {
                return Before::proceed();
            }
            let arguments = call.parse::<Value>().unwrap_or_default();
            let plan = arguments["plan"].as_str().map(str::to_owned);
            // An answer that is remembered is about the same question, and so about the same plan.
            let digest = Sha256::digest(plan.as_deref().unwrap_or_default());
            let id = hex(&digest[..4]);
            let question = Before::ask(format!("Carry out this plan? (plan {id})"));
            question.provide(Approved(plan))
        }
    })
}

impl Toolset for Planning {
    type Params = ();

    /// The permissions are state of the pool.
    async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
        let permissions = context.get::<Permissions>().cloned();
        let missing = || ToolError::user("no permissions; write `.state(permissions)` on the pool");
        permissions.map(Self::new).ok_or_else(missing)
    }
}
