//! The tool `Skill`: nesting, restrictions, and the end of skills.

mod agents;
mod servers;

use super::support::{class, error_text, text};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use tool_runtime::matching::MatchAs;
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;
use tool_runtime::shell::ShellMatcher;
use tool_runtime::skills::{SkillLibrary, Skills};
use tool_runtime::testing::TestClient;

/// A root of skills, in a folder of the test's name.
pub(super) struct Root(PathBuf);

impl Root {
    fn new(test: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("skills-{test}"));
        drop(fs::remove_dir_all(&root));
        fs::create_dir_all(&root).unwrap();
        Self(root)
    }

    /// Adds a skill with further lines of front matter.
    fn skill(self, name: &str, keys: &str) -> Self {
        let folder = self.0.join(name);
        fs::create_dir_all(&folder).unwrap();
        let front = format!("name: {name}\ndescription: About {name}.\n{keys}");
        fs::write(folder.join("SKILL.md"), format!("---\n{front}\n---\nDo {name}.")).unwrap();
        self
    }

    fn load(&self) -> SkillLibrary {
        let library = SkillLibrary::load(&self.0);
        assert_eq!(library.report().iter().map(ToString::to_string).collect::<String>(), "");
        library
    }
}

fn tool(name: &str) -> Tool {
    let name = name.to_owned();
    Tool::builder(name.clone(), "Answer.").handler(move || {
        let name = name.clone();
        async move { name }
    })
}

fn bash() -> Tool {
    Tool::builder("Bash", "Run a command.")
        .input_schema(json!({
            "type": "object",
            "properties": { "command": { "type": "string" } },
            "required": ["command"],
        }))
        .match_as("command", MatchAs::Shell)
        .handler(|_: serde_json::Map<String, serde_json::Value>| async { "ran" })
}

fn pool(library: &SkillLibrary) -> ToolPool {
    ToolPool::builder()
        .add(tool("Read"))
        .add(tool("Write"))
        .add(bash())
        .add(library.tool())
        .argument_matcher(ShellMatcher)
        .build()
        .unwrap()
}

fn names(pool: &ToolPool) -> Vec<String> {
    pool.tools().iter().map(|tool| tool.name().to_owned()).collect()
}

async fn load(pool: &ToolPool, name: &str) -> String {
    text(pool, "Skill", &json!({ "skill": name }).to_string()).await
}

async fn not_loaded(pool: &ToolPool, name: &str) -> String {
    error_text(pool, "Skill", &json!({ "skill": name }).to_string()).await
}

async fn end(pool: &ToolPool) -> String {
    text(pool, "Skill", r#"{"end": true}"#).await
}

const ALL: [&str; 4] = ["Bash", "Read", "Skill", "Write"];

#[tokio::test]
async fn a_model_loads_a_skill_and_ends_it() {
    let root = Root::new("model").skill("git", "allowed-tools: Bash(git *), Read");
    let session = pool(&root.load()).session();
    let pool = session.pool();
    let folder = root.0.join("git");
    assert_eq!(
        text(pool, "Skill", r#"{"skill": "git", "arguments": "a b"}"#).await,
        format!(
            "Base directory of this skill: {}\n\nDo git.\n\nARGUMENTS: a b\n\nThe skill `git` is active until you call `Skill` with {{\"end\": true}}. Until then, the tools are limited to `Bash(git *)`, `Read`.",
            folder.display()
        )
    );
    assert_eq!(names(pool), ["Bash", "Read", "Skill"]);
    assert_eq!(text(pool, "Bash", r#"{"command": "git status"}"#).await, "ran");
    error_text(pool, "Bash", r#"{"command": "rm -r ."}"#).await;
    assert_eq!(class(&pool.call(ToolCall::new("Write", "")).await), ErrorClass::Denied);
    assert_eq!(end(pool).await, "The skill `git` has ended.");
    assert_eq!(names(pool), ALL);
    assert_eq!(error_text(pool, "Skill", r#"{"end": true}"#).await, "no skill is active");
}

#[tokio::test]
async fn a_nested_skill_only_narrows() {
    let root = Root::new("nested")
        .skill("outer", "allowed-tools: Read")
        .skill("inner", "allowed-tools: Bash, Write")
        .skill("both", "allowed-tools: [Read, Write]\ndisallowed-tools: Write");
    let session = pool(&root.load()).session();
    let pool = session.pool();
    load(pool, "outer").await;
    load(pool, "inner").await;
    assert_eq!(names(pool), ["Skill"]);
    assert_eq!(end(pool).await, "The skill `inner` has ended; `outer` is still active.");
    assert_eq!(names(pool), ["Read", "Skill"]);
    load(pool, "both").await;
    assert_eq!(names(pool), ["Read", "Skill"]);
    end(pool).await;
    end(pool).await;
    assert_eq!(names(pool), ALL);
}

#[tokio::test]
async fn nesting_is_limited_and_a_skill_cannot_nest_in_itself() {
    let mut root = Root::new("depth").skill("text", "");
    for name in ["a", "b", "c", "d", "e"] {
        root = root.skill(name, "disallowed-tools: Write");
    }
    let session = pool(&root.load()).session();
    let pool = session.pool();
    load(pool, "a").await;
    assert_eq!(
        not_loaded(pool, "a").await,
        "the skill `a` is active already; its text stays valid, or end it before you load it again"
    );
    for name in ["b", "c", "d"] {
        load(pool, name).await;
    }
    assert_eq!(
        not_loaded(pool, "e").await,
        "4 skills are active already (a, b, c, d); end one before you load `e`"
    );
    // Text alone needs no scope.
    for _ in 0..2 {
        assert!(load(pool, "text").await.ends_with("\n\nDo text."));
    }
    end(pool).await;
    load(pool, "e").await;
}

#[tokio::test]
async fn errors_name_a_remedy() {
    let root = Root::new("wrong")
        .skill("review", "")
        .skill("mine", "disable-model-invocation: true")
        .skill("trap", "disallowed-tools: '*'");
    let session = pool(&root.load()).session();
    let pool = session.pool();
    assert_eq!(not_loaded(pool, "reviw").await, "unknown skill `reviw`; did you mean `review`?");
    assert_eq!(
        not_loaded(pool, "deploy").await,
        "unknown skill `deploy`; the skills are `mine`, `review`, `trap`"
    );
    assert_eq!(not_loaded(pool, "mine").await, "the skill `mine` can only be loaded by the user");
    assert_eq!(
        not_loaded(pool, "trap").await,
        "the skill `trap` denies the tool `Skill`, which would have to end it; remove `Skill` from `disallowed-tools`"
    );
    assert_eq!(names(pool), ALL);
    assert_eq!(error_text(pool, "Skill", "{}").await, "give the name of a `skill`, or `end`: true");
    assert_eq!(
        error_text(pool, "Skill", r#"{"skill": "review", "end": true}"#).await,
        "give either `skill` or `end`, not both"
    );
}

#[tokio::test]
async fn the_program_loads_skills_that_a_model_cannot_end() {
    let root = Root::new("program")
        .skill("outer", "allowed-tools: Read, Skill")
        .skill("inner", "allowed-tools: Bash")
        .skill("alone", "allowed-tools: Read");
    let library = root.load();
    let pool = pool(&library);
    let agent = pool.scope();
    let skills = Skills::new(&library, &agent);
    let outer = skills.load("outer", "x").await.unwrap();
    assert!(outer.text().ends_with("Do outer.\n\nARGUMENTS: x"));
    assert_eq!(names(&agent), ["Read", "Skill"]);
    assert_eq!(
        error_text(&agent, "Skill", r#"{"end": true}"#).await,
        "the skill `outer` was loaded by the program, which will end it"
    );
    load(&agent, "inner").await;
    assert_eq!(skills.active(), ["outer", "inner"]);
    assert_eq!(names(&pool), ALL);
    // The guard ends nested skills, too.
    drop(outer);
    assert_eq!((skills.active().len(), names(&agent).len()), (0, 4));
    let alone = skills.load("alone", "").await.unwrap();
    assert_eq!(names(&agent), ["Read"]);
    skills.end_all().await;
    assert_eq!(names(&agent), ALL);
    drop(alone);
}

#[tokio::test]
async fn sessions_have_separate_skills() {
    let root = Root::new("sessions").skill("read", "allowed-tools: Read");
    let pool = pool(&root.load());
    let (one, other) = (pool.session(), pool.session());
    load(one.pool(), "read").await;
    assert_eq!(names(one.pool()), ["Read", "Skill"]);
    assert_eq!(
        (names(other.pool()), names(&pool)),
        (names(&pool), ALL.map(str::to_owned).to_vec())
    );
    // A nested handle is restricted too, and has a separate stack of skills.
    let nested = one.pool().scope();
    load(&nested, "read").await;
    end(&nested).await;
    assert_eq!(names(&nested), ["Read", "Skill"]);
    let pool = one.pool().clone();
    one.close().await;
    assert_eq!(names(&pool), ALL);
}

#[tokio::test]
async fn a_handle_that_others_share_is_not_narrowed() {
    let root = Root::new("shared").skill("read", "allowed-tools: Read");
    let library = root.load();
    let pool = pool(&library);
    let here =
        "skills cannot be loaded here: others use these tools through the same handle of the pool";
    assert_eq!(not_loaded(&pool, "read").await, here);
    let client = TestClient::builder(&pool).connect().await;
    let result = client.call("Skill", json!({ "skill": "read" })).await;
    assert_eq!(result.unwrap().to_text(), here);
    assert_eq!(names(&pool), ALL);
}

#[tokio::test]
async fn reports_name_declarations_without_effect() {
    let root = Root::new("reports").skill("lost", "allowed-tools: Raed, Read");
    let library = root.load();
    let skills = Skills::new(&library, &pool(&library));
    let report = skills.report().remove(0);
    assert_eq!(
        report.to_string(),
        format!(
            "{}: `Raed` allows nothing: the pool has no tool `Raed`; did you mean `Read`?\n",
            root.0.join("lost/SKILL.md").display()
        )
    );
}

#[tokio::test]
async fn a_new_tool_lists_reloaded_skills() {
    let root = Root::new("reloaded").skill("one", "");
    let library = root.load();
    let pool = pool(&library);
    let session = pool.session();
    let root = root.skill("two", "");
    library.reload();
    load(session.pool(), "two").await;
    let listed =
        || pool.get("Skill").unwrap().definition().description.contains("- two: About two.");
    assert!(!listed());
    pool.add_tools(&Source::Custom, [library.tool()]).unwrap();
    assert!(listed());
    drop(root);
}
