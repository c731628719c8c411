//! A toolset: four tools that share one notebook.

use std::sync::{Mutex, MutexGuard, PoisonError};
use tool_runtime::prelude::*;

/// A notebook with numbered pages.
pub(crate) struct Notebook {
    title: String,
    pages: Mutex<Vec<String>>,
}

#[derive(Clone, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct NotebookParams {
    /// Title on the cover.
    title: String,
    /// Text of the first pages.
    #[serde(default)]
    pages: Vec<String>,
}

impl Toolset for Notebook {
    type Params = NotebookParams;

    async fn create(params: NotebookParams, _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self { title: params.title, pages: Mutex::new(params.pages) })
    }

    async fn close(&self) {
        println!("the notebook {:?} is closed with {} pages", self.title, self.pages().len());
    }
}

impl Notebook {
    fn pages(&self) -> MutexGuard<'_, Vec<String>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[toolset]
impl Notebook {
    /// Read one page.
    #[tool(read_only, idempotent, reads("page:{number}"))]
    async fn read(
        &self,
        /// The page's number, from 0.
        number: usize,
    ) -> Result<String, String> {
        let page = self.pages().get(number).cloned();
        page.ok_or_else(|| format!("there is no page {number}; call `notebook.count`"))
    }

    /// Say how many pages there are.
    #[tool(read_only)]
    async fn count(&self) -> usize {
        self.pages().len()
    }

    /// Write a page at the end.
    #[tool(destructive = false)]
    async fn write(
        &self,
        /// The text to write.
        #[arg(length = 1..=1000)]
        text: String,
    ) -> usize {
        let mut pages = self.pages();
        pages.push(text);
        pages.len() - 1
    }

    /// Burn the notebook.
    #[tool(destructive)]
    async fn burn(&self) {
        self.pages().clear();
    }
}
