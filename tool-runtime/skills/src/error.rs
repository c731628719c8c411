//! Errors of loading and ending skills.

/// The reason why a skill cannot be loaded or ended. The text is for the model.
///
/// ```
/// use tool_runtime::ToolPool;
/// use tool_runtime::skills::{SkillLibrary, Skills};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = ToolPool::builder().build()?;
/// let skills = Skills::new(&SkillLibrary::loader().load(), &pool);
/// let error = skills.load("review", "").await.unwrap_err();
/// assert_eq!(error.to_string(), "unknown skill `review`; there are no skills");
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// The library has no such skill.
    #[error("unknown skill `{name}`{help}")]
    Unknown {
        /// The name.
        name: String,
        /// The nearest names, as the end of the sentence.
        help: String,
    },
    /// The skill is invalid, and left out.
    #[error("the skill `{name}` is left out: {reason}")]
    LeftOut {
        /// The name.
        name: String,
        /// The file, the line, the problem and the remedy.
        reason: String,
    },
    /// The skill has `disable-model-invocation: true`, and a model loads it.
    #[error("the skill `{name}` can only be loaded by the user")]
    NotForModels {
        /// The name.
        name: String,
    },
    /// The skill is active already.
    #[error(
        "the skill `{name}` is active already; its text stays valid, or end it before you load it again"
    )]
    Active {
        /// The name.
        name: String,
    },
    /// As many skills are active as may be.
    #[error("{} skills are active already ({}); end one before you load `{name}`", .active.len(), .active.join(", "))]
    TooDeep {
        /// The name.
        name: String,
        /// The active skills, the outermost first.
        active: Vec<String>,
    },
    /// The skill would hide the tool that ends it, and a model loads it.
    #[error(
        "the skill `{name}` denies the tool `Skill`, which would have to end it; remove `Skill` from `disallowed-tools`"
    )]
    DeniesItsEnd {
        /// The name.
        name: String,
    },
    /// A server of the skill cannot be started.
    #[error("the skill `{skill}` cannot be loaded: {reason}")]
    Server {
        /// The name of the skill.
        skill: String,
        /// The reason.
        reason: String,
    },
    /// No skill is active that could be ended.
    #[error("no skill is active")]
    NoneActive,
    /// The innermost skill was loaded by the program, and a model ends it.
    #[error("the skill `{name}` was loaded by the program, which will end it")]
    OfProgram {
        /// The name.
        name: String,
    },
}

tool_runtime_core::debug_as_message!(SkillError);
