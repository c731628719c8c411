//! The list of skills in the description of the tool.

use crate::skill::Skill;
use std::sync::Arc;
use tool_runtime_core::seam::one_line;

/// Shorter descriptions say nothing: only the names are listed.
const MIN_DESCRIPTION: usize = 20;

/// A line for each skill, within a budget of characters.
pub(crate) fn listing(skills: &[Arc<Skill>], budget: usize) -> String {
    let full: Vec<String> = skills
        .iter()
        .map(|skill| line(skill, one_line(skill.description(), usize::MAX / 8)))
        .collect();
    if length(&full) <= budget {
        return full.concat();
    }
    let names: Vec<String> = skills.iter().map(|skill| line(skill, String::new())).collect();
    // `one_line` adds two characters to a string that it cuts.
    let share = budget.saturating_sub(length(&names)) / skills.len();
    if share >= MIN_DESCRIPTION {
        let cut = |skill: &Arc<Skill>| line(skill, one_line(skill.description(), share - 2));
        return skills.iter().map(cut).collect();
    }
    only_names(skills, budget)
}

fn line(skill: &Skill, description: String) -> String {
    format!("- {}: {description}\n", skill.name())
}

fn length(lines: &[String]) -> usize {
    lines.iter().map(|line| line.chars().count()).sum()
}

/// As many names as fit, and the number of the others.
fn only_names(skills: &[Arc<Skill>], budget: usize) -> String {
    let mut list = String::new();
    for (index, skill) in skills.iter().enumerate() {
        let line = format!("- {}\n", skill.name());
        if list.len() + line.len() > budget {
            list.push_str(&format!("and {} more that are not listed\n", skills.len() - index));
            break;
        }
        list.push_str(&line);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servers::Servers;
    use tool_runtime_core::pool::DeclaredTools;

    fn skills(count: usize, description: &str) -> Vec<Arc<Skill>> {
        let skill = |index| Skill {
            name: format!("skill-{index:02}"),
            description: description.to_owned(),
            folder: "/s".into(),
            text: String::new(),
            tools: DeclaredTools::default(),
            is_for_models: true,
            servers: Servers::default(),
            front_matter: Default::default(),
        };
        (0..count).map(|index| Arc::new(skill(index))).collect()
    }

    #[test]
    fn descriptions_are_on_one_line() {
        assert_eq!(listing(&skills(1, "Do\nthis."), 100), "- skill-00: Do this.\n");
        assert_eq!(listing(&[], 100), "");
    }

    #[test]
    fn the_budget_is_kept() {
        let ten = skills(10, &"very ".repeat(50));
        let cut = listing(&ten, 600);
        assert!(cut.chars().count() <= 600, "{cut}");
        assert_eq!(cut.lines().count(), 10);
        assert!(cut.lines().all(|line| line.ends_with("..")), "{cut}");
        let names = listing(&ten, 40);
        assert_eq!(names, "- skill-00\n- skill-01\n- skill-02\nand 7 more that are not listed\n");
    }
}
