//! Tests of configurations as people write them.

mod auth;
mod diagnosis;
mod dialects;
mod documents;
mod expansion;
mod files;
mod properties;
mod refusals;
mod secrets;
mod support;
mod times;
