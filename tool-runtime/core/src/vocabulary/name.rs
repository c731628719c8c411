//! Checks tool names against the MCP specification.

/// Longest tool name that the MCP specification recommends, in characters.
pub const MAX_LENGTH: usize = 128;

/// Whether a tool name may hold this character.
pub fn is_allowed(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.')
}

/// The problem of a tool name, if it has one.
///
/// Source: MCP specification 2025-11-25, "Tool Names".
pub fn problem(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("it is empty".to_owned());
    }
    if name.chars().count() > MAX_LENGTH {
        return Some(format!("it is longer than {MAX_LENGTH} characters"));
    }
    let odd = name.chars().find(|c| !is_allowed(*c))?;
    Some(format!("it contains {odd:?}, and only `A-Z a-z 0-9 _ - .` are allowed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_specification() {
        assert_eq!(problem("web.search_v2-x"), None);
        assert!(problem("").is_some());
        assert!(problem("a b").is_some_and(|p| p.contains("' '")));
        assert!(problem(&"x".repeat(129)).is_some());
    }
}
