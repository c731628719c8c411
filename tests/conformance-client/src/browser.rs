//! A user who authorizes every client.

use std::error::Error;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tool_runtime::mcp::McpAuthPage;

/// Requests a page, and returns the address that it redirects to.
pub(crate) async fn visited(
    page: McpAuthPage,
) -> Result<Option<String>, Box<dyn Error + Send + Sync>> {
    let rest = page.url.strip_prefix("http://").ok_or("the suite's pages are on this machine")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(host).await?;
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let location = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned())
    });
    Ok(Some(location.ok_or("the page leads nowhere")?))
}
