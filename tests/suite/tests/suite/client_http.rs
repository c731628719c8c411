//! Servers over HTTP whose tools are in a pool.

mod auth;
mod disconnects;
mod login;
mod numbers;
mod oauth;
mod oauth_attacks;
mod param_headers;
mod proxies;
mod rejections;
mod remote_server;
mod sse_transport;
mod tasks;
mod tls;
mod versions;
