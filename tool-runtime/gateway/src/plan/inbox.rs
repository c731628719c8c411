//! Questions: whom they reach, the inbox over HTTP, and how people learn of them.

use super::Problems;
use crate::approver::approver;
use crate::config::{Approvals, Config, Http, Notify};
use tool_runtime::govern::{Approver as _, PolicyEngine as _};
use tool_runtime::policy::LivePolicy;
use tool_runtime_config::seam::find_program;

/// Checks sections that are without mistakes of form.
pub(super) fn check(
    config: &Config,
    policy: Option<&LivePolicy>,
    problems: &mut Problems<'_>,
    warnings: &mut Vec<String>,
) {
    let Config { http, approvals, .. } = config;
    if let Some(policy) = policy {
        check_reach(policy, approvals, problems);
    }
    let is_wanted = |http: &&Http| http.inbox == Some(true);
    if let Some(http) = http.as_ref().filter(is_wanted) {
        if approvals.inbox.is_none() {
            problems.add("http.inbox", NO_INBOX);
        }
        if !http.has_authentication() {
            problems.add("http.inbox", "people answer by their tokens; add `tokens_file` or `jwt`");
        }
    }
    if let Some(notify) = &approvals.notify {
        if approvals.inbox.is_none() {
            problems.add("approvals.notify", NO_INBOX);
        }
        check_notify(notify, problems, warnings);
    }
}

const NO_INBOX: &str = "there is no inbox; set `approvals.inbox` to a folder";

/// A question that nobody is asked would deny each call of its rule.
fn check_reach(policy: &LivePolicy, approvals: &Approvals, problems: &mut Problems<'_>) {
    let approver = approver(approvals, None, None);
    let unanswerable =
        policy.questions().into_iter().filter(|(_, people)| !approver.reaches(people));
    for (rule, people) in unanswerable {
        problems.add("approvals", format_args!("the question of `{rule}` may be answered by {people}, whom the gateway never asks; set `approvals.inbox`, or name other people in the rule"));
    }
}

fn check_notify(notify: &Notify, problems: &mut Problems<'_>, warnings: &mut Vec<String>) {
    if notify.command.is_empty() && notify.webhook.is_none() {
        problems.add(
            "approvals.notify",
            "write `command = [\"program\"]` or `webhook = \"https://..\"`",
        );
    }
    if let Some(program) = notify.command.first() {
        let path = std::env::var_os("PATH");
        if let Err(error) = find_program(program, path.as_deref(), ".".as_ref()) {
            warnings.push(format!("`approvals.notify.command`: {error}"));
        }
    }
    if let Some(address) = &notify.webhook {
        let is_http =
            reqwest::Url::parse(address).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        if !is_http {
            // It may have a secret.
            problems.add("approvals.notify.webhook", "it is not an address; write `https://..`");
        }
    }
}
