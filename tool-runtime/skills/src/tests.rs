//! Reading of folders: names, keys, limits, reports.

use crate::{SkillLibrary, SkillStatus};
use proptest::prelude::*;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tool_runtime::{ToolCall, ToolPool};

/// A folder with skills, removed in the end.
struct Root(PathBuf);

impl Root {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tool-runtime-skills-{}-{count}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(&root).unwrap();
        Self(root)
    }

    fn with(self, folder: &str, file: &str) -> Self {
        let folder = self.0.join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("SKILL.md"), file).unwrap();
        self
    }

    fn path(&self) -> &Path {
        &self.0
    }

    fn load(&self) -> SkillLibrary {
        SkillLibrary::load(self.path())
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// The report of one file, without the path of the root.
fn report(file: &str) -> (SkillStatus, String) {
    let root = Root::new().with("demo", file);
    let report = root.load().report().remove(0);
    let text = report.to_string().replace(&format!("{}/", root.path().display()), "");
    (report.status, text)
}

fn front(keys: &str) -> String {
    format!("---\nname: demo\ndescription: Show.\n{keys}\n---\nText.")
}

#[track_caller]
fn assert_quarantined(file: &str, expected: &str) {
    assert_eq!(report(file), (SkillStatus::Quarantined, format!("demo/SKILL.md{expected}\n")));
}

#[track_caller]
fn assert_warned(file: &str, expected: &str) {
    assert_eq!(report(file), (SkillStatus::Usable, format!("demo/SKILL.md{expected}\n")));
}

#[test]
fn keys_of_the_public_format_have_no_findings() {
    let keys = "license: MIT\ncompatibility: any\nmetadata: { author: me }\nversion: 1\nmodel: x\nargument-hint: '[file]'\nuser-invocable: false\nhooks: {}\nwhen_to_use: Often.";
    assert_eq!(report(&front(keys)), (SkillStatus::Usable, String::new()));
    let root = Root::new().with("demo", &front(keys));
    assert_eq!(root.load().get("demo").unwrap().front_matter()["metadata"]["author"], "me");
}

#[test]
fn tools_are_declared_as_text_or_as_a_list() {
    for value in
        ["Read, Bash(git *)", "Read Bash(git *)", "[Read, Bash(git *)]", "\n- Read\n- Bash(git *)"]
    {
        let root = Root::new().with("demo", &front(&format!("allowed-tools: {value}")));
        let demo = root.load().get("demo").unwrap();
        let names: Vec<&str> =
            demo.tools().allow.iter().flatten().map(|pattern| pattern.as_str()).collect();
        assert_eq!(names, ["Read", "Bash(git *)"], "{value}");
    }
    let root = Root::new().with("demo", &front("disallowed-tools: Write"));
    let demo = root.load().get("demo").unwrap();
    assert!(demo.tools().allow.is_none() && demo.tools().deny.len() == 1);
}

#[test]
fn an_empty_list_allows_nothing_and_a_missing_value_is_a_problem() {
    let root = Root::new().with("demo", &front("allowed-tools: []"));
    assert!(root.load().get("demo").unwrap().tools().allow.as_ref().unwrap().is_empty());
    for value in ["", "7", "{ a: b }", "[1]"] {
        let (status, text) = report(&front(&format!("allowed-tools: {value}")));
        assert_eq!(status, SkillStatus::Quarantined);
        assert!(
            text.starts_with(
                "demo/SKILL.md:4: `allowed-tools` is neither a string nor a list of strings; write"
            ),
            "{text}"
        );
    }
}

#[test]
fn unknown_keys_are_warnings_with_a_suggestion() {
    assert_warned(
        &front("licence: MIT"),
        ":4: `licence` is not a known key; did you mean `license`?",
    );
    assert_warned(
        &front("model: x\ncolour: red"),
        ":5: `colour` is not a known key; put your own below `metadata`",
    );
}

#[test]
fn a_misspelt_list_of_tools_does_not_allow_everything() {
    assert_quarantined(
        &front("allowed_tools: Read"),
        ":4: `allowed_tools` is not a known key and would restrict nothing; write `allowed-tools`",
    );
    assert_quarantined(
        &front("disalowed-tools: Read"),
        ":4: `disalowed-tools` is not a known key and would restrict nothing; write `disallowed-tools`",
    );
}

#[test]
fn required_keys_are_checked() {
    assert_quarantined(
        "---\nname: demo\n---\n",
        ": it has no `description`; write `description: WHAT IT DOES AND WHEN TO USE IT`",
    );
    assert_quarantined(
        "---\ndescription: Show.\nname:\n---\n",
        ":3: `name` is empty; write `name: NAME`",
    );
    assert_quarantined(
        "---\ndescription: Show.\nname: 7\n---\n",
        ":3: `name` is not text; quote it",
    );
}

#[test]
fn names_are_checked() {
    let named = |name: &str| format!("---\nname: {name}\ndescription: Show.\n---\n");
    assert_quarantined(
        &named("de/mo"),
        ":2: `de/mo` is not a valid name: write lower-case letters, digits and hyphens",
    );
    let long = "a".repeat(65);
    assert_quarantined(
        &named(&long),
        &format!(":2: `{long}` is not a valid name: it has 65 characters, and 64 are allowed"),
    );
    assert_warned(
        &named("other"),
        ":2: the folder is `demo` and the name is `other`; rename one of them, other programs require the same",
    );
}

#[test]
fn names_of_other_programs_are_usable() {
    for name in [
        "LangChain_RAG",
        "PDF Processing",
        "a--b",
        "plugin:review",
        "v1.2",
        "\u{43e}\u{431}\u{437}\u{43e}\u{440}",
    ] {
        let root =
            Root::new().with("demo", &format!("---\nname: {name}\ndescription: Show.\n---\n"));
        let library = root.load();
        assert!(library.get(name).is_some(), "{name}");
        let warning = &library.report()[0].warnings[0];
        let expected = format!("the name `{name}` works here, but not in other programs: ");
        assert!(warning.text.starts_with(&expected), "{warning:?}");
    }
    let root = Root::new().with("unnamed", "---\ndescription: Show.\n---\n");
    assert!(root.load().get("unnamed").is_some());
}

#[test]
fn an_unquoted_colon_in_a_description_is_read_as_text() {
    let file = "---\nname: demo\ndescription: Run tasks. Triggers on: writing\n---\nText.";
    assert_warned(
        file,
        ":3: `description` needs quotation marks in YAML, and was read as if it had some; add them",
    );
    let root = Root::new().with("demo", file);
    assert_eq!(root.load().get("demo").unwrap().description(), "Run tasks. Triggers on: writing");
}

#[test]
fn a_number_sign_in_a_description_is_read_as_text() {
    for description in
        ["Fix issues like #12 and PR #7: use it", "#hashtags and #more", "In C# and #12"]
    {
        let file = format!("---\nname: demo\ndescription: {description}\n---\nText.");
        let library = Root::new().with("demo", &file).load();
        assert_eq!(library.get("demo").unwrap().description(), description);
    }
    let commented = "---\nname: demo # comment\ndescription: Text # comment\n---\nText.";
    let root = Root::new().with("demo", commented);
    assert_eq!(root.load().get("demo").unwrap().description(), "Text");
}

#[test]
fn skills_of_one_name_and_files_of_almost_the_name_are_reported() {
    let root = Root::new().with("a", &front("")).with("b", &front("")).with("c", "");
    fs::rename(root.path().join("c/SKILL.md"), root.path().join("c/Skill.md")).unwrap();
    let reports = root.load().report();
    let texts: Vec<String> = reports.iter().map(ToString::to_string).collect();
    assert!(
        texts[1].contains("b/SKILL.md: another skill of the root has the same name"),
        "{texts:?}"
    );
    assert!(texts[2].ends_with("c: the file is not named `SKILL.md`; rename it\n"), "{texts:?}");
}

#[test]
fn skills_in_folders_of_folders_are_found() {
    let pdf = front("").replace("demo", "pdf");
    let root = Root::new()
        .with("documents/office/pdf", &pdf)
        .with("demo", &front(""))
        .with("demo/examples/part", &front("").replace("demo", "part"))
        .with(".hidden/secret", &front("").replace("demo", "secret"));
    let names: Vec<String> =
        root.load().skills().iter().map(|skill| skill.name().to_owned()).collect();
    assert_eq!(names, ["demo", "pdf"]);
    let itself = SkillLibrary::load(root.path().join("demo"));
    assert_eq!(itself.get("demo").unwrap().text(), "Text.");
}

#[cfg(unix)]
#[test]
fn a_folder_that_links_to_itself_ends() {
    let root = Root::new().with("group/demo", &front(""));
    std::os::unix::fs::symlink(root.path(), root.path().join("group/again")).unwrap();
    assert_eq!(root.load().skills().len(), 1);
}

#[test]
fn a_skill_that_is_left_out_is_in_the_report_of_the_pool() {
    let root = Root::new().with("demo", "no front matter").with("more", &front(""));
    let pool = tool_runtime_core::pool::ToolPool::builder().add(root.load().tool()).build();
    let report = pool.unwrap().report().to_string();
    let expected = format!(
        "can use `{}` (absent): line 1: it has no front matter; ",
        root.path().join("demo/SKILL.md").display()
    );
    assert!(report.contains(&expected), "{report}");
}

#[test]
fn a_model_that_loads_a_skill_that_is_left_out_learns_why() {
    let root = Root::new()
        .with("demo", "no front matter")
        .with("more", &front("context: [").replace("demo", "more"));
    for folder in ["demo", "more"] {
        let error = root.load().find(folder).unwrap_err().to_string();
        assert!(error.starts_with(&format!("the skill `{folder}` is left out: /")), "{error}");
        assert!(error.contains("/SKILL.md:"), "{error}");
    }
    let other = root.load().find("other").unwrap_err().to_string();
    assert!(other.starts_with("unknown skill `other`"), "{other}");
}

#[test]
fn malformed_declarations_are_warnings() {
    assert_warned(
        &front("allowed-tools: Read Bash(git"),
        ":4: `Bash(git` in `allowed-tools` has no effect: the parenthesis is not closed; write `Bash(PATTERN)`",
    );
}

#[test]
fn findings_of_servers_have_the_line_of_their_key() {
    let servers = "mcpServers:\n  fs:\n    comand: npx";
    let (status, text) = report(&front(servers));
    assert_eq!(status, SkillStatus::Quarantined);
    assert!(text.contains("demo/SKILL.md:6: `mcpServers.fs.comand`: "), "{text}");
    assert!(text.contains("did you mean `command`?"), "{text}");
    let closed = "allowed-tools: Read\nmcpServers: { fs: { command: npx } }";
    assert_warned(
        &front(closed),
        ":5: `allowed-tools` allows no tool of the server `fs`; add `mcp__fs`",
    );
    let open = "allowed-tools: Read mcp__fs__list\nmcpServers: { fs: { command: npx } }";
    assert_eq!(report(&front(open)), (SkillStatus::Usable, String::new()));
}

#[test]
fn secrets_of_servers_are_not_shown() {
    let keys = "mcpServers: { fs: { command: npx, env: { TOKEN: 8fQm2x } } }";
    let root = Root::new().with("demo", &front(keys));
    let demo = root.load().get("demo").unwrap();
    assert!(!format!("{demo:?} {:?}", demo.front_matter()).contains("8fQm2x"));
    assert!(demo.servers().servers.contains_key("fs"));
}

#[test]
fn one_bad_skill_does_not_affect_others() {
    let root = Root::new().with("a", "no front matter").with("demo", &front(""));
    fs::write(root.path().join("README.md"), "not a folder").unwrap();
    fs::create_dir_all(root.path().join("empty")).unwrap();
    let library = root.load();
    assert_eq!(library.skills().len(), 1);
    assert_eq!(library.report().len(), 2);
    assert_eq!(library.report()[0].problems[0].line, Some(1));
}

#[test]
fn files_are_bounded_and_text() {
    assert_quarantined(
        &front(&"#".repeat(300_000)),
        ": it is larger than 256 KiB; move parts of it to files beside it",
    );
    let root = Root::new().with("demo", "");
    fs::write(root.path().join("demo/SKILL.md"), b"---\xff").unwrap();
    assert!(
        root.load().report()[0]
            .to_string()
            .ends_with(": its text is not UTF-8; save it as UTF-8\n")
    );
}

#[test]
fn the_first_root_wins() {
    let (first, second) =
        (Root::new().with("demo", &front("")), Root::new().with("demo", &front("")));
    let library = SkillLibrary::loader().root(first.path()).root(second.path()).load();
    let of_first = first.path().join("demo/SKILL.md");
    assert_eq!(library.get("demo").unwrap().file(), of_first);
    assert_eq!(library.report()[1].status, SkillStatus::Shadowed { by: of_first });
}

#[test]
fn reload_reads_new_and_changed_skills() {
    let root = Root::new().with("demo", &front(""));
    let library = root.load();
    let root = root
        .with("demo", &front("").replace("Text.", "Other."))
        .with("more", &front("").replace("demo", "more"));
    assert_eq!(library.get("demo").unwrap().text(), "Text.");
    library.reload();
    assert_eq!(library.get("demo").unwrap().text(), "Other.");
    assert!(library.get("more").is_some());
    drop(root);
}

#[test]
fn the_tool_lists_the_skills_that_models_may_load() {
    let root = Root::new()
        .with("demo", &front(""))
        .with("secret", &front("disable-model-invocation: true").replace("demo", "secret"))
        .with("other", &front("disable-model-invocation: yes").replace("demo", "other"));
    let tool = root.load().tool();
    assert!(tool.definition().description.ends_with("Skills:\n- demo: Show."));
}

/// Claude Code's tool has `args`.
#[tokio::test]
async fn arguments_are_accepted_as_args_and_not_advertised_so() {
    let root = Root::new().with("demo", &front("").replace("Text.", "Fix $ARGUMENTS."));
    let library = root.load();
    let pool = ToolPool::builder().add(library.tool()).repair().build().unwrap();
    let session = pool.session();
    for (name, noted) in [("arguments", false), ("args", true)] {
        let call = json!({ "skill": "demo", name: "issue 7" });
        let result = session.pool().call(ToolCall::new("Skill", call.to_string())).await;
        let text = result.observation().to_text();
        assert!(text.ends_with("Fix issue 7."), "{text}");
        let is_noted = result.observation().meta().is_some();
        assert_eq!(is_noted, noted, "{name}");
    }
    let tool = pool.get("Skill").unwrap();
    let schema = &tool.definition().input_schema;
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["skill", "arguments", "end"]);
}

proptest! {
    #![proptest_config(crate::property::cases(128))]

    #[test]
    fn reading_never_panics(
        key in "name|description|allowed-tools|disallowed-tools|mcpServers|metadata|[a-zA-Z-]{0,12}",
        value in "([a-zA-Z0-9&*!|>{}\\[\\]:,'\"#()\\-? \n]|\\PC){0,40}",
    ) {
        let (_, text) = report(&front(&format!("{key}: {value}")));
        prop_assert!(text.lines().count() < 100);
    }
}
