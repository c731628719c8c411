//! The gateway as an operator runs it.

mod collector;
mod commands;
mod configuration;
mod inbox;
mod reload;
mod serving;
mod support;
mod telemetry;
mod tls;
mod upgrades;
