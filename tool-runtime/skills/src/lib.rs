//! Skills for agents: folders with a file `SKILL.md`, and the tool that loads them. Users depend on
//! `tool-runtime`, which exports everything public here as `tool_runtime::skills`.
//!
//! ```text
//! ---
//! name: review
//! description: Review a change. Use it before code is merged.
//! allowed-tools: Read, Grep, Bash(git diff *)
//! ---
//! Review $ARGUMENTS with the checklist in `checklist.md`.
//! ```
//!
//! [`SkillLibrary`] reads the folders. [`SkillLibrary::tool`] is the tool `Skill`, by which a model loads
//! a skill and ends it; [`Skills`] does the same for a program. A skill only narrows what its agent may
//! call.
//!
//! # Front matter
//!
//! | Key | Meaning |
//! |---|---|
//! | `name` | lower-case letters, digits and hyphens, at most 64; the folder has the same name. Absent: that of the folder |
//! | `description` | required: what it does and when to use it |
//! | `allowed-tools` | [declarations](tool_runtime_core::vocabulary::matching::Declarations) of the only tools while it is active; absent: all |
//! | `disallowed-tools` | declarations of tools that are denied meanwhile |
//! | `mcpServers` | MCP servers that run meanwhile, as in a file of that name; `${SKILL_ROOT}` is the folder |
//! | `disable-model-invocation` | `true`: only the program loads it |
//!
//! Other keys of the public format and of Claude Code are accepted and have no effect here
//! ([`Skill::front_matter`] has them). An unknown key is a warning with a suggestion; one that is almost
//! `allowed-tools` quarantines the skill, which would otherwise have every tool. Files as people write them are
//! accepted with a warning: a `name` with capitals, spaces, `_`, `.` or `:`, and prose such as `description` that
//! has `: ` without quotation marks.
//!
//! A quarantined skill does not affect the others. Its path, line and reason are in [`SkillLibrary::report`], in the
//! log, in the report of a pool with the tool `Skill`, and in the error of that tool when a model loads the skill.
//!
//! A file has at most 256 KiB, a library 1000 skills. Files are read by `load` and `reload`, so that a
//! text belongs to the front matter that was checked.
//!
//! | Module | Topic |
//! |---|---|
//! | `loader`, `folders`, `front_matter`, `prose`, `read` | folders, YAML, keys |
//! | `library`, `skill`, `report` | what was read |
//! | `render`, `listing` | text for models |
//! | `state`, `skills`, `servers` | active skills, with their restrictions and servers |
//! | `tool` | the tool `Skill` |

mod error;
mod folders;
mod front_matter;
mod library;
mod listing;
mod loader;
#[cfg(test)]
#[path = "../../core/property.rs"]
mod property;
mod prose;
mod read;
mod render;
mod report;
#[cfg_attr(not(feature = "mcp-client"), path = "no_servers.rs")]
mod servers;
mod skill;
mod skills;
mod state;
#[cfg(test)]
mod tests;
mod tool;

pub use error::SkillError;
pub use library::SkillLibrary;
pub use loader::SkillLoader;
pub use report::{SkillProblem, SkillReport, SkillStatus};
pub use skill::Skill;
pub use skills::{ActiveSkill, Skills};
