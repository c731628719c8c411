//! Agents over the models of genai, against servers on this machine that replay recorded answers.

mod endings;
mod fake;
mod folder;
mod readme;
mod requests;
mod turns;
