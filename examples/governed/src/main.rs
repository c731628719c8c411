//! Three MCP servers behind a policy, approvals and a log. See `README.md`.

use std::time::Duration;
use tool_runtime::Secret;
use tool_runtime::approvals::{ApprovalCommands, AskCaller, FileStore, Inbox, Remembering};
use tool_runtime::audit::EventLog;
use tool_runtime::cli::TerminalApprover;
use tool_runtime::policy::LivePolicy;
use tool_runtime::secret::Secrets;

tool_runtime::main!(
    mcp = "servers.json",
    pool = {
        // Masked in all that leaves the pool, and in the log.
        let secrets = Secrets::new();
        if let Ok(token) = std::env::var("DEMO_TOKEN") {
            secrets.insert("DEMO_TOKEN", Secret::from(token));
        }
        let log = EventLog::builder().secrets(secrets.get("DEMO_TOKEN")).open("calls.db");
        // The user of the client answers if it shows forms, else the person at the terminal, else one who reads the
        // inbox. It also keeps the answers that count for later calls.
        let questions = FileStore::open("inbox")?;
        let terminal = TerminalApprover::new();
        let approver = AskCaller::new().or(terminal).or(Inbox::new(questions.clone()));
        let approver = Remembering::new(approver).kept_in(questions.clone());
        // An edited file counts once it stays the same for two seconds; one with mistakes does not, and is logged.
        let policy = LivePolicy::open("policy.yaml");
        let policy = policy.inspect(|policy| policy.watch(Duration::from_secs(2)));
        |pool| {
            pool.secrets(secrets)
                .install(policy)
                .install(log)
                .approver(approver)
                .install(ApprovalCommands::new(questions))
        }
    },
);
