//! The gateway as an operator runs it.

mod commands;
mod configuration;
mod inbox;
mod reload;
mod serving;
mod support;
mod tls;
mod upgrades;
