//! Servers over HTTP whose tools are in a pool.

mod auth;
mod ends;
mod far;
mod login;
mod mirrored;
mod numbers;
mod oauth;
mod oauth_knocks;
mod old;
mod proxies;
mod rejections;
mod tasks;
mod tls;
mod versions;
