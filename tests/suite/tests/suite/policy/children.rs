//! Skills, sub-agents, agents, nested sessions and calls of tools never exceed the policy, the mode and the
//! restrictions of what they run in.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tool_runtime::agent::{AgentSpawner, SpawnRequest};
use tool_runtime::govern::{CallView, Decision, PolicyEngine};
use tool_runtime::matching::ToolPattern;
use tool_runtime::policy::{PermissionMode, Permissions};
use tool_runtime::prelude::*;
use tool_runtime::skills::SkillLibrary;
use tool_runtime_agent::{Agent, ScriptedModel, SubAgents};

const TOOLS: [&str; 4] = ["a", "b", "c", "d"];

/// A set of the tools, by bits.
type Set = u8;

fn names(set: Set) -> Vec<&'static str> {
    (0..4).filter(|bit| set >> bit & 1 == 1).map(|bit| TOOLS[bit as usize]).collect()
}

fn patterns(set: Set) -> Vec<ToolPattern> {
    names(set).iter().map(|name| name.parse().unwrap()).collect()
}

/// Denies some tools, asks about others, and allows the rest.
struct Rules {
    denied: Set,
    asked: Set,
}

impl PolicyEngine for Rules {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        match call.name() {
            name if names(self.denied).contains(&name) => Decision::deny("no"),
            name if names(self.asked).contains(&name) => Decision::ask("Sure?"),
            _ => Decision::allow(),
        }
    }
}

/// A pool and the tools that ran.
struct World {
    pool: ToolPool,
    permissions: Permissions,
    ran: Arc<Mutex<BTreeSet<&'static str>>>,
}

impl World {
    fn new(rules: Rules, is_approved: bool) -> Self {
        let ran = Arc::new(Mutex::new(BTreeSet::new()));
        let tool = |name: &'static str| {
            let ran = Arc::clone(&ran);
            Tool::builder(name, "Run.").handler(move || {
                ran.lock().unwrap().insert(name);
                async { "ran" }
            })
        };
        let permissions = Permissions::new(PermissionMode::Bypass).edits("a").unwrap();
        let builder =
            TOOLS.into_iter().fold(ToolPool::builder(), |pool, name| pool.add(tool(name)));
        let builder = builder.add(delegate()).add(through()).add(skills().tool());
        let builder = builder.policy(rules).policy(permissions.clone());
        let builder = if is_approved { builder.approver(super::yes) } else { builder };
        Self { pool: builder.build().unwrap(), permissions, ran }
    }

    fn take(&self) -> BTreeSet<&'static str> {
        std::mem::take(&mut *self.ran.lock().unwrap())
    }
}

/// Calls all tools.
fn script() -> ScriptedModel {
    let calls = TOOLS.map(|name| json!({ "name": name, "arguments": {} }));
    let script = json!([{ "calls": calls }, { "text": "Done." }]);
    ScriptedModel::from_json(&script.to_string()).unwrap()
}

/// Starts a sub-agent with some tools.
fn delegate() -> Tool {
    let tool = Tool::builder("delegate", "Delegate.").read_only(true).input_schema(json!({
        "type": "object", "properties": { "set": {}, "background": {} }
    }));
    tool.handler(|arguments: Map<String, Value>, context: ToolContext| async move {
        let agents = SubAgents::new(script());
        let set = arguments["set"].as_u64().unwrap_or_default() as Set;
        let request = SpawnRequest::new("Call all.").tools(patterns(set));
        let is_background = arguments["background"] == true;
        let request = if is_background { request.background() } else { request };
        Ok::<_, ToolError>(agents.spawn(request, &context).await?.await?.text)
    })
}

/// Calls all tools itself.
fn through() -> Tool {
    let tool = Tool::builder("through", "Call.").read_only(true);
    tool.handler(|_: Map<String, Value>, context: ToolContext| async move {
        context.call_all(TOOLS.map(|name| ToolCall::new(name, ""))).await.len().to_string()
    })
}

/// A skill for each set of tools.
fn skills() -> SkillLibrary {
    static ROOT: std::sync::LazyLock<std::path::PathBuf> = std::sync::LazyLock::new(|| {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("skills-children");
        drop(fs::remove_dir_all(&root));
        for set in 1..16 {
            let folder = root.join(format!("s{set}"));
            fs::create_dir_all(&folder).unwrap();
            let tools = names(set).join(", ");
            let front = format!("name: s{set}\ndescription: About it.\nallowed-tools: {tools}");
            fs::write(folder.join("SKILL.md"), format!("---\n{front}\n---\nDo it.")).unwrap();
        }
        root
    });
    SkillLibrary::load(&*ROOT)
}

#[derive(Clone, Copy, Debug)]
enum Child {
    SubAgent,
    Background,
    Skill,
    Agent,
    Session(PermissionMode),
    Nested,
}

fn child() -> impl Strategy<Value = Child> {
    prop_oneof![
        Just(Child::SubAgent),
        Just(Child::Background),
        Just(Child::Skill),
        Just(Child::Agent),
        mode().prop_map(Child::Session),
        Just(Child::Nested),
    ]
}

fn mode() -> impl Strategy<Value = PermissionMode> {
    use PermissionMode::{AcceptEdits, Bypass, Default, DontAsk, Plan};
    prop::sample::select(vec![AcceptEdits, Bypass, Default, DontAsk, Plan])
}

async fn call_all(pool: &ToolPool) {
    pool.call_all(TOOLS.map(|name| ToolCall::new(name, ""))).await;
}

/// Lets the child call all tools, with `set` as its own tools.
async fn run(world: &World, parent: &ToolPool, child: Child, set: Set) {
    let delegate = |is_background: bool| {
        ToolCall::json("delegate", json!({ "set": set, "background": is_background }))
    };
    match child {
        Child::SubAgent => drop(parent.call(delegate(false)).await),
        Child::Background => drop(parent.call(delegate(true)).await),
        Child::Nested => drop(parent.call(ToolCall::new("through", "")).await),
        Child::Agent => drop(Agent::new(script(), parent.clone()).run("Call all.").finish().await),
        Child::Session(mode) => {
            let session = parent.session();
            world.permissions.set_for(&session.pool().context(), Some(mode)).unwrap();
            call_all(session.pool()).await;
        }
        Child::Skill => {
            let call = ToolCall::json("Skill", json!({ "skill": format!("s{set}") }));
            if !parent.call(call).await.is_error() {
                call_all(parent).await;
            }
        }
    }
}

proptest! {
    #![proptest_config(crate::property::cases(200))]

    #[test]
    fn a_child_runs_no_tool_that_its_parent_may_not(
        denied in 0..16_u8,
        asked in 0..16_u8,
        is_approved: bool,
        parent_mode in prop::option::of(mode()),
        restricted in prop::option::of(1..16_u8),
        set in 1..16_u8,
        child in child(),
    ) {
        let world = World::new(Rules { denied, asked }, is_approved);
        let session = world.pool.session();
        let parent = session.pool();
        world.permissions.set_for(&parent.context(), parent_mode).unwrap();
        let others = ["delegate", "through", "Skill"].map(|name| name.parse().unwrap());
        let allowed = patterns(restricted.unwrap_or(15)).into_iter().chain(others);
        let _restriction = parent.restrict(allowed).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            call_all(parent).await;
            let of_parent = world.take();
            run(&world, parent, child, set).await;
            let of_child = world.take();
            prop_assert!(of_child.is_subset(&of_parent), "{of_parent:?} {of_child:?}");
            let own: BTreeSet<_> = match child {
                Child::SubAgent | Child::Background | Child::Skill => names(set).into_iter().collect(),
                Child::Agent | Child::Nested => TOOLS.into(),
                Child::Session(_) => return Ok(()),
            };
            // The child may do only what both may do. The tool of skills is not read-only.
            if parent_mode.is_none() || !matches!(child, Child::Skill) {
                prop_assert_eq!(of_child, &of_parent & &own);
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn the_mode_of_a_session_holds_for_its_agents_and_ends_with_it() {
    let world = World::new(Rules { denied: 0, asked: 0 }, false);
    let (planning, other) = (world.pool.session(), world.pool.session());
    let context = planning.pool().context();
    world.permissions.set_for(&context, Some(PermissionMode::Plan)).unwrap();
    Agent::new(script(), planning.pool().clone()).run("Call all.").finish().await.unwrap();
    assert_eq!(world.take(), BTreeSet::new());
    call_all(other.pool()).await;
    assert_eq!(world.take(), TOOLS.into());
    // A run has a session of its own, with a mode of its own.
    let permissions = world.permissions.clone();
    let run = Agent::new(script(), world.pool.clone()).run("Call all.").with_context(|context| {
        permissions.set_for(&context, Some(PermissionMode::AcceptEdits)).unwrap();
        context
    });
    run.finish().await.unwrap();
    assert_eq!(world.take(), ["a"].into());
    call_all(&world.pool).await;
    assert_eq!(world.take(), TOOLS.into());
    drop(planning);
    assert_eq!(world.permissions.mode(&context), PermissionMode::Bypass);
    let outside = world.permissions.set_for(&world.pool.context(), None).unwrap_err();
    assert!(outside.to_string().contains("open a session"), "{outside}");
}
