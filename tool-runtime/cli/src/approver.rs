//! Approval by a person at the terminal.

use std::fmt;
use std::io::{self, BufRead, IsTerminal as _, Write};
use std::sync::{Arc, LazyLock};
use tokio::sync::{Mutex, mpsc};
use tool_runtime_core::govern::{Approval, ApprovalRequest, Approver, Approvers, Remember};
use tool_runtime_core::seam::printable_lines;
use tool_runtime_core::vocabulary::BoxFuture;

/// Asks a person at the terminal whether a call may run: `y` approves it, `s` all such calls of the
/// session, `e OBJECT` approves it with other arguments. Any other answer rejects the call, and the
/// model receives its text. The end of the input rejects the call.
///
/// All approvers of the process share the terminal. A yes for the session counts with `approvals::Remembering` around this approver. Questions
/// are written to standard error, one at a time, and answers read from standard input; lines that were read before the
/// question are ignored, and what was typed before it is discarded. It asks only where a person can answer: standard input
/// and standard error are a terminal, which they are not in a pipeline or under an MCP client. Elsewhere, and where the
/// person may not answer, the answer is [`Approval::Unasked`], so that `Or` asks the next approver. The person at the
/// terminal is the user of calls that the program itself makes.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::cli::TerminalApprover;
/// use tool_runtime::hook::{Before, Hook};
///
/// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
/// let pool = ToolPool::builder()
///     .add(ping)
///     .hook(Hook::before("*", |_| async { Before::ask("May this run?") }))
///     .approver(TerminalApprover::new())
///     .build()?;
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
#[derive(Clone)]
pub struct TerminalApprover {
    /// `None` before the first question.
    lines: Arc<Mutex<Option<Lines>>>,
    /// The person at the terminal.
    name: Option<String>,
    is_piped: bool,
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
        static TERMINAL: LazyLock<Arc<Mutex<Option<Lines>>>> = LazyLock::new(Arc::default);
        Self { lines: Arc::clone(&TERMINAL), name: None, is_piped: false }
    }

    /// Names the person at the terminal, for records and for rules that name their approvers. Default:
    /// nobody.
    #[must_use]
    pub fn named(mut self, person: impl Into<String>) -> Self {
        self.name = Some(person.into());
        self
    }

    /// Asks in any case: the lines of a pipe or a file are the answers, of a script for instance. A server over standard
    /// input and output must not use it. Default: asks only at a terminal.
    ///
    /// ```
    /// use tool_runtime::ToolPool;
    /// use tool_runtime::cli::TerminalApprover;
    ///
    /// let approver = TerminalApprover::new().piped();
    /// let pool = ToolPool::builder().approver(approver).allow_empty().build()?;
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    #[must_use]
    pub fn piped(mut self) -> Self {
        self.is_piped = true;
        self
    }

    #[cfg(test)]
    fn over(input: impl BufRead + Send + 'static) -> Self {
        Self { lines: Arc::new(Mutex::new(Some(Lines::new(move || input)))), ..Self::new().piped() }
    }

    /// Asks a question that is not about a call, and returns the line that the person writes. `None` at the end
    /// of the input.
    pub async fn ask_line(&self, question: &str) -> Option<String> {
        let mut lines = self.lines.lock().await;
        let lines = lines.get_or_insert_with(|| Lines::new(|| io::stdin().lock()));
        lines.discard();
        discard_typed();
        // A closed terminal has no answer.
        let _ = write!(io::stderr(), "{}\n> ", printable_lines(question));
        lines.next().await.map(|line| line.trim().to_owned())
    }

    /// The reason why the person at the terminal is not asked.
    fn obstacle(&self, request: &ApprovalRequest) -> Option<String> {
        // Now: a server that takes over standard input replaces it.
        if !self.is_piped && !is_attended() {
            return Some("no person is at the terminal".to_owned());
        }
        let (caller, name) = (request.principal().id(), self.name.as_deref());
        request.approvers().refusal(caller, name, is_caller(request))
    }

    async fn ask(&self, request: &ApprovalRequest) -> Approval {
        if let Some(obstacle) = self.obstacle(request) {
            return Approval::unasked(obstacle);
        }
        let mut lines = self.lines.lock().await;
        let lines = lines.get_or_insert_with(|| Lines::new(|| io::stdin().lock()));
        lines.discard();
        discard_typed();
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
            let approval = match (edited, Decision::from_line(words)) {
                (Some(Ok(edited)), _) => Approval::approved().with_arguments(edited),
                (Some(Err(error)), _) => {
                    let _ = write!(io::stderr(), "not a JSON object: {error}\n{CHOICES}");
                    continue;
                }
                (None, Decision::Approve) => Approval::approved(),
                (None, Decision::ApproveForSession) => {
                    Approval::approved().remembered(Remember::Session)
                }
                (None, Decision::Refuse) => refusal(),
                (None, Decision::RefuseFor(reason)) => {
                    Approval::rejected(format!("the person at the terminal said: {reason}"))
                }
            };
            let approval = if is_caller(request) { approval.by_caller() } else { approval };
            return match &self.name {
                Some(name) => approval.by(name),
                None => approval,
            };
        }
    }
}

/// Whether a person can answer: standard input and standard error are a terminal.
pub(crate) fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// What a line of the person at the terminal says of a call.
pub(crate) enum Decision<'a> {
    Approve,
    ApproveForSession,
    Refuse,
    /// With a reason for the model.
    RefuseFor(&'a str),
}

impl<'a> Decision<'a> {
    pub(crate) fn from_line(line: &'a str) -> Self {
        match line {
            "y" | "Y" | "yes" => Self::Approve,
            "s" => Self::ApproveForSession,
            "" | "n" | "N" | "no" => Self::Refuse,
            reason => Self::RefuseFor(reason),
        }
    }
}

const CHOICES: &str = "[y/N, s: all such calls of this session, e OBJECT: other arguments] ";

fn refusal() -> Approval {
    Approval::rejected("the person at the terminal said no")
}

/// Discards what was typed before a question is shown. A pipe keeps its lines.
#[cfg(unix)]
fn discard_typed() {
    use rustix::termios::{QueueSelector, tcflush};
    // Fails where standard input is no terminal.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
}

#[cfg(not(unix))]
fn discard_typed() {}

/// Whether the program itself makes the call, at whose terminal its user is, and others may not approve it.
fn is_caller(request: &ApprovalRequest) -> bool {
    let peer = request.context().peer();
    let is_own =
        request.principal().is_anonymous() && peer.is_none_or(|peer| peer.info().is_none());
    is_own && !request.approvers().includes_others()
}

fn prompt(request: &ApprovalRequest) -> String {
    format!("{}\n{CHOICES}", request.text())
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
    fn new<R: BufRead>(open: impl FnOnce() -> R + Send + 'static) -> Self {
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

    fn reaches(&self, approvers: &Approvers) -> bool {
        let is_refused = approvers.refusal("", self.name.as_deref(), false).is_some();
        approvers.includes_caller() || !is_refused
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
    use tool_runtime_core::govern::Risk;
    use tool_runtime_core::tool::ToolContext;
    use tool_runtime_core::vocabulary::Principal;

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
            "Remove\\u{202e} it?\n  | rm a\\u{e0041}\n  | \\u{200b}b\n  the model says: it is\\u{7} old\n  \
             risk, as the model judges it: HIGH\n"
                .to_owned()
                + "  who may answer: everyone\n"
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
    async fn the_person_at_the_terminal_is_the_caller_of_the_programs_own_calls() {
        let approver = TerminalApprover::over("y\n".as_bytes());
        let request = ApprovalRequest::new("fs.remove", "{}", "Remove it?")
            .with_approvers(Approvers::caller());
        assert_eq!(approver.approve(&request).await, Approval::approved().by_caller());
    }

    #[tokio::test]
    async fn a_person_who_may_not_answer_is_not_asked() {
        let approver = TerminalApprover::over("y\n".as_bytes()).named("bob");
        let request = |approvers| {
            ApprovalRequest::new("fs.remove", "{}", "Remove it?").with_approvers(approvers)
        };
        let answer = approver.approve(&request(Approvers::people(["ada"]))).await;
        assert!(matches!(answer, Approval::Unasked { .. }), "{answer:?}");
        let of_grace = ToolContext::default().with_principal(Principal::new("grace"));
        let answer = approver.approve(&request(Approvers::caller()).with_context(of_grace)).await;
        assert!(matches!(answer, Approval::Unasked { .. }), "{answer:?}");
        let answer = approver.approve(&request(Approvers::people(["bob"]))).await;
        assert_eq!(answer, Approval::approved().by("bob"));
        // Tests run without a terminal, or with one that nobody reads.
        let attended =
            TerminalApprover { is_piped: false, ..TerminalApprover::over("y\n".as_bytes()) };
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            let answer = attended.approve(&request(Approvers::everyone())).await;
            assert_eq!(answer, Approval::unasked("no person is at the terminal"));
        }
    }
}
