//! The text of a question to people.

use super::approvers::Approvers;
use crate::govern::Risk;
use crate::vocabulary::printable::{one_line, printable_lines};
use std::fmt;

/// Limit on the characters of what the model says about a call.
const MAX_SUMMARY: usize = 1_000;

/// A question with its call: the same text at a terminal, in a form and in an inbox.
///
/// ```text
/// Remove the files?
///   fs.remove(path: "build")
///   the model says: they are old
///   risk, as the model judges it: HIGH
///   who may answer: everyone but the caller
/// ```
///
/// A call that shows itself by several lines has `|` before each.
#[derive(Clone, Copy, Debug)]
pub struct QuestionText<'a> {
    /// The question.
    pub question: &'a str,
    /// The call.
    pub visual: &'a str,
    /// The purpose of the call in the words of the model, if it gave one.
    pub summary: Option<&'a str>,
    /// The risk, as the model judges it.
    pub risk: Risk,
    /// The people who may answer.
    pub approvers: &'a Approvers,
}

impl fmt::Display for QuestionText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", printable_lines(self.question))?;
        let visual = printable_lines(self.visual);
        let mark = if visual.contains('\n') { "| " } else { "" };
        for line in visual.split('\n') {
            writeln!(f, "  {mark}{line}")?;
        }
        if let Some(summary) = self.summary {
            writeln!(f, "  the model says: {}", one_line(summary, MAX_SUMMARY))?;
        }
        if self.risk != Risk::Unknown {
            writeln!(f, "  risk, as the model judges it: {}", self.risk)?;
        }
        write!(f, "  who may answer: {}", self.approvers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_says_who_may_answer_it() {
        let approvers = Approvers::people(["ada"]).or_caller();
        let text = QuestionText {
            question: "Remo\u{1b}[2Jve it?",
            visual: "a\nrisk, as the model judges it: LOW",
            summary: Some("it is\nold"),
            risk: Risk::High,
            approvers: &approvers,
        };
        let expected = "Remove it?\n  | a\n  | risk, as the model judges it: LOW\n  \
             the model says: it is old\n  risk, as the model judges it: HIGH\n  \
             who may answer: `ada` or the caller";
        assert_eq!(text.to_string(), expected);
    }
}
