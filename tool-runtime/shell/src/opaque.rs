//! Commands that a pattern does not describe, and that may run one that it describes.

use crate::options;
use crate::pattern::ShellPattern;
use crate::reason::Reason;
use crate::wrappers::{base_name, is_wrapper};

/// Programs that run what they read from their input if they get no arguments.
const INTERPRETERS: &str = "\
    bc clojure deno elixir erl gdb ghci guile irb jshell julia lua luajit lldb mysql node \
    nodejs octave osascript perl php psql pypy python R racket ruby sbcl scala sqlite swift tclsh";

/// The reason why it cannot be told whether a command runs one that the pattern describes. `None` if its words say what
/// it runs.
pub(crate) fn reason(pattern: &ShellPattern, words: &[String]) -> Option<Reason> {
    let program = &words[0];
    if pattern.describes_by_name(words) {
        return Some(Reason::Path(program.clone()));
    }
    if pattern.has_options_before(words) {
        return Some(Reason::OptionFirst(words[1].clone()));
    }
    if is_wrapper(program) && words.get(1).is_some_and(|word| hides_command(word)) {
        return Some(Reason::Wrapper(program.clone()));
    }
    let is_bare = || INTERPRETERS.split(' ').any(|name| name == options::plain_name(program));
    if words.len() == 1 && is_bare() {
        return Some(Reason::Code { program: program.clone(), word: program.clone() });
    }
    let (program, word) = options::code(words)?;
    Some(Reason::Code { program: program.to_owned(), word: word.clone() })
}

/// Whether the first word after a wrapper is not the name of the command that it runs.
fn hides_command(word: &str) -> bool {
    word.starts_with('-') || word.contains(['=', '/']) || is_wrapper(base_name(word))
}
