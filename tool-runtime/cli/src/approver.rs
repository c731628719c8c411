//! Approval by a person at the terminal.

use std::fmt;
use std::io::{self, BufRead, IsTerminal as _, Write};
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc};
use tool_runtime_core::seam::printable;
use tool_runtime_core::{Approval, ApprovalRequest, Approver, BoxFuture, Remember, Risk};

/// Asks a person at the terminal whether a call may run: `y` approves it, `s` all such calls of the
/// session, `e OBJECT` approves it with other arguments. Any other answer rejects the call, and the
/// model receives its text. The end of the input rejects the call.
///
/// Clones share the terminal. A yes for the session counts with `approvals::Remembering` around this approver. Questions
/// are written to standard error, one at a time, and answers read from standard input; lines that were read before the
/// question are ignored. A server over standard input and output cannot use it; one over HTTP can, see
/// [`Self::attended`]. A question that the person may not answer is [`Approval::Unasked`].
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::{Before, Hook, TerminalApprover};
///
/// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
/// let pool = ToolPool::builder()
///     .add(ping)
///     .hook(Hook::before("*", |_| async { Before::ask("May this run?") }))
///     .approver(TerminalApprover::new())
///     .build()?;
/// # Ok::<(), tool_runtime::PoolError>(())
/// ```
#[derive(Clone)]
pub struct TerminalApprover {
    /// `None` before the first question.
    lines: Arc<Mutex<Option<Lines>>>,
    /// The person at the terminal.
    name: Option<String>,
    is_attended: bool,
}

/// The lines of the input, read one at a time by a thread.
struct Lines {
    wanted: mpsc::UnboundedSender<()>,
    read: mpsc::UnboundedReceiver<String>,
    /// Whether a requested line was not read yet, because its question was cancelled.
    is_pending: bool,
}

impl TerminalApprover {
    /// An approver over the standard streams of the process.
    pub fn new() -> Self {
        Self { lines: Arc::default(), name: None, is_attended: false }
    }

    /// Names the person at the terminal, for records and for rules that name their approvers. Default:
    /// nobody.
    #[must_use]
    pub fn named(mut self, person: impl Into<String>) -> Self {
        self.name = Some(person.into());
        self
    }

    /// Asks only where a person can answer: standard input and standard error are a terminal. They are not in a
    /// pipeline or under an MCP client. Elsewhere the answer is [`Approval::Unasked`], so that `approvals::Or` asks
    /// the next approver. Default: asks in any case.
    ///
    /// ```
    /// use tool_runtime::approvals::{AskCaller, Inbox, MemoryStore};
    /// use tool_runtime::{TerminalApprover, ToolPool};
    ///
    /// // `serve --http` asks the person at its terminal, `serve` under a client fills the inbox.
    /// let terminal = TerminalApprover::new().attended();
    /// let approver = AskCaller::new().or(terminal).or(Inbox::new(MemoryStore::new()));
    /// let pool = ToolPool::builder().approver(approver).allow_empty().build()?;
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    #[must_use]
    pub fn attended(mut self) -> Self {
        self.is_attended = true;
        self
    }

    #[cfg(test)]
    fn over(input: impl BufRead + Send + 'static) -> Self {
        Self { lines: Arc::new(Mutex::new(Some(Lines::of(move || input)))), ..Self::new() }
    }

    /// Asks a question that is not about a call, and returns the line that the person writes. `None` at the end
    /// of the input.
    pub async fn ask_line(&self, question: &str) -> Option<String> {
        let mut lines = self.lines.lock().await;
        let lines = lines.get_or_insert_with(|| Lines::of(|| io::stdin().lock()));
        lines.discard();
        // A closed terminal has no answer.
        let question = question.lines().map(printable).collect::<Vec<_>>().join("\n");
        let _ = write!(io::stderr(), "{question}\n> ");
        lines.next().await.map(|line| line.trim().to_owned())
    }

    /// The reason why the person at the terminal is not asked.
    fn obstacle(&self, request: &ApprovalRequest) -> Option<String> {
        // Now: a server that takes over standard input leaves another one in its place.
        if self.is_attended && !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Some("no person is at the terminal".to_owned());
        }
        let caller = request.principal().id();
        request.approvers().refusal(caller, self.name.as_deref(), false)
    }

    async fn ask(&self, request: &ApprovalRequest) -> Approval {
        if let Some(obstacle) = self.obstacle(request) {
            return Approval::unasked(obstacle);
        }
        let mut lines = self.lines.lock().await;
        let lines = lines.get_or_insert_with(|| Lines::of(|| io::stdin().lock()));
        lines.discard();
        let mut withdrawal = Withdrawal { is_answered: false };
        // A closed terminal rejects the call.
        let _ = write!(io::stderr(), "{}", prompt(request));
        let approval = self.read(request, lines).await;
        withdrawal.is_answered = true;
        approval
    }

    async fn read(&self, request: &ApprovalRequest, lines: &mut Lines) -> Approval {
        loop {
            let Some(line) = lines.next().await else { return refusal() };
            let words = line.trim();
            let edited = words.strip_prefix("e ").map(|edited| request.edited(edited));
            let approval = match (words, edited) {
                (_, Some(Ok(edited))) => Approval::approved().with_arguments(edited),
                (_, Some(Err(error))) => {
                    let _ = write!(io::stderr(), "not a JSON object: {error}\n{CHOICES}");
                    continue;
                }
                ("y" | "Y" | "yes", _) => Approval::approved(),
                ("s", _) => Approval::approved().remembered(Remember::Session),
                ("" | "n" | "N" | "no", _) => refusal(),
                _ => Approval::rejected(format!("the person at the terminal said: {words}")),
            };
            return match &self.name {
                Some(name) => approval.by(name),
                None => approval,
            };
        }
    }
}

const CHOICES: &str = "[y/N, s: all such calls of this session, e OBJECT: other arguments] ";

fn refusal() -> Approval {
    Approval::rejected("the person at the terminal said no")
}

/// The question as a person reads it: no character controls the terminal or is invisible.
fn prompt(request: &ApprovalRequest) -> String {
    let call = request.visual().lines().map(printable).collect::<Vec<_>>().join("\n  ");
    let question = request.question().lines().map(printable).collect::<Vec<_>>().join("\n");
    let mut prompt = format!("{question}\n  {call}\n");
    if let Some(summary) = request.summary() {
        let summary = summary.lines().map(printable).collect::<Vec<_>>().join(" ");
        prompt.push_str(&format!("  the model says: {summary}\n"));
    }
    if request.risk() != Risk::Unknown {
        prompt.push_str(&format!("  risk, as the model judges it: {}\n", request.risk()));
    }
    prompt + CHOICES
}

/// Tells the person that a question was cancelled.
struct Withdrawal {
    is_answered: bool,
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        if !self.is_answered {
            let _ = write!(io::stderr(), "\nthe question was withdrawn\n");
        }
    }
}

impl Lines {
    /// A separate thread: a thread of the runtime that waits for a line would delay the end of the
    /// runtime.
    fn of<R: BufRead>(open: impl FnOnce() -> R + Send + 'static) -> Self {
        let (wanted, mut requests) = mpsc::unbounded_channel();
        let (sender, read) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            let mut input = open();
            while requests.blocking_recv().is_some() {
                let mut line = String::new();
                let is_end = !matches!(input.read_line(&mut line), Ok(length) if length > 0);
                if is_end || sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { wanted, read, is_pending: false }
    }

    /// Discards a line that was the answer to a cancelled question.
    fn discard(&mut self) {
        if self.read.try_recv().is_ok() {
            self.is_pending = false;
        }
    }

    /// The next line; `None` at the end of the input.
    async fn next(&mut self) -> Option<String> {
        if !self.is_pending {
            self.wanted.send(()).ok()?;
            self.is_pending = true;
        }
        let line = self.read.recv().await;
        self.is_pending = false;
        line
    }
}

impl Default for TerminalApprover {
    fn default() -> Self {
        Self::new()
    }
}

impl Approver for TerminalApprover {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(self.ask(request))
    }
}

impl fmt::Debug for TerminalApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TerminalApprover").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tool_runtime_core::Approvers;

    #[tokio::test]
    async fn a_person_answers_in_words_and_the_end_is_a_no() {
        let approver = TerminalApprover::over("y\nno\nuse the trash instead\n".as_bytes());
        let request = ApprovalRequest::new("fs.remove", "{}", "Remove it?");
        assert_eq!(approver.approve(&request).await, Approval::approved());
        let no = Approval::rejected("the person at the terminal said no");
        assert_eq!(approver.approve(&request).await, no);
        assert_eq!(
            approver.approve(&request).await,
            Approval::rejected("the person at the terminal said: use the trash instead")
        );
        assert_eq!(approver.approve(&request).await, no);
        assert_eq!(approver.approve(&request).await, no);
    }

    #[tokio::test]
    async fn a_person_approves_for_the_session_and_edits() {
        let input = "s\ne {oops\ne {\"path\": \"b\"}\n".as_bytes();
        let approver = TerminalApprover::over(input).named("ada");
        let request = ApprovalRequest::new("fs.remove", "{}", "Remove it?");
        let session = Approval::approved().by("ada").remembered(Remember::Session);
        assert_eq!(approver.approve(&request).await, session);
        let edited = Approval::approved().by("ada").with_arguments(r#"{"path":"b"}"#);
        assert_eq!(approver.approve(&request).await, edited);
    }

    #[tokio::test]
    async fn questions_and_approvals_share_the_lines() {
        let approver = TerminalApprover::over("y\nblue\n".as_bytes());
        let request = ApprovalRequest::new("fs.remove", "{}", "Remove it?");
        assert_eq!(approver.clone().approve(&request).await, Approval::approved());
        assert_eq!(approver.ask_line("Which colour?").await.as_deref(), Some("blue"));
        assert_eq!(approver.ask_line("Which colour?").await, None);
    }

    #[test]
    fn a_prompt_controls_no_terminal() {
        let request = ApprovalRequest::new("fs.remove", "{}", "Re\u{1b}[2Jmove\u{202e} it?")
            .with_visual("rm a\u{e0041}\r\n\u{200b}b")
            .with_judgement(Risk::High, Some("it is\u{7} old"));
        assert_eq!(
            prompt(&request),
            "Remove\u{fffd} it?\n  rm a\u{fffd}\n  \u{fffd}b\n  the model says: it is\u{fffd} old\n  \
             risk, as the model judges it: HIGH\n"
                .to_owned()
                + CHOICES
        );
    }

    #[tokio::test]
    async fn a_cancelled_question_does_not_take_the_answer_of_the_next() {
        let (input, mut person) = std::io::pipe().unwrap();
        let approver = TerminalApprover::over(std::io::BufReader::new(input));
        let request = ApprovalRequest::new("fs.remove", "{}", "Remove it?");
        let mut first = approver.approve(&request);
        let context = &mut std::task::Context::from_waker(std::task::Waker::noop());
        assert!(first.as_mut().poll(context).is_pending());
        drop(first);
        let mut second = approver.approve(&request);
        assert!(second.as_mut().poll(context).is_pending());
        writeln!(person, "y").unwrap();
        assert_eq!(second.await, Approval::approved());
    }

    #[tokio::test]
    async fn a_late_answer_to_a_cancelled_question_does_not_answer_the_next() {
        let (input, mut person) = std::io::pipe().unwrap();
        let approver = TerminalApprover::over(std::io::BufReader::new(input));
        let request = ApprovalRequest::new("fs.remove", "{}", "Remove it?");
        let context = &mut std::task::Context::from_waker(std::task::Waker::noop());
        let mut first = approver.approve(&request);
        assert!(first.as_mut().poll(context).is_pending());
        drop(first);
        writeln!(person, "y").unwrap();
        while approver.lines.lock().await.as_ref().is_none_or(|lines| lines.read.is_empty()) {
            tokio::task::yield_now().await;
        }
        let mut second = approver.approve(&request);
        assert!(second.as_mut().poll(context).is_pending());
        writeln!(person, "n").unwrap();
        let no = Approval::rejected("the person at the terminal said no");
        assert_eq!(second.await, no);
    }

    #[tokio::test]
    async fn a_person_who_may_not_answer_is_not_asked() {
        let approver = TerminalApprover::over("y\n".as_bytes()).named("bob");
        let request = |approvers| {
            ApprovalRequest::new("fs.remove", "{}", "Remove it?").with_approvers(approvers)
        };
        for approvers in [Approvers::caller(), Approvers::people(["ada"])] {
            let answer = approver.approve(&request(approvers)).await;
            assert!(matches!(answer, Approval::Unasked { .. }), "{answer:?}");
        }
        let answer = approver.approve(&request(Approvers::people(["bob"]))).await;
        assert_eq!(answer, Approval::approved().by("bob"));
        // Tests run without a terminal, or with one that nobody reads.
        let attended =
            TerminalApprover { is_attended: true, ..TerminalApprover::over("y\n".as_bytes()) };
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            let answer = attended.approve(&request(Approvers::anyone())).await;
            assert_eq!(answer, Approval::unasked("no person is at the terminal"));
        }
    }
}
