//! The hub.

use crate::{Failure, files, network};
use std::path::Path;
use tool_runtime::http::BearerTokens;
use tool_runtime_remote::Hub;

pub(crate) async fn run(folder: &Path, port: &str) -> Result<(), Failure> {
    let tokens = BearerTokens::parse(&network::tokens())?;
    let file = files::records(folder);
    let server = Hub::open(file)?.serve(&format!("127.0.0.1:{port}"), tokens).await?;
    server.until(network::end_of_input()).await;
    Ok(())
}
