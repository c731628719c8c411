//! A server under random faulty input: each request is answered once or its
//! connection is closed for a reason, and no resources leak.

mod http;
mod random;
mod resource_usage;
mod stdio;

/// Time limit for a server that receives many messages.
const HANG_LIMIT: std::time::Duration = std::time::Duration::from_secs(1200);
