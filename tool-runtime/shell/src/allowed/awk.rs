//! Programs of awk, which can run commands and write files.

/// Names that programs may contain. Others may be functions that run commands, or variables that hold their names.
const NAMES: &[&str] = &[
    "BEGIN", "END", "FILENAME", "FNR", "FS", "NF", "NR", "OFS", "ORS", "RS", "break", "continue",
    "count", "else", "exit", "for", "gsub", "i", "if", "in", "index", "int", "j", "length",
    "match", "max", "min", "n", "next", "print", "printf", "s", "split", "sprintf", "sub",
    "substr", "sum", "t", "tolower", "toupper", "total", "x",
];

/// Whether a program contains only known names, and neither pipes nor redirections. Strings and expressions are not told
/// apart from code.
pub(super) fn is_harmless(program: &str) -> bool {
    let is_in_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = program.split(|c| !is_in_name(c)).filter(|name| !name.is_empty());
    let is_known =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_digit()) || NAMES.contains(&name);
    !program.contains(['|', '>', '@', '`', '\\']) && names.all(is_known)
}
