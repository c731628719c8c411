use tool_runtime::prelude::*;

struct Store<T>(T);

#[toolset]
impl<T: Clone> Store<T> {
    /// Count.
    #[tool]
    async fn count(&self) -> usize {
        0
    }
}

struct Parser<'a>(&'a str);

#[toolset]
impl<'a> Parser<'a> {
    /// Count.
    #[tool]
    async fn count(&self) -> usize {
        0
    }
}

struct Reader<'a>(&'a str);

#[toolset]
impl Reader<'_> {
    /// Count.
    #[tool]
    async fn count(&self) -> usize {
        0
    }
}

fn main() {}
