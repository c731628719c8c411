//! Tests of complete configurations.

mod auth;
mod diagnosis;
mod dialects;
mod documents;
mod expansion;
mod files;
mod properties;
mod rejections;
mod secrets;
mod support;
mod times;
