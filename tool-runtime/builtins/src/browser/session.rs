//! One browser: its process, its proxy, the connection to it, and the tab that the tools act on.

use super::chromium::Chromium;
use super::devtools::{Devtools, Failure};
use super::downloads::Downloads;
use super::output::PageOutput;
use super::pages::EMPTY;
use super::params::BrowserParams;
use super::proxy::{Proxy, Refusal};
use super::tabs::{Tab, Tabs};
use crate::addresses::AddressRules;
use crate::workspace::Workspace;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tool_runtime::__seam::lock;
use tool_runtime::ToolError;

/// The script that runs in pages: reads text, finds elements.
const SCRIPT: &str = include_str!("script.js");
/// Name of the script's JavaScript world, which is isolated from scripts of the page.
const WORLD: &str = "tools";
/// Attempts to run the script when the page navigates during the run.
const ATTEMPTS: usize = 5;
/// Limits of an action that a call may take.
const STEPS: u32 = 2;
/// Extra time for the response of the browser, beyond the limit of an action.
const GRACE: Duration = Duration::from_secs(2);

/// Configuration shared by all browsers of a pool.
pub(super) struct Setup {
    pub(super) program: PathBuf,
    pub(super) params: BrowserParams,
    pub(super) rules: AddressRules,
    pub(super) workspace: Workspace,
    /// Directory of downloads, as an absolute path.
    pub(super) downloads: Option<PathBuf>,
}

/// A running browser.
pub(super) struct Session {
    pub(super) devtools: Devtools,
    pub(super) tabs: Arc<Tabs>,
    pub(super) proxy: Proxy,
    /// Time limit for one action.
    pub(super) limit: Duration,
    chromium: Chromium,
    /// Target id of the page that the tools act on.
    current: Mutex<String>,
    /// Number of refusals that earlier results have reported.
    reported: Mutex<u64>,
}

/// The reason why an action has no result.
#[derive(Debug)]
pub(super) enum ActionError {
    /// A failure of the browser or its connection.
    Browser(Failure),
    /// An error that the model can act on.
    Tool(ToolError),
}

impl From<Failure> for ActionError {
    fn from(failure: Failure) -> Self {
        Self::Browser(failure)
    }
}

impl From<ToolError> for ActionError {
    fn from(error: ToolError) -> Self {
        Self::Tool(error)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    target_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct World {
    execution_context_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evaluated {
    result: JavaScriptValue,
    exception_details: Option<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    text: String,
    exception: Option<JavaScriptValue>,
}

#[derive(Deserialize)]
struct JavaScriptValue {
    value: Option<Value>,
    description: Option<String>,
}

/// Waits until a browser that was started responds.
async fn ready(devtools: &Devtools, chromium: &Chromium, seconds: u64) -> Result<(), String> {
    let responds = devtools.run(None, "Browser.getVersion", json!({})).await;
    responds.map_err(|failure| match failure {
        Failure::Closed => format!("it ended when it was started: {}", chromium.stderr_text()),
        Failure::Timeout => {
            format!("it was not ready after {seconds} seconds: {}", chromium.stderr_text())
        }
        other => other.to_string(),
    })
}

impl Session {
    /// Starts a browser with one empty tab.
    ///
    /// # Errors
    /// The reason, for the model and the operator.
    pub(super) async fn start(setup: &Setup) -> Result<Self, String> {
        let limit = Duration::from_secs(setup.params.action_seconds);
        let proxy = Proxy::start(setup.rules.clone()).await;
        let proxy = proxy.map_err(|error| format!("the proxy cannot start: {error}"))?;
        let Setup { program, params, workspace, .. } = setup;
        let downloads = setup.downloads.as_deref();
        let started = Chromium::start(program, params, workspace, downloads, proxy.port).await;
        let (chromium, pipe) = started?;
        let most = params.max_download_bytes;
        let downloads = downloads.map(|path| Downloads::new(path.to_owned(), most));
        let tabs = Arc::new(Tabs::new(downloads));
        let start = Duration::from_secs(params.start_seconds);
        let mut devtools = Devtools::over(pipe, start, Arc::clone(&tabs));
        ready(&devtools, &chromium, params.start_seconds).await?;
        devtools.limit = limit + GRACE;
        let session = Self {
            devtools,
            tabs,
            proxy,
            limit,
            chromium,
            current: Mutex::default(),
            reported: Mutex::default(),
        };
        session.prepare(setup.downloads.as_deref()).await.map_err(|failure| failure.to_string())?;
        Ok(session)
    }

    async fn prepare(&self, downloads: Option<&Path>) -> Result<(), Failure> {
        // Denied downloads are accepted and cancelled at their start, because Chromium does not report downloads that it denies.
        let directory = downloads.unwrap_or_else(|| self.chromium.profile());
        let behavior = json!({
            "behavior": "allowAndName",
            "downloadPath": directory.display().to_string(),
            "eventsEnabled": true,
        });
        self.devtools.run(None, "Browser.setDownloadBehavior", behavior).await?;
        let attach = json!({
            "autoAttach": true,
            "waitForDebuggerOnStart": true,
            "flatten": true,
            "filter": [{"type": "page"}],
        });
        self.devtools.run(None, "Target.setAutoAttach", attach).await?;
        if self.tabs.all().is_empty() {
            self.open().await?;
        }
        Ok(())
    }

    /// Whether the browser has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.devtools.is_closed()
    }

    /// Ends the browser and all its processes.
    pub(super) async fn end(self) {
        drop(self.devtools);
        self.chromium.end().await;
    }

    /// Opens an empty tab and makes it the current one.
    pub(super) async fn open(&self) -> Result<Tab, Failure> {
        let target = self.create().await?;
        let tab = self.tabs.opened(&target, self.limit).await.ok_or(Failure::Timeout)?;
        self.show(&tab);
        Ok(tab)
    }

    /// Opens an empty page. Returns its target id.
    pub(super) async fn create(&self) -> Result<String, Failure> {
        let page = json!({"url": "about:blank"});
        let created: Created = self.devtools.query(None, "Target.createTarget", page).await?;
        Ok(created.target_id)
    }

    /// Begins to close a page.
    pub(super) async fn close(&self, target: &str) -> Result<(), Failure> {
        self.devtools.run(None, "Target.closeTarget", json!({"targetId": target})).await
    }

    /// Makes a tab the current one.
    pub(super) fn show(&self, tab: &Tab) {
        *lock(&self.current) = tab.target.clone();
    }

    /// The current tab, or the newest one if the current one was closed.
    pub(super) async fn current(&self) -> Result<Tab, Failure> {
        let current = lock(&self.current).clone();
        let all = self.tabs.all();
        let tab = all.iter().find(|tab| tab.target == current).or(all.last());
        match tab {
            Some(tab) => {
                self.show(tab);
                Ok(tab.clone())
            }
            None => self.open().await,
        }
    }

    /// Brings a tab to the front. Chromium rarely renders background tabs.
    pub(super) async fn activate(&self, tab: &Tab) -> Result<(), Failure> {
        self.devtools.run(None, "Target.activateTarget", json!({"targetId": tab.target})).await
    }

    /// Runs an action, whose steps have a limit each. A page that redirects without end would use all of them.
    pub(super) async fn in_time<T>(
        &self,
        action: impl Future<Output = Result<T, ActionError>>,
    ) -> Result<T, ActionError> {
        let limit = self.limit * STEPS;
        if let Ok(result) = tokio::time::timeout(limit, action).await {
            return result;
        }
        let tab = self.current().await?;
        self.run(&tab, "Page.navigate", json!({"url": EMPTY})).await?;
        let seconds = limit.as_secs();
        Err(ToolError::transient(format!(
            "the page was not ready within {seconds} seconds and was left: it redirects or reloads without end, or is very slow; open another page"
        ))
        .into())
    }

    /// Runs a command on a page, and returns its result.
    pub(super) async fn query<T: DeserializeOwned>(
        &self,
        tab: &Tab,
        method: &'static str,
        params: Value,
    ) -> Result<T, Failure> {
        self.devtools.query(Some(&tab.session), method, params).await
    }

    /// Runs a command without a result on a page.
    pub(super) async fn run(
        &self,
        tab: &Tab,
        method: &'static str,
        params: Value,
    ) -> Result<(), Failure> {
        self.devtools.run(Some(&tab.session), method, params).await
    }

    /// Runs an action of the script on a page. Repeats it if the page navigates during the run.
    pub(super) async fn script<T: DeserializeOwned>(
        &self,
        tab: &Tab,
        request: Value,
    ) -> Result<T, Failure> {
        let expression = format!("({SCRIPT})({request})");
        let mut attempt = 0;
        let value = loop {
            attempt += 1;
            match self.evaluate(tab, &expression).await {
                Err(Failure::Refused(reason)) if attempt < ATTEMPTS => {
                    tracing::debug!(reason, "a script is run again");
                    self.tabs.settled(&tab.target, self.limit).await;
                }
                result => break result?,
            }
        };
        serde_json::from_value(value).map_err(|error| Failure::Unexpected(error.to_string()))
    }

    /// Waits until a page has reacted to an action and, if it navigates, has loaded. Returns whether loading is complete.
    pub(super) async fn settled(&self, tab: &Tab) -> Result<bool, Failure> {
        let expression = format!("({SCRIPT})({{\"action\": \"pause\"}})");
        match self.evaluate(tab, &expression).await {
            // `Refused`: the page navigated during the pause.
            Ok(_) | Err(Failure::Refused(_)) => {}
            Err(failure) => return Err(failure),
        }
        Ok(self.tabs.settled(&tab.target, self.limit).await)
    }

    async fn evaluate(&self, tab: &Tab, expression: &str) -> Result<Value, Failure> {
        let world = json!({"frameId": tab.target, "worldName": WORLD});
        let world: World = self.query(tab, "Page.createIsolatedWorld", world).await?;
        let evaluate = json!({
            "expression": expression,
            "contextId": world.execution_context_id,
            "returnByValue": true,
            "silent": true,
            "awaitPromise": true,
        });
        let returned: Evaluated = self.query(tab, "Runtime.evaluate", evaluate).await?;
        match returned.exception_details {
            Some(exception) => {
                let text = exception.exception.and_then(|exception| exception.description);
                Err(Failure::Unexpected(text.unwrap_or(exception.text)))
            }
            None => Ok(returned.result.value.unwrap_or_default()),
        }
    }

    /// Takes the notices and refusals since the last result.
    pub(super) fn notices(&self) -> Vec<String> {
        let refusals = self.refusals();
        self.with_refusals(refusals)
    }

    /// Takes the notices since the last result, and adds the forbidden ones of `refusals`. Unreachable hosts are left
    /// out, because Chromium also tries to reach its own services.
    pub(super) fn with_refusals(&self, refusals: Vec<Refusal>) -> Vec<String> {
        let mut notices = self.tabs.take_notices();
        let forbidden = refusals.into_iter().filter(|refusal| refusal.is_forbidden);
        notices.extend(forbidden.map(|refusal| format!("not loaded: {}", refusal.reason)));
        notices
    }

    /// Takes the refusals since the last result.
    pub(super) fn refusals(&self) -> Vec<Refusal> {
        let mut reported = lock(&self.reported);
        let refusals = self.proxy.refused_after(*reported);
        *reported = self.proxy.refused();
        refusals
    }

    /// The page of a tab, with the notices since the last result.
    pub(super) async fn page(&self, tab: &Tab) -> Result<PageOutput, ActionError> {
        let request = json!({"action": "page"});
        let page: PageOutput = self.script(tab, request).await?;
        Ok(PageOutput { tab_id: tab.number.to_string(), notices: self.notices(), ..page })
    }
}
