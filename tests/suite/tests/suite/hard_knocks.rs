//! A server under a stream of everything that can go wrong: each request is answered once or its
//! connection is closed for a reason, and nothing is left behind.

mod dice;
mod http;
mod stdio;
mod vitals;
