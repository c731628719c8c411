//! The hub.

use crate::{Failure, network};
use tool_runtime::BearerTokens;
use tool_runtime_remote::Hub;

pub(crate) async fn run(file: &str, port: &str) -> Result<(), Failure> {
    let tokens = BearerTokens::parse(&network::tokens())?;
    let server = Hub::open(file)?.serve(&format!("127.0.0.1:{port}"), tokens).await?;
    server.until(network::end_of_input()).await;
    Ok(())
}
