//! The values that a toolset's tools use: one for the pool, or one per session or principal.

use super::instance::{CLOSE_TIMEOUT, within};
use super::{Instance, SharedBy};
use crate::tool::context::{Session, SessionId, SessionValues, ToolContext};
use crate::vocabulary::error::{CallError, ErrorClass, ToolError};
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::sync::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use tokio::sync::{OnceCell, watch};

/// The values that a toolset's tools use.
#[derive(Clone)]
pub(crate) enum Values {
    /// One for all calls.
    One(Arc<Instance>),
    /// One per key.
    Many(Arc<Keyed>),
}

/// Makes a value for the context of its first call.
type Create =
    Box<dyn Fn(ToolContext) -> BoxFuture<'static, Result<Instance, ToolError>> + Send + Sync>;

/// A value that its first call creates.
type Slot = Arc<OnceCell<Arc<Instance>>>;

/// Values by session or principal.
pub(crate) struct Keyed {
    name: String,
    shared_by: SharedBy,
    create: Create,
    /// `None` once the pool is closed.
    slots: Mutex<Option<HashMap<Key, Slot>>>,
    /// Has a receiver in each value that is not closed.
    unclosed: watch::Sender<()>,
    itself: Weak<Self>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Session(SessionId),
    Principal(String),
}

impl Values {
    pub(super) fn with_keys(name: &str, shared_by: SharedBy, create: Create) -> Self {
        Self::Many(Arc::new_cyclic(|itself| Keyed {
            name: name.to_owned(),
            shared_by,
            create,
            slots: Mutex::new(Some(HashMap::new())),
            unclosed: watch::Sender::new(()),
            itself: itself.clone(),
        }))
    }

    /// The value for a call.
    ///
    /// # Errors
    /// The call has no session, the value cannot be created, or the pool is closed.
    pub(crate) async fn for_context(
        &self,
        context: &ToolContext,
    ) -> Result<Arc<Instance>, CallError> {
        match self {
            Self::One(instance) => Ok(Arc::clone(instance)),
            Self::Many(keyed) => keyed.for_context(context).await,
        }
    }

    /// Closes all values. Does nothing the second time.
    pub(crate) async fn close(&self) {
        match self {
            Self::One(instance) => instance.close().await,
            Self::Many(keyed) => keyed.close().await,
        }
    }
}

impl Keyed {
    async fn for_context(&self, context: &ToolContext) -> Result<Arc<Instance>, CallError> {
        // Kept until the value is entered: a session that ends meanwhile closes its value.
        let session = context.open_session();
        let key = self.key(context, session.as_deref())?;
        let slot = self.slot(key.clone(), session.as_deref())?;
        let instance = slot.get_or_try_init(|| async {
            let creation = (self.create)(context.clone());
            let creation = context.apart(|| self.name.clone(), move || creation);
            let instance = creation.await.map_err(CallError::from)?;
            Ok::<_, CallError>(Arc::new(instance.counted_by(self.unclosed.subscribe())))
        });
        let instance = Arc::clone(instance.await?);
        if !self.has(&key, &slot) {
            instance.close().await;
            return Err(shut_down_error());
        }
        Ok(instance)
    }

    fn key(&self, context: &ToolContext, session: Option<&Session>) -> Result<Key, CallError> {
        let principal = context.principal();
        if self.shared_by == SharedBy::Principal && !principal.is_anonymous() {
            return Ok(Key::Principal(principal.id().to_owned()));
        }
        session.map(|session| Key::Session(*session.id())).ok_or_else(|| {
            let name = &self.name;
            CallError::new(ErrorClass::Denied, match context.session() {
                Some(_) => format!("the session of this call has ended, and with it its `{name}`"),
                None => format!("the tools of `{name}` need a session: call them over stdio, or over HTTP after `initialize` with a version before 2026-07-28"),
            })
        })
    }

    fn slot(&self, key: Key, session: Option<&Session>) -> Result<Slot, CallError> {
        let mut slots = self.slots();
        let slots = slots.as_mut().ok_or_else(shut_down_error)?;
        if let Some(slot) = slots.get(&key) {
            return Ok(Arc::clone(slot));
        }
        if let (Key::Session(_), Some(session)) = (&key, session) {
            session.register(self.itself.clone());
        }
        Ok(Arc::clone(slots.entry(key).or_default()))
    }

    /// Whether the slot is still the one under its key: it may be removed during creation.
    fn has(&self, key: &Key, slot: &Slot) -> bool {
        let slots = self.slots();
        let known = slots.as_ref().and_then(|slots| slots.get(key));
        known.is_some_and(|known| Arc::ptr_eq(known, slot))
    }

    /// Closes all values, and waits for those of ended sessions.
    async fn close(&self) {
        let slots = self.slots().take();
        let Some(slots) = slots else { return };
        for slot in slots.into_values() {
            if let Some(instance) = slot.get() {
                instance.close().await;
            }
        }
        if within(CLOSE_TIMEOUT, self.unclosed.closed()).await.is_none() {
            let name = &self.name;
            tracing::warn!(
                "values of `{name}` did not close within {CLOSE_TIMEOUT:?} and were abandoned"
            );
        }
    }

    fn slots(&self) -> MutexGuard<'_, Option<HashMap<Key, Slot>>> {
        lock(&self.slots)
    }
}

impl SessionValues for Keyed {
    fn end(&self, session: SessionId) -> Option<BoxFuture<'static, ()>> {
        let slot = self.slots().as_mut()?.remove(&Key::Session(session))?;
        let instance = slot.get().cloned()?;
        Some(Box::pin(async move { instance.close().await }))
    }
}

fn shut_down_error() -> CallError {
    CallError::new(ErrorClass::Cancelled, "the tools have been shut down")
}
