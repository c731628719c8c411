//! Questions in a directory, shared by processes.

mod private;
mod waiter;

use crate::digest;
use crate::memory_store::{MAX_OPEN, MAX_REMEMBERED};
use crate::remembered::RememberedApproval;
use crate::store::{
    ApprovalAnswer, ApprovalStore, PendingApproval, StoreError, StoredApproval, milliseconds,
    outdated,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tool_runtime_core::vocabulary::BoxFuture;
use waiter::Waiter;

/// The reason of a question that was closed because the process of its call has ended.
const ABANDONED: &str = "abandoned";

/// The default time between two looks at the directory.
const POLL: Duration = Duration::from_millis(500);

/// Questions in a directory: a file of JSON for each, and one for its answer or for an approval that is
/// [remembered](crate::Remembering::kept_in). Processes that share the
/// directory share the questions, which survive them. Clones share the directory.
///
/// A process whose calls wait holds a lock on a file of the directory. When it ends, however it does, its questions are
/// [abandoned](StoredApproval::is_abandoned), as far as other processes of the same machine look. The file system needs locks.
///
/// On Unix the directory must not be writable by other users, and an answer counts as that of the user
/// who writes it, unless a channel that authenticates people names another one. Whoever can write
/// there can approve: tools that run commands should run as another user.
///
/// ```
/// use tool_runtime::approvals::{FileStore, Inbox};
/// use tool_runtime::ToolPool;
/// # let directory = std::env::temp_dir().join(format!("approvals-{}", std::process::id()));
///
/// let inbox = Inbox::new(FileStore::open(&directory)?);
/// let pool = ToolPool::builder().approver(inbox).allow_empty().build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FileStore {
    directory: Arc<Path>,
    /// Set once the directory is there and was found to be the user's own.
    checked: Arc<OnceLock<()>>,
    /// Set by the first question.
    waiter: Arc<OnceLock<Waiter>>,
    poll: Duration,
    trusts_names: bool,
}

impl FileStore {
    /// Opens a directory. One that does not exist is created for the first question: a program opens it before it knows
    /// that it was started for a command which only reads.
    ///
    /// # Errors
    /// Other users may write to the directory.
    pub fn open(directory: impl Into<PathBuf>) -> io::Result<Self> {
        let directory = std::path::absolute(directory.into())?;
        let store = Self {
            directory: directory.into(),
            checked: Arc::default(),
            waiter: Arc::default(),
            poll: POLL,
            trusts_names: false,
        };
        store.exists()?;
        Ok(store)
    }

    /// Checks that nobody but its owner may write to a directory, whoever asks.
    ///
    /// # Errors
    /// Others may.
    #[doc(hidden)]
    pub fn check_rights(directory: &Path) -> io::Result<()> {
        private::check_rights(directory)
    }

    /// Whether the directory exists.
    ///
    /// # Errors
    /// Other users may write to it.
    fn exists(&self) -> io::Result<bool> {
        if self.checked.get().is_none() {
            if !self.directory.try_exists()? {
                return Ok(false);
            }
            private::check(&self.directory)?;
            self.checked.get_or_init(|| ());
        }
        Ok(true)
    }

    /// Sets the time between two looks at the directory for an answer. Default: half a second.
    #[must_use]
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll = interval;
        self
    }

    /// Lets the command `approvals approve --as NAME` answer in the name of any person, for a folder that one user serves for
    /// several people. Whoever can write there can do so anyway; rules that ask named people rely on nothing more then.
    /// Default: an answer is that of the user who writes it.
    #[must_use]
    pub fn trust_names(mut self) -> Self {
        self.trusts_names = true;
        self
    }

    fn request_file(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.json"))
    }

    fn answer_file(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.answer.json"))
    }

    /// Exists once the question is closed without an answer: empty if it has expired, else [`ABANDONED`].
    fn expired_file(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.expired"))
    }

    fn remembered_file(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.remembered.json"))
    }

    /// Keeps other writers out, of this process and of others, until the file is dropped. Creates the directory.
    fn lock(&self) -> io::Result<File> {
        if !self.exists()? {
            private::create(&self.directory)?;
            self.exists()?;
        }
        let file =
            private::options().create(true).truncate(false).open(self.directory.join(".lock"))?;
        file.lock()?;
        Ok(file)
    }

    /// Writes a new file, whole or not at all: readers need no lock. `false` if it exists already.
    fn create(&self, path: &Path, json: &impl Serialize) -> io::Result<bool> {
        let temporary = self.directory.join(format!(".{}.tmp", digest::random()));
        let written = (|| {
            let mut file = private::options().create_new(true).open(&temporary)?;
            file.write_all(&serde_json::to_vec_pretty(json)?)?;
            file.sync_all()?;
            // Unlike a renaming, a link does not replace.
            fs::hard_link(&temporary, path)
        })();
        drop(fs::remove_file(&temporary));
        match written {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            written => written.map(|()| true),
        }
    }

    fn read(&self, id: &str) -> io::Result<Option<StoredApproval>> {
        if !digest::is_id(id) || !self.exists()? {
            return Ok(None);
        }
        let Some(request) = read_json::<PendingApproval>(&self.request_file(id))? else {
            return Ok(None);
        };
        // A file under a foreign name is not a question that was asked.
        if request.id != id {
            return Ok(None);
        }
        let answer = read_json(&self.answer_file(id))?;
        // A question that was removed in between seems to be open.
        if answer.is_none() && !self.request_file(id).try_exists()? {
            return Ok(None);
        }
        let closed = match &answer {
            Some(_) => None,
            None => read_if_any(&self.expired_file(id))?,
        };
        let is_expired = closed.is_some();
        let is_abandoned = match &closed {
            Some(reason) => reason == ABANDONED,
            None => answer.is_none() && waiter::has_ended(&self.directory, id),
        };
        let answered = answer.as_ref().and_then(|_: &ApprovalAnswer| {
            fs::metadata(self.answer_file(id)).and_then(|file| file.modified()).ok()
        });
        let answered_at = answered.map(milliseconds);
        Ok(Some(StoredApproval { request, answer, answered_at, is_expired, is_abandoned }))
    }

    fn read_all(&self) -> io::Result<Vec<StoredApproval>> {
        let ids = self.ids(".json")?;
        let mut all: Vec<_> = ids.iter().filter_map(|id| intact(self.read(id))).collect();
        all.sort_by_key(|stored| stored.request.asked_at);
        Ok(all)
    }

    /// The ids of the files whose names end so.
    fn ids(&self, end: &str) -> io::Result<Vec<String>> {
        let mut ids = Vec::new();
        if !self.exists()? {
            return Ok(ids);
        }
        for entry in fs::read_dir(&self.directory)? {
            let name = entry?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(end));
            ids.extend(id.filter(|id| digest::is_id(id)).map(str::to_owned));
        }
        Ok(ids)
    }

    /// All approvals for later calls, the oldest first. A file under a foreign name is not one.
    fn read_remembered(&self) -> io::Result<Vec<RememberedApproval>> {
        let ids = self.ids(".remembered.json")?;
        let read = |id: &String| intact(read_json::<RememberedApproval>(&self.remembered_file(id)));
        let is_named_so = |id: &String, approval: &RememberedApproval| approval.id == *id;
        let all = ids.iter().filter_map(|id| read(id).filter(|found| is_named_so(id, found)));
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|approval| approval.approved_at);
        Ok(all)
    }

    fn keep(&self, approval: &RememberedApproval) -> io::Result<()> {
        let _lock = self.lock()?;
        let all = self.read_remembered()?;
        let excess = (all.len() + 1).saturating_sub(MAX_REMEMBERED);
        for (position, old) in all.iter().enumerate() {
            if position < excess || old.time_left().is_zero() {
                remove(&self.remembered_file(&old.id))?;
            }
        }
        self.create(&self.remembered_file(&approval.id), approval).map(drop)
    }

    fn delete(&self, id: &str) -> io::Result<()> {
        remove(&self.request_file(id))?;
        remove(&self.expired_file(id))?;
        waiter::forget(&self.directory, id)?;
        remove(&self.answer_file(id))
    }

    fn end_time(&self, id: &str) -> io::Result<Option<StoredApproval>> {
        let _lock = self.lock()?;
        let Some(stored) = self.read(id)? else { return Ok(None) };
        if stored.answer.is_none() {
            self.close(id, "")?;
        }
        Ok(Some(stored))
    }

    /// Closes a question without an answer. The first reason stays.
    fn close(&self, id: &str, reason: &str) -> io::Result<()> {
        match private::options().create_new(true).open(self.expired_file(id)) {
            Ok(mut file) => file.write_all(reason.as_bytes()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Notes that a call of this process waits for the question. The directory is locked.
    fn wait_for(&self, id: &str) -> io::Result<()> {
        if self.waiter.get().is_none() {
            waiter::remove_ended(&self.directory)?;
            let waiter = Waiter::new(&self.directory)?;
            self.waiter.get_or_init(|| waiter);
        }
        match self.waiter.get() {
            Some(waiter) => waiter.wait_for(&self.directory, id),
            None => Ok(()),
        }
    }

    fn add(&self, request: PendingApproval) -> Result<StoredApproval, StoreError> {
        let _lock = self.lock()?;
        if let Some(known) = self.read(&request.id)? {
            if known.answer.is_some() {
                return Ok(known);
            }
            if known.is_open() {
                self.wait_for(&request.id)?;
                return Ok(StoredApproval { is_abandoned: false, ..known });
            }
            self.delete(&request.id)?;
        }
        let all = self.read_all()?;
        for id in outdated(&all) {
            self.delete(id)?;
        }
        let waits = |stored: &&StoredApproval| stored.is_open() && !stored.is_lost();
        if all.iter().filter(waits).count() >= MAX_OPEN {
            return Err(StoreError::Full(MAX_OPEN));
        }
        match self.create(&self.request_file(&request.id), &request)? {
            true => {
                self.wait_for(&request.id)?;
                Ok(StoredApproval::open(request))
            }
            // A file under a foreign name.
            false => Err(StoreError::Unknown(request.id)),
        }
    }

    fn give(&self, id: &str, mut answer: ApprovalAnswer) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        let stored = self.read(id)?.ok_or_else(|| StoreError::Unknown(id.to_owned()))?;
        if answer.by.is_none() {
            answer.by = private::user(&self.directory)?;
        }
        let checked = stored.check(&answer);
        if let Err(StoreError::Abandoned(_)) = checked {
            self.close(id, ABANDONED)?;
        }
        checked?;
        match self.create(&self.answer_file(id), &answer)? {
            true => Ok(()),
            false => Err(StoreError::Failed(format!("an answer to `{id}` cannot be read"))),
        }
    }

    /// Runs work on files outside the runtime's threads.
    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        let store = self.clone();
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || work(&store)).await;
            done.map_err(|error| StoreError::Failed(error.to_string()))?
        })
    }
}

/// What a file holds. One that is damaged does not keep others from being read: it is logged.
fn intact<T>(read: io::Result<Option<T>>) -> Option<T> {
    read.unwrap_or_else(|error| {
        tracing::warn!("a file of the inbox is left out: {error}");
        None
    })
}

/// The text of a file. `None`: it does not exist.
fn read_if_any(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Removes a file, if it exists.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    match fs::read(path) {
        Ok(json) => serde_json::from_slice(&json).map(Some).map_err(|error| {
            let text = format!("`{}` is damaged, remove it: {error}", path.display());
            io::Error::new(ErrorKind::InvalidData, text)
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl ApprovalStore for FileStore {
    fn open(&self, request: PendingApproval) -> BoxFuture<'_, Result<StoredApproval, StoreError>> {
        self.run(move |store| store.add(request))
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<StoredApproval>, StoreError>> {
        let id = id.to_owned();
        self.run(move |store| Ok(store.read(&id)?))
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<StoredApproval>, StoreError>> {
        self.run(|store| Ok(store.read_all()?))
    }

    fn answer<'a>(
        &'a self,
        id: &'a str,
        answer: ApprovalAnswer,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let id = id.to_owned();
        self.run(move |store| store.give(&id, answer))
    }

    fn expire<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredApproval>, StoreError>> {
        let id = id.to_owned();
        self.run(move |store| Ok(store.end_time(&id)?))
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        let id = id.to_owned();
        self.run(move |store| match digest::is_id(&id) {
            true => {
                let _lock = store.lock()?;
                Ok(store.delete(&id)?)
            }
            false => Ok(()),
        })
    }

    fn remember(&self, approval: RememberedApproval) -> BoxFuture<'_, Result<(), StoreError>> {
        self.run(move |store| Ok(store.keep(&approval)?))
    }

    fn remembered(&self) -> BoxFuture<'_, Result<Vec<RememberedApproval>, StoreError>> {
        self.run(|store| {
            let mut all = store.read_remembered()?;
            all.retain(|approval| !approval.time_left().is_zero());
            Ok(all)
        })
    }

    fn forget<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        let id = id.to_owned();
        self.run(move |store| {
            if !digest::is_id(&id) {
                return Err(StoreError::NotRemembered(id));
            }
            match fs::remove_file(store.remembered_file(&id)) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    Err(StoreError::NotRemembered(id))
                }
                removed => Ok(removed?),
            }
        })
    }

    fn trusts_names(&self) -> bool {
        self.trusts_names
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(self.poll))
    }

    fn location(&self) -> Option<String> {
        let exists = self.directory.exists();
        let missing = if exists { "" } else { ", which does not exist" };
        Some(format!("`{}`{missing}", self.directory.display()))
    }
}
