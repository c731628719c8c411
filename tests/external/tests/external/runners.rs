//! Runners in Rust and in Python over a NATS server: one suite for both, of what their callers notice.
//!
//! The tools are those of `examples/fleet`. The runner in Rust is this program itself, the other one is
//! `examples/fleet/runner.py`.

mod calls;
mod kills;
mod place;
mod program;
mod protocol;
mod server;

pub(crate) use program::{check_python, fleet, is_program, serve};
pub(crate) use server::check_server;

use crate::needs::Need;
use libtest_mimic::Trial;
use place::Place;
use program::Program;

/// A behaviour of runners: its name, and its test.
macro_rules! behaviours {
    ($($module:ident::$name:ident,)*) => {
        [Program::Rust, Program::Python]
            .into_iter()
            .flat_map(|program| [$(behaviour(
                program,
                concat!(stringify!($module), "::", stringify!($name)),
                $module::$name,
            )),*])
            .collect::<Vec<_>>()
    };
}

pub(crate) fn tests() -> Vec<Trial> {
    let mut tests = behaviours![
        calls::tools_are_listed_with_their_schemas_and_hints,
        calls::a_tool_is_called_and_says_by_which_runner,
        calls::invalid_arguments_are_the_fault_of_the_model,
        calls::an_error_of_the_tool_reaches_the_caller,
        calls::progress_reaches_the_caller,
        calls::large_arguments_and_outcomes_arrive,
        calls::a_call_that_is_dropped_frees_its_slot,
        calls::a_call_ends_at_its_deadline,
        calls::two_replicas_share_the_load,
        kills::a_call_that_may_run_once_is_indeterminate_after_a_kill_and_never_runs_again,
        kills::a_call_that_is_safe_to_retry_is_answered_by_another_replica_after_a_kill,
        kills::a_runner_that_is_told_to_stop_finishes_its_calls_and_claims_no_more,
        kills::a_runner_that_must_end_gives_its_calls_back,
        kills::calls_go_on_when_the_server_restarts,
        kills::no_effect_happens_twice_while_the_server_and_a_runner_are_killed,
        protocol::messages_of_other_versions_do_no_harm,
        protocol::records_and_notes_fit_their_schemas,
    ];
    let name = "runners::names_headers_and_streams_are_those_of_the_vectors";
    tests.push(Need::NatsServer.test(name, protocol::names_headers_and_streams));
    let name = "runners::python::decisions_and_contracts_are_those_of_the_vectors";
    tests.push(Need::NatsPython.test(name, protocol::decisions_in_python));
    tests
}

fn behaviour<F>(program: Program, name: &str, test: fn(Place) -> F) -> Trial
where
    F: Future<Output = ()> + 'static,
{
    let need = match program {
        Program::Rust => Need::NatsServer,
        Program::Python => Need::NatsPython,
    };
    let name = format!("runners::{program}::{name}");
    need.test(&name, move || async move { test(Place::new(program).await).await })
}
