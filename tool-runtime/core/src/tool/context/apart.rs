//! User code of a call, apart from the server that received the call.

use super::ToolContext;
#[cfg(feature = "isolation")]
use crate::tool::concurrency::isolation::Isolation;
use crate::vocabulary::future::BoxFuture;

impl ToolContext {
    #[cfg(feature = "isolation")]
    #[doc(hidden)]
    pub fn with_isolation(mut self, isolation: Option<Isolation>) -> Self {
        self.parts().isolation = isolation;
        self
    }

    /// Runs user code apart from the server that received the call.
    #[cfg(feature = "isolation")]
    pub(crate) fn isolation(&self) -> Option<&Isolation> {
        self.0.isolation.as_ref()
    }

    /// Runs user code of the call: apart from the server that the call came through, if any. The name
    /// is for the log.
    pub(crate) fn apart<T: Send + 'static>(
        &self,
        name: impl FnOnce() -> String,
        start: impl FnOnce() -> BoxFuture<'static, T> + Send + 'static,
    ) -> BoxFuture<'static, T> {
        #[cfg(feature = "isolation")]
        if let Some(isolation) = self.isolation() {
            let guards = self.guards();
            return isolation.run(&name(), async move {
                // The caller may have returned while the code still blocks its thread.
                let _guards = guards;
                start().await
            });
        }
        let _ = name;
        start()
    }

    /// Whether user code of the call runs apart from a server.
    pub(crate) fn runs_apart(&self) -> bool {
        #[cfg(feature = "isolation")]
        return self.0.isolation.is_some();
        #[cfg(not(feature = "isolation"))]
        false
    }
}
